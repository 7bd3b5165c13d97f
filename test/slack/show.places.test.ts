import { randomUUID } from "node:crypto"
import { describe, expect, test } from "vitest"
import { canonical, sha256 } from "../../src/core/digest.ts"
import { edit } from "../../src/core/edit.ts"
import type { Rule } from "../../src/core/policy.ts"
import { remind } from "../../src/core/remind.ts"
import { step } from "../../src/core/run.ts"
import { decided } from "../../src/core/turn.ts"
import { ADA, APPROVALS, GRACE, LEADS, LEADS_ROOM, LENA, NO_BOT, OPS, ROBIN, SRE } from "../../src/sandbox/seed.ts"
import { cardPressed } from "../../src/slack/show/record.ts"
import { ADA_PERSON, buttonsOf, rig, type Rig } from "./show.rig.ts"

const MINUTE = 60_000
const textOf = (value: unknown): string => JSON.stringify(value)

async function rooted(bot: Rig, how?: Parameters<Rig["begin"]>[0]): Promise<string> {
  const id = await bot.begin(how)
  await bot.settled(id)
  return id
}

/** A run with one call that is asked about under `rule`, once everything stands. */
async function asked(bot: Rig, rule: Partial<Rule>, args: unknown = { service: "web" }): Promise<[string, string]> {
  const id = await rooted(bot)
  const [request = ""] = await bot.ask(id, [{ args, rule }])
  await bot.settled(id)
  return [id, request]
}

/** The conversation of the bot with a person; undefined when there is none yet. */
const dmOf = ({ slack }: Rig, user: string): string | undefined =>
  [...slack.workspace.channels.values()].find(({ kind, members }) => kind === "dm" && members.includes(user))?.id

const inDm = (bot: Rig, user: string) => {
  const dm = dmOf(bot, user)
  return dm === undefined ? [] : bot.messages(dm)
}

/** What pinged a person: the channels and words. */
const pingsOf = ({ slack }: Rig, user: string) =>
  slack.workspace.notifications(user).filter(({ why }) => why !== "thread")

const pass = async (bot: Rig, id: string, ms: number): Promise<void> => {
  await bot.change(id, (run, now) => remind(run, now + ms))
  await bot.settled(id)
}

const LONG = { command: `echo ${"x".repeat(6000)}` }

describe("a card in the rule's channel", () => {
  test("stands there as well, pings there alone, and is settled with the thread's", async () => {
    const bot = await rig()
    const [id, request] = await asked(bot, { cards: APPROVALS })
    expect(bot.cards().map(buttonsOf)).toEqual([["approve", "decline"]])
    expect(bot.cards(APPROVALS).map(buttonsOf)).toEqual([["approve", "decline"]])
    expect(textOf(bot.cards(APPROVALS))).toContain("open its thread")
    expect(textOf(bot.cards())).toContain("#approvals")
    expect(pingsOf(bot, ADA).map(({ channel }) => channel)).toEqual([APPROVALS])
    await bot.decide(id, request, true)
    await bot.settled(id)
    for (const channel of [OPS, APPROVALS]) {
      expect(bot.cards(channel).map(buttonsOf)).toEqual([[]])
      expect(textOf(bot.cards(channel))).toContain("Approved by Ada")
    }
  })

  test("offers a yes when what is too long for it stands in its own thread", async () => {
    const bot = await rig()
    await asked(bot, { cards: APPROVALS }, LONG)
    const [card, ...pieces] = bot.messages(APPROVALS)
    expect(card?.thread_ts ?? card?.ts).toBe(card?.ts)
    expect(pieces.length).toBeGreaterThan(0)
    expect(pieces.every(({ thread_ts }) => thread_ts === card?.ts)).toBe(true)
    expect(buttonsOf(card)).toEqual(["approve", "decline"])
    expect(textOf(card)).toContain("in full in the thread of this message")
  })

  test("has no yes while a piece is missing", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const posting = { method: "chat.postMessage", channel: APPROVALS } as const
    let down: { hits: number; remove(): void } | undefined
    const fail = (): void => {
      down = bot.slack.workspace.misbehave({ ...posting, do: "status", status: 503 })
    }
    bot.slack.workspace.misbehave({ ...posting, after: true, times: 1, during: fail })
    await bot.ask(id, [{ args: LONG, rule: { cards: APPROVALS } }])
    await expect.poll(() => down?.hits ?? 0, { timeout: 5000 }).toBeGreaterThan(0)
    expect(bot.cards(APPROVALS).map(buttonsOf)).toEqual([["decline"]])
    down?.remove()
    await bot.settled(id)
    expect(buttonsOf(bot.cards(APPROVALS)[0])).toEqual(["approve", "decline"])
  })

  test("several of one turn stand in order, each with its place among them", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const calls = [1, 2, 3].map((n) => ({ args: { n }, rule: { cards: APPROVALS } }))
    await bot.ask(id, calls)
    await bot.settled(id)
    for (const channel of [OPS, APPROVALS]) {
      expect(bot.cards(channel).map((card) => /\((\d of \d)\)/.exec(textOf(card))?.[1])).toEqual([
        "1 of 3",
        "2 of 3",
        "3 of 3",
      ])
    }
    expect(pingsOf(bot, ADA)).toHaveLength(1)
  })

  test("is known again when it is pressed there and the reply to its post was lost", async () => {
    const bot = await rig({ slack: { scopes: ["chat:write", "users:read", "usergroups:read", "im:write"] } })
    const id = await rooted(bot)
    bot.slack.workspace.misbehave({ method: "chat.postMessage", channel: APPROVALS, do: "lose-reply", times: 1 })
    const [request = ""] = await bot.ask(id, [{ rule: { cards: APPROVALS } }])
    await bot.settled(id)
    const [unknown] = bot.cards(APPROVALS)
    expect(bot.cards(APPROVALS)).toHaveLength(2)
    const press = { channel: APPROVALS, user: ADA }
    const slot = cardPressed(await bot.store.show.shown(id), request, press)
    await bot.decide(id, request, true)
    await bot.store.show.addCopy(id, slot, unknown?.ts ?? "", APPROVALS)
    await bot.settled(id)
    expect(bot.cards(APPROVALS).map(buttonsOf)).toEqual([[], []])
  })

  const facts = async (bot: Rig, id: string) =>
    (await bot.store.facts(id)).map((text) => JSON.parse(text) as { what: string; outcome?: string; note?: string })

  test("where nothing can be posted the run goes on in its thread, which says so; its requester is told, and it is a fact", async () => {
    const bot = await rig()
    const [id, request] = await asked(bot, { cards: NO_BOT })
    expect(bot.cards().map(buttonsOf)).toEqual([["approve", "decline"]])
    const [notice] = bot.messages(OPS, "can't post the card")
    expect(textOf(notice)).toContain("Invite me there")
    expect(inDm(bot, ROBIN).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^In your run “.*”, I can't post the card about restart to the channel .*Invite me there/),
    ])
    expect((await facts(bot, id)).filter(({ what }) => what === "undelivered")).toMatchObject([
      { outcome: NO_BOT, note: "not_in_channel" },
    ])
    expect(pingsOf(bot, ADA).map(({ ts }) => ts)).toEqual([notice?.ts])
    expect((await bot.run(id)).cancelled).toBeUndefined()
    expect(bot.logged.some((line) => line.startsWith("warn") && line.includes("not_in_channel"))).toBe(true)
    await bot.decide(id, request, true)
    await bot.settled(id)
    expect(bot.cards().map(buttonsOf)).toEqual([[]])
  })
})

describe("a place that is closed while a run waits", () => {
  const close = (bot: Rig, id: string): void => {
    bot.slack.workspace.channels.set(id, { ...bot.slack.workspace.channel(id), is_archived: true })
  }
  const undelivered = async (bot: Rig, id: string) =>
    (await bot.store.facts(id))
      .map((text) => JSON.parse(text) as { what: string; outcome?: string })
      .flatMap(({ what, outcome }) => (what === "undelivered" ? [outcome] : []))

  test("the rule's channel: whoever is reminded is reminded in the thread from then on, and it is told once", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const rule: Partial<Rule> = { cards: APPROVALS, remind: [MINUTE, 2 * MINUTE] }
    const [one = ""] = await bot.ask(id, [
      { args: { n: 1 }, rule },
      { args: { n: 2 }, rule },
    ])
    await bot.settled(id)
    close(bot, APPROVALS)
    await pass(bot, id, MINUTE)
    expect(inDm(bot, ROBIN).map(({ text }) => text)).toEqual([expect.stringContaining("it is archived")])
    expect(await undelivered(bot, id)).toEqual([APPROVALS, APPROVALS])
    const before = pingsOf(bot, ADA).length
    await pass(bot, id, 2 * MINUTE)
    expect(
      pingsOf(bot, ADA)
        .slice(before)
        .map(({ channel }) => channel),
    ).toEqual([OPS])
    expect(inDm(bot, ROBIN)).toHaveLength(1)
    await bot.decide(id, one, true)
    await bot.settled(id)
    expect(bot.cards().map((card) => buttonsOf(card).length)).toEqual([0, 2])
  })

  test("the channel of an escalation", async () => {
    const bot = await rig()
    const escalate = { after: MINUTE, to: [LEADS], channel: LEADS_ROOM }
    const [id] = await asked(bot, { escalate })
    close(bot, LEADS_ROOM)
    await pass(bot, id, MINUTE)
    expect(inDm(bot, ROBIN).map(({ text }) => text)).toEqual([expect.stringContaining("it is archived")])
    expect(await undelivered(bot, id)).toEqual([LEADS_ROOM])
    expect(pingsOf(bot, LENA).map(({ channel }) => channel)).toEqual([OPS])
    expect(bot.cards().map(buttonsOf)).toEqual([["approve", "decline"]])
  })

  test("the run's own, after its end: its requester is told, and it is a fact", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    close(bot, OPS)
    await bot.answer(id, "All is well.")
    await bot.settled(id)
    expect(inDm(bot, ROBIN).map(({ text }) => text)).toEqual([expect.stringContaining("did not take the last message")])
    expect(await undelivered(bot, id)).toEqual([OPS])
  })
})

describe("direct messages", () => {
  test("go to the people who are named by id; the groups are pinged in the thread", async () => {
    const bot = await rig()
    const [id, request] = await asked(bot, { approvers: [ADA, SRE, GRACE], notify: "dm" })
    for (const user of [ADA, GRACE]) {
      expect(inDm(bot, user).map(buttonsOf)).toEqual([["approve", "decline"]])
    }
    expect(textOf(bot.cards()).match(/"type":"user"/g)).toBeNull()
    expect(textOf(bot.cards())).toContain(`"usergroup_id":"${SRE}"`)
    await bot.decide(id, request, false)
    await bot.settled(id)
    expect([...inDm(bot, ADA), ...inDm(bot, GRACE)].map(buttonsOf)).toEqual([[], []])
  })

  test("go to five people at most, and to nobody who opted out", async () => {
    const bot = await rig()
    const crowd = Array.from({ length: 7 }, (_, n) => `U0CROWD${n}`)
    for (const id of crowd) bot.slack.workspace.addPerson({ id })
    await bot.store.setQuiet("U0CROWD1", true)
    await asked(bot, { approvers: crowd, notify: "dm" })
    expect(crowd.filter((user) => inDm(bot, user).length > 0)).toEqual(["U0CROWD0", "U0CROWD2", "U0CROWD3", "U0CROWD4"])
  })
})

describe("who is pinged", () => {
  test("nobody, where the rule says none", async () => {
    const bot = await rig()
    const rule: Partial<Rule> = { approvers: [ADA, SRE], notify: "none", cards: APPROVALS, remind: [MINUTE] }
    const [id] = await asked(bot, rule)
    await pass(bot, id, MINUTE)
    expect(bot.messages(APPROVALS)).toHaveLength(2)
    for (const user of [ADA, GRACE]) expect(pingsOf(bot, user)).toEqual([])
  })

  test("nobody who opted out, by cards, reminders or the end", async () => {
    const bot = await rig()
    await bot.store.setQuiet(ADA, true)
    await bot.store.setQuiet(ROBIN, true)
    const [id, request] = await asked(bot, { approvers: [ADA, GRACE], remind: [MINUTE] })
    await pass(bot, id, MINUTE)
    expect(pingsOf(bot, GRACE)).toHaveLength(2)
    expect(textOf(bot.cards())).toContain("ada (U0APP1)")
    await bot.decide(id, request, false)
    await bot.cancel(id)
    await bot.settled(id)
    expect([...pingsOf(bot, ADA), ...pingsOf(bot, ROBIN)]).toEqual([])
  })
})

describe("a reminder", () => {
  test("is a new message to those who have not decided, and the one before it goes", async () => {
    const bot = await rig()
    const rule: Partial<Rule> = { approvers: [ADA, GRACE], quorum: 2, remind: [MINUTE, 2 * MINUTE] }
    const [id, request] = await asked(bot, rule)
    await pass(bot, id, MINUTE)
    const [first] = bot.messages(OPS, "Still waiting")
    expect(pingsOf(bot, ADA)).toHaveLength(2)
    await bot.decide(id, request, true)
    await bot.settled(id)
    await pass(bot, id, 2 * MINUTE)
    const [second, ...more] = bot.messages(OPS, "Still waiting")
    expect(more).toEqual([])
    expect(second?.ts).not.toBe(first?.ts)
    expect(textOf(second)).toContain("1 of 2 have approved")
    expect(pingsOf(bot, ADA)).toHaveLength(2)
    expect(pingsOf(bot, GRACE)).toHaveLength(3)
    await bot.expire(id)
    await bot.settled(id)
    expect(bot.messages(OPS, "Still waiting")).toEqual([])
  })

  test("is one for all that waits, and follows what was decided of it", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const rule: Partial<Rule> = { cards: APPROVALS, remind: [MINUTE] }
    const [one = ""] = await bot.ask(id, [
      { tool: "restart", args: { n: 1 }, rule },
      { tool: "page_oncall", args: { n: 2 }, rule },
    ])
    await bot.settled(id)
    await pass(bot, id, MINUTE)
    expect(bot.messages(OPS, "Still waiting")).toEqual([])
    const [reminder] = bot.messages(APPROVALS, "Still waiting for 2 decisions")
    expect(reminder?.thread_ts).toBe(bot.cards(APPROVALS)[0]?.ts)
    await bot.decide(id, one, true)
    await bot.settled(id)
    const [after, ...more] = bot.messages(APPROVALS, "Still waiting")
    expect([after?.ts, more.length]).toEqual([reminder?.ts, 0])
    expect(textOf(after)).not.toContain("restart")
  })

  test("that can't be deleted holds up nothing", async () => {
    const bot = await rig()
    const [id] = await asked(bot, { remind: [MINUTE] })
    await pass(bot, id, MINUTE)
    const refuse = bot.slack.workspace.misbehave({ method: "chat.delete", do: "error", error: "cant_delete_message" })
    await bot.expire(id)
    await bot.settled(id)
    expect(refuse.hits).toBe(1)
    expect(bot.cards().map(buttonsOf)).toEqual([[]])
  })
})

describe("an escalation", () => {
  const escalate = { after: MINUTE, to: [LEADS] }

  test("brings the card to its own channel, and calls people there", async () => {
    const bot = await rig()
    const [id, request] = await asked(bot, { escalate: { ...escalate, channel: LEADS_ROOM } })
    expect(bot.messages(LEADS_ROOM)).toEqual([])
    await pass(bot, id, MINUTE)
    expect(bot.cards(LEADS_ROOM).map(buttonsOf)).toEqual([["approve", "decline"]])
    expect(pingsOf(bot, LENA).map(({ channel }) => channel)).toEqual([LEADS_ROOM])
    expect(textOf(bot.cards())).toContain("@leads (S0LEADS)")
    await bot.decide(id, request, true)
    await bot.settled(id)
    expect(bot.cards(LEADS_ROOM).map(buttonsOf)).toEqual([[]])
  })

  test("without a channel calls them in the thread, once for all of a turn", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const rule: Partial<Rule> = { escalate, remind: [MINUTE, 2 * MINUTE] }
    await bot.ask(id, [
      { args: { n: 1 }, rule },
      { tool: "page_oncall", args: { n: 2 }, rule },
    ])
    await bot.settled(id)
    await pass(bot, id, MINUTE)
    const [call, ...more] = bot.messages(OPS, "you may decide as well")
    expect(more).toEqual([])
    expect(textOf(call)).toContain("about restart, page_oncall yet")
    expect(pingsOf(bot, LENA).map(({ ts }) => ts)).toEqual([call?.ts])
    await pass(bot, id, 2 * MINUTE)
    expect(pingsOf(bot, LENA)).toHaveLength(2)
    await bot.expire(id)
    await bot.settled(id)
    expect(bot.messages(OPS, "you may decide as well")).toEqual([])
  })
})

describe("an edited request", () => {
  test("offers a yes when the pieces of its present version stand, and whoever did not change it is told", async () => {
    const bot = await rig()
    const rule: Partial<Rule> = { approvers: [ADA, GRACE], edit: { by: "approvers" }, cards: APPROVALS }
    const [id, request] = await asked(bot, rule, LONG)
    const before = bot.messages().length
    const args = canonical({ command: `echo ${"y".repeat(6000)}` })
    await bot.change(
      id,
      (run, now) =>
        edit(
          run,
          {
            ask: request,
            version: 1,
            who: { person: ADA_PERSON, standing: "member", member: {} },
            via: "form",
            cause: randomUUID(),
            args,
            digest: sha256(args),
            decision: { do: "ask", rule: run.asks[0]?.rule ?? never(), index: 0 },
            request: { id: request, kind: "approval", prompt: "Run restart" },
          },
          now,
        ).step,
    )
    await bot.settled(id)
    const [, ...thread] = bot.messages()
    expect(thread.length).toBeGreaterThanOrEqual(before)
    expect(textOf(thread)).toContain("xxxx")
    expect(textOf(thread)).toContain("yyyy")
    for (const channel of [OPS, APPROVALS]) expect(bot.cards(channel).flatMap(buttonsOf)).toContain("approve")
    const [notice] = bot.messages(APPROVALS, "since you were asked")
    expect(pingsOf(bot, GRACE).map(({ ts }) => ts)).toEqual([bot.cards(APPROVALS)[0]?.ts, notice?.ts])
    expect(pingsOf(bot, ADA).map(({ ts }) => ts)).toEqual([bot.cards(APPROVALS)[0]?.ts])
    await bot.expire(id)
    await bot.settled(id)
    expect(bot.messages(APPROVALS, "since you were asked")).toEqual([])
  })
})

const never = (): never => {
  throw new Error("no ask")
}

describe("whoever asked for a run", () => {
  test("is told of what others declined, with the reason, and of what nobody answered: once each", async () => {
    const bot = await rig()
    const id = await rooted(bot)
    const [one = "", two = ""] = await bot.ask(
      id,
      [1, 2, 3, 4].map((n) => ({ args: { n } })),
    )
    await bot.settled(id)
    await bot.decide(id, one, false, "Too `early`, <!channel>")
    await bot.settled(id)
    await bot.decide(id, two, false)
    await bot.settled(id)
    await bot.expire(id)
    await bot.settled(id)
    expect(bot.messages(OPS, "Ada (U0APP1) declined")).toHaveLength(1)
    expect(textOf(bot.messages(OPS, "Ada (U0APP1) declined"))).toContain('"text":"Too `early`, <!channel>"')
    expect(bot.messages(OPS, "Nobody answered in time about")).toHaveLength(1)
    expect(pingsOf(bot, ROBIN)).toHaveLength(2)
  })

  test("is told of a refusal by the end alone, where that comes soon after", async () => {
    const bot = await rig({ show: { tellAfter: 60_000 } })
    const [id, request] = await asked(bot, {})
    await bot.decide(id, request, false)
    await bot.cancel(id)
    await bot.change(id, (run, now) => decided(run, "1.1", { message: "{}", isError: true, outcome: "declined" }, now))
    await bot.settled(id)
    expect(bot.messages(OPS, "declined restart")).toEqual([])
    expect(pingsOf(bot, ROBIN)).toHaveLength(1)
    expect(bot.cards().map(buttonsOf)).toEqual([[]])
  })

  test("is pinged in the thread by what only they can answer", async () => {
    const bot = await rig()
    await asked(bot, { selfApproval: "confirm", cards: APPROVALS })
    expect(pingsOf(bot, ROBIN)).toHaveLength(1)
    expect(bot.cards(APPROVALS)).toEqual([])
  })
})

test("while Countersign is paused no card offers a yes, and the runs say so", async () => {
  const bot = await rig()
  const [id] = await asked(bot, { cards: APPROVALS })
  await bot.store.pause.begin({ by: "Grace", at: 1 })
  await bot.store.pause.showAll()
  await bot.settled(id)
  for (const channel of [OPS, APPROVALS]) expect(bot.cards(channel).map(buttonsOf)).toEqual([["decline"]])
  expect(textOf(bot.messages()[0])).toContain("Paused")
  await bot.store.pause.end()
  await bot.store.pause.showAll()
  await bot.settled(id)
  for (const channel of [OPS, APPROVALS]) expect(bot.cards(channel).map(buttonsOf)).toEqual([["approve", "decline"]])
  expect(textOf(bot.messages()[0])).not.toContain("Paused")
})

test("a call that ran under a grant has a line that says whose, until when and how to end it", async () => {
  const bot = await rig()
  const id = await rooted(bot)
  const grant = {
    id: "g0-pnd-1",
    ask: "pnd-1",
    tool: "restart",
    mark: "m",
    rule: { approvers: [ADA], selfApproval: false, expiresIn: 1, startWithin: 1 },
    by: ADA_PERSON,
    at: Date.now(),
    until: Date.now() + 3_600_000,
  }
  await bot.change(id, (run, now) =>
    step({ ...run, grants: [grant] }, now, [], {
      texts: [{ field: "args:1.1", text: '{"service":"web"}' }],
      slots: [{ name: "used:1.1", data: JSON.stringify({ grant: grant.id }) }],
    }),
  )
  await bot.settled(id)
  const [line, ...more] = bot.messages(OPS, "Unasked")
  expect(more).toEqual([])
  expect(line?.thread_ts).toBe(bot.messages()[0]?.ts)
  for (const said of ["restart", String.raw`{\"service\":\"web\"}`, "Ada (U0APP1)", `/agent revoke ${id}.1`]) {
    expect(textOf(line)).toContain(said)
  }
})
