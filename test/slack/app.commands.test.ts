import { describe, expect, test } from "vitest"
import { step as stepOf } from "../../src/core/run.ts"
import { settle } from "../../src/core/settle.ts"
import { took } from "../../src/core/turn.ts"
import { AUDIT, NO_BOT, OSCAR } from "../../src/sandbox/seed.ts"
import type { Seen } from "../../src/sandbox/live.ts"
import { startProxy } from "../fakes/proxy.ts"
import { redisUrl } from "../redis.ts"
import { ADA, GRACE, LISTS, OPS, rig, ROBIN, type Rig } from "./app.rig.ts"

/** What the command answered, as the person reads it. */
function answerOf(seen: Seen): string {
  expect(seen).toMatchObject({ acked: true })
  expect(seen.ackMs).toBeLessThan(1500)
  return seen.response === undefined ? "" : JSON.stringify(seen.response)
}

const agendas = async (it: Rig) => (await it.store.peek()).agenda
const roots = (it: Rig, channel = OPS) => it.slack.workspace.messages(channel).length
const commandOf = (it: Rig) => {
  const delivery = it.slack.workspace.deliveries.find(({ envelope }) => envelope.type === "slash_commands")
  if (!delivery) throw new Error("no command was delivered")
  return delivery.envelope
}

describe("starting", () => {
  test("says so when it is stored, and then links the thread privately", async () => {
    const it = await rig()
    const seen = await it.slack.workspace.command(ROBIN, OPS, "restart <web> & *db*")
    expect(answerOf(seen)).toContain("Started.")
    const link = await it.told(ROBIN, "Its thread")
    const [root] = it.slack.workspace.messages(OPS)
    expect(link).toContain(root?.ts.replace(".", ""))
    // The person's own words, as typed.
    const id = /"value":"(r[^":]+)"/.exec(JSON.stringify(root?.blocks))?.[1] ?? ""
    expect((await it.run(id)).title).toBe("restart <web> & *db*")
    expect((await it.run(id)).requester).toEqual({ team: "T1", user: ROBIN, name: "robin" })
    expect(await it.store.transcript(id)).toEqual(['{"role":"user","content":"restart <web> & *db*"}'])
  })

  test.each([
    ["who is not listed", OSCAR, OPS, {}, "You are not among those who may start runs"],
    ["where it is not listed", ROBIN, NO_BOT, {}, "Runs can't be started in this channel"],
    ["a guest", ROBIN, OPS, { is_restricted: true }, "Guests may not start runs"],
    ["a stranger", ROBIN, OPS, { is_stranger: true }, "other organisations"],
    ["somebody of another team", ROBIN, OPS, { team_id: "T2" }, "other organisations"],
    ["a deactivated account", ROBIN, OPS, { deleted: true }, "deactivated"],
  ])("is refused %s", async (_, user, channel, change, words) => {
    const it = await rig()
    it.slack.workspace.alterPerson(user, change)
    expect(answerOf(await it.slack.workspace.command(user, channel, "restart web"))).toContain(words)
    expect(await agendas(it)).toBeUndefined()
    expect(roots(it, channel)).toBe(0)
    expect(it.logged.join("")).toContain("a run was not started")
  })

  test.each([
    [{ starters: [] }, "configuration lists no one"],
    [{ channels: [] }, "configuration lists no one"],
  ])("is refused to all with %o", async (lists, words) => {
    const it = await rig({ app: { lists: { ...LISTS, ...lists } } })
    expect(answerOf(await it.slack.workspace.command(ROBIN, OPS, "restart web"))).toContain(words)
    expect(await agendas(it)).toBeUndefined()
  })

  test("is refused while the person can't be looked up", async () => {
    const it = await rig()
    it.slack.workspace.misbehave({ do: "error", error: "internal_error", method: "users.info" })
    expect(answerOf(await it.slack.workspace.command(ROBIN, OPS, "restart web"))).toContain(
      "I can't check your rights now",
    )
    expect(await agendas(it)).toBeUndefined()
  })

  test("counts once, however often Slack delivers the command, to whichever process", async () => {
    const it = await rig()
    await it.another({ show: false })
    await it.start()
    const envelope = commandOf(it)
    const again = await Promise.all(
      [1, 2, 3, 4].map((retry) =>
        it.slack.workspace.deliver({ ...envelope, envelope_id: `again-${retry}`, retry_attempt: retry }),
      ),
    )
    expect(again.map(({ acked, payload }) => [acked, payload ?? {}])).toEqual(again.map(() => [true, {}]))
    const [mine] = await it.store.list([`requester:T1:${ROBIN}`], 10)
    expect(await it.store.list([`requester:T1:${ROBIN}`], 10)).toHaveLength(1)
    expect((await it.facts(mine?.run.id ?? "")).filter(({ what }) => what === "started")).toHaveLength(1)
    expect(roots(it)).toBe(1)
  })

  test("twice on purpose is two runs", async () => {
    const it = await rig()
    const [first, second] = [await it.start(), await it.start()]
    expect(first).not.toBe(second)
  })

  test("where the bot can't post ends in words to the person, and nothing goes on unseen", async () => {
    const it = await rig({ app: { lists: { ...LISTS, channels: [NO_BOT] } } })
    answerOf(await it.slack.workspace.command(ROBIN, NO_BOT, "restart web"))
    expect(await it.told(ROBIN, "I can't write in this channel")).toContain("nvite me")
    const [mine] = await it.store.list([`requester:T1:${ROBIN}`], 10)
    expect(mine?.run.ended?.how).toBe("cancelled")
    expect(it.logged.join("")).not.toContain("unhandled")
  })

  test("with half a character in it is stored with a mark for it", async () => {
    const it = await rig()
    await it.start()
    const { payload, ...envelope } = structuredClone(commandOf(it))
    const sent = await it.slack.workspace.deliver({
      ...envelope,
      envelope_id: "half",
      payload: { ...payload, trigger_id: "another", text: "x\ud800y" },
    })
    expect(JSON.stringify(sent.payload)).toContain("Started.")
    const prompts = (await it.store.list([`requester:T1:${ROBIN}`], 10)).map(({ run }) => run.title)
    expect(prompts).toContain("x\u{fffd}y")
  })
})

describe("within three seconds", () => {
  test("a slow Redis does not hold up the ack, which claims nothing; the truth follows, and the run is one", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig()
    await it.bot.app.stop(1000)
    const slow = await it.another({ redisUrl: proxy.url, show: false })
    proxy.delay(2000)
    const seen = await it.slack.workspace.command(ROBIN, OPS, "restart web")
    expect(answerOf(seen)).toContain("Received.")
    expect(answerOf(seen)).not.toContain("Started")
    await it.told(ROBIN, /^Started\. Its message comes/)
    proxy.delay(0)
    expect(await it.store.list([`requester:T1:${ROBIN}`], 10)).toHaveLength(1)
    await it.slack.workspace.waitFor(() => roots(it) === 1)
    await slow.stop()
    await proxy.close()
  }, 60_000)

  test("without Redis the person hears that nothing was recorded, and nothing is", async () => {
    const proxy = await startProxy({ port: Number(new URL(redisUrl()).port) })
    const it = await rig()
    await it.bot.app.stop(1000)
    const cut = await it.another({ redisUrl: proxy.url, show: false })
    proxy.refuse(true)
    expect(answerOf(await it.slack.workspace.command(ROBIN, OPS, "restart web"))).toMatch(/Received|Not recorded/)
    await it.told(ROBIN, "Not recorded: nothing was started or changed")
    expect(await it.store.list([`requester:T1:${ROBIN}`], 10)).toEqual([])
    proxy.refuse(false)
    await cut.stop()
    await proxy.close()
  }, 60_000)

  test("a Slack that hangs when the person is looked up does not hold up the ack either", async () => {
    const it = await rig()
    it.slack.workspace.misbehave({ do: "hang", method: "users.info" })
    expect(answerOf(await it.slack.workspace.command(ROBIN, OPS, "restart web"))).toContain("Received.")
    await it.told(ROBIN, "I can't check your rights now")
    expect(await agendas(it)).toBeUndefined()
  })

  test("when the ack gets lost the person hears by another way", async () => {
    const it = await rig()
    it.slack.workspace.misbehave({ do: "drop-socket", envelope: "slash_commands", times: 1 })
    await it.slack.workspace.command(ROBIN, OPS, "restart web")
    await it.told(ROBIN, "Started")
    expect(await it.store.list([`requester:T1:${ROBIN}`], 10)).toHaveLength(1)
  })

  test.each([
    ["a shortcut", { type: "shortcut", callback_id: "x", trigger_id: "t", user: { id: ROBIN }, team: { id: "T1" } }],
    [
      "a message shortcut",
      { type: "message_action", callback_id: "x", user: { id: ROBIN }, team: { id: "T1" }, channel: { id: OPS } },
    ],
    [
      "a form of somebody else's",
      { type: "view_submission", view: { callback_id: "y" }, user: { id: ROBIN }, team: { id: "T1" } },
    ],
    ["a closed form", { type: "view_closed", view: { callback_id: "y" }, user: { id: ROBIN }, team: { id: "T1" } }],
    ["options", { type: "block_suggestion", action_id: "z", block_id: "b", user: { id: ROBIN }, team: { id: "T1" } }],
    [
      "an old button",
      { type: "interactive_message", actions: [{}], callback_id: "z", user: { id: ROBIN }, team: { id: "T1" } },
    ],
    ["a dialog", { type: "dialog_submission", callback_id: "z", user: { id: ROBIN }, team: { id: "T1" } }],
    ["a press without an action", { type: "block_actions", actions: [], user: { id: ROBIN }, team: { id: "T1" } }],
    [
      "a press in a view",
      { type: "block_actions", actions: [{ type: "button", action_id: "q" }], user: { id: ROBIN }, team: null },
    ],
  ])("whatever else Slack sends is acked: %s", async (_, payload) => {
    const it = await rig({ show: false })
    const sent = await it.slack.workspace.deliver({
      type: "interactive",
      envelope_id: "1",
      payload,
      accepts_response_payload: true,
    })
    expect(sent).toMatchObject({ acked: true })
    expect(sent.ackMs).toBeLessThan(1000)
  })
})

describe("help and list", () => {
  test("help is the answer to help, and to nothing", async () => {
    const it = await rig({ show: false })
    for (const text of ["", "  ", "help", "HELP"]) {
      expect(answerOf(await it.slack.workspace.command(OSCAR, OPS, text))).toContain("/agent list")
    }
    expect(await agendas(it)).toBeUndefined()
  })

  test("a run that waits for its requester alone is in their list of what waits", async () => {
    const it = await rig()
    await it.ask(await it.start(), { rule: { selfApproval: "confirm" } })
    const list = async (user: string): Promise<string> => answerOf(await it.slack.workspace.command(user, OPS, "list"))
    expect(await list(ROBIN)).not.toContain("Nothing waits for you")
    expect(await list(ADA)).toContain("Nothing waits for you")
  })

  test("list has what waits for me first, then mine; each only where it is so", async () => {
    const it = await rig()
    const [deploy, restart] = [await it.start("deploy the shop"), await it.start("restart the mail")]
    await it.ask(deploy)
    const list = async (user: string): Promise<string> => answerOf(await it.slack.workspace.command(user, OPS, "list"))
    const mine = await list(ROBIN)
    expect(mine).toContain("Nothing waits for you")
    expect(mine).toContain(deploy)
    expect(mine).toContain(restart)
    const ada = await list(ADA)
    expect(ada).toContain(deploy)
    expect(ada).not.toContain(restart)
    expect(ada).toContain("You have no runs")
    const nobody = await list(OSCAR)
    expect(nobody).not.toContain(deploy)
    expect(nobody).not.toContain("mail")
  })

  test("list says when it can't know what waits for me", async () => {
    const it = await rig()
    await it.ask(await it.start())
    it.slack.workspace.misbehave({ do: "error", method: "usergroups.users.list", error: "internal_error" })
    it.clock.later += 61_000
    expect(answerOf(await it.slack.workspace.command(ADA, OPS, "list"))).toContain("may be missing here")
  })

  test("the home shows the list", async () => {
    const it = await rig()
    const id = await it.start("deploy the shop")
    await it.ask(id)
    await it.slack.workspace.openHome(ADA)
    const home = await it.slack.workspace.waitFor(() => it.slack.workspace.home(ADA))
    expect(JSON.stringify(home.blocks)).toContain(id)
  })
})

describe("cancelling by command", () => {
  const cancel = async (it: Rig, user: string, id: string): Promise<string> =>
    answerOf(await it.slack.workspace.command(user, OPS, `cancel ${id}`))

  test("is for the requester, approvers and admins; asks that were open are answered no", async () => {
    const it = await rig({ app: { lists: { ...LISTS, admins: [OSCAR] } } })
    for (const user of [ROBIN, GRACE, OSCAR]) {
      const id = await it.start()
      const [card] = await it.ask(id)
      expect(await cancel(it, user, id)).toContain("Cancelled")
      expect((await it.run(id)).asks[0]?.settled).toMatchObject({ ok: false, reason: "cancelled", by: { user } })
      expect(await cancel(it, user, id)).toContain("Cancelled")
      expect((await it.facts(id)).filter(({ what }) => what === "cancelled")).toHaveLength(1)
      expect(card).toBeDefined()
    }
  })

  test("of what is over says so", async () => {
    const it = await rig()
    const id = await it.start()
    await it.change(id, (run, now) =>
      took(run, { message: "{}", text: "done", usage: { prompt: 1, completion: 1 }, planned: [] }, now),
    )
    expect(await cancel(it, ROBIN, id)).toContain("the run is over (done)")
  })

  test("is refused to a member of the run's channel; for everybody else there is no such run", async () => {
    const it = await rig({ app: { lists: { ...LISTS, channels: [OPS, AUDIT] } } })
    const id = await it.start()
    expect(await cancel(it, OSCAR, id)).toContain("You are not among those who may cancel this run")
    it.slack.workspace.leave(OPS, OSCAR)
    it.clock.later += 61_000
    const seen = await it.slack.workspace.command(OSCAR, NO_BOT, `cancel ${id}`)
    const unknown = await it.slack.workspace.command(OSCAR, NO_BOT, "cancel r00000000000000")
    const textOf = (seen: Seen) => (seen.response as { text?: string }).text
    expect(textOf(seen)).toBe(textOf(unknown))
    expect(textOf(seen)).toContain("there is no such run")
    expect((await it.run(id)).cancelled).toBeUndefined()
    expect((await it.facts(id)).filter(({ what }) => what === "refused")).toMatchObject([
      { outcome: "cancel: not listed" },
    ])
  })

  test("is over for them too, when it is", async () => {
    const it = await rig()
    const id = await it.start()
    await cancel(it, ROBIN, id)
    it.slack.workspace.leave(OPS, OSCAR)
    const seen = await it.slack.workspace.command(OSCAR, NO_BOT, `cancel ${id}`)
    expect(answerOf(seen)).toContain("there is no such run")
  })

  test.each([
    ["", "Which run?"],
    ["r00000000000000", "there is no such run"],
    ["../../etc", "there is no such run"],
    ["`r00000000000000`", "there is no such run"],
  ])("of %j is answered", async (id, words) => {
    const it = await rig({ show: false })
    expect(await cancel(it, ROBIN, id)).toContain(words)
  })
})

describe("looking at one run", () => {
  const say = async (it: Rig, user: string, text: string, channel = OPS): Promise<string> =>
    answerOf(await it.slack.workspace.command(user, channel, text))

  test("show has where it stands, what waits for whom, and links to the thread and the card", async () => {
    const it = await rig()
    const id = await it.start("deploy the shop")
    const [card] = await it.ask(id, { tool: "deploy", rule: { quorum: 2 } })
    const said = await say(it, ADA, `show ${id}`)
    expect(said).toContain("deploy the shop")
    expect(said).toContain("Waiting for a decision")
    expect(said).toContain("0 of 2 have approved")
    expect(said).toContain("S0SRE")
    expect(said).toContain("open the thread")
    expect(said).toContain(String(card?.ts.replace(".", "")))
    // Asked for once: the address is kept with what is noted of the message.
    const asked = () =>
      it.slack.workspace.calls.filter(
        (call) => call.method === "chat.getPermalink" && JSON.stringify(call).includes(String(card?.ts)),
      ).length
    expect(asked()).toBe(1)
    expect(await say(it, ADA, `show ${id}`)).toContain("open the card")
    expect(asked()).toBe(1)
  })

  test("the beginning of an id will do; of an ambiguous one those are named that one may see", async () => {
    const it = await rig()
    const [first, second] = [await it.start("deploy the shop"), await it.start("restart the mail")]
    await it.ask(first)
    expect(await say(it, ROBIN, `show ${first.slice(0, 8)}`)).toContain("deploy the shop")
    const several = await say(it, ROBIN, "show r0")
    expect(several).toContain("could mean any of these")
    expect(several).toContain(first)
    expect(several).toContain(second)
    const one = await say(it, ADA, "show r0")
    expect(one).toContain("deploy the shop")
    expect(one).not.toContain("mail")
    expect(await say(it, OSCAR, "show r0")).toContain("There is no such run that you can see")
    expect(await say(it, ROBIN, "cancel r0")).toContain("could mean any of these")
    expect((await it.run(first)).cancelled).toBeUndefined()
    expect(await say(it, ROBIN, `cancel ${first.slice(0, 8)}`)).toContain("Cancelled")
  })

  test("for whom may not see it there is none, in the same words as for one that never was", async () => {
    const it = await rig({ app: { lists: { ...LISTS, channels: [OPS] } } })
    const id = await it.start("deploy the shop")
    expect(await say(it, OSCAR, `show ${id}`)).toContain("deploy the shop")
    it.slack.workspace.leave(OPS, OSCAR)
    it.clock.later += 61_000
    for (const word of ["show", "why"]) {
      const seen = await it.slack.workspace.command(OSCAR, NO_BOT, `${word} ${id}`)
      const unknown = await it.slack.workspace.command(OSCAR, NO_BOT, `${word} r00000000000000`)
      const textOf = (one: Seen) => (one.response as { text?: string }).text
      expect(textOf(seen)).toBe(textOf(unknown))
      expect(textOf(seen)).toContain("There is no such run that you can see")
    }
  })

  test("why tells the rule, who could decide, who was refused, and what the agent was told; secrets are masked", async () => {
    const it = await rig()
    const id = await it.start("deploy the shop")
    const token = ["xoxb", "1111111111", "2222222222", "abcdefghijklmnop"].join("-")
    const [card] = await it.ask(id, { tool: "deploy", args: { env: "prod", token }, rule: { name: "approvals[1]" } })
    if (!card) throw new Error("no card")
    await it.press(OSCAR, card, "approve")
    await it.told(OSCAR, "not among those")
    await it.press(ADA, card, "approve")
    await expect.poll(async () => (await it.run(id)).asks[0]?.settled).toBeDefined()
    const said = await say(it, ROBIN, `why ${id}`)
    expect(said).toContain("started it by a command")
    expect(said).toContain("Rule: approvals[1]")
    expect(said).toContain("Could decide: ")
    expect(said).toContain("and was refused: not among those who may decide")
    expect(said).toContain("approved")
    expect(said).toContain("The agent was told: ")
    expect(said).not.toContain(token)
    expect(said.indexOf("oscar (U0OUT) tried")).toBeLessThan(said.indexOf("ada (U0APP1) settled"))
    // Whoever decided in it still may, when its asks are over.
    await it.change(id, (run, now) => ({
      ...stepOf(run, now, []),
      run: { ...run, calls: [], asks: [] },
    }))
    expect(await say(it, ADA, `why ${id.slice(0, 9)}`)).toContain("ada (U0APP1) settled")
  })
})

describe("grants by command", () => {
  const say = async (it: Rig, user: string, text: string): Promise<string> =>
    answerOf(await it.slack.workspace.command(user, OPS, text))

  /** A run in which Ada let the like of a call run unasked. */
  async function granted(it: Rig): Promise<string> {
    const id = await it.start("deploy the shop")
    await it.ask(id, { tool: "deploy", rule: { grant: { for: 3_600_000, same: ["env"] } } })
    const [ask] = await it.asks(id)
    const person = { team: "T1", user: ADA, name: "Ada" }
    const who = { person, standing: "member", member: { S0SRE: "yes" } } as const
    const tried = { ask: ask?.id ?? "", version: 1, ok: true, who, via: "click", cause: "c", grant: "mark" } as const
    await it.change(id, (run, now) => settle(run, tried, now).step)
    return id
  }

  test("are listed for whoever may take them back, and taken back by the id that is shown", async () => {
    const it = await rig({ app: { lists: { ...LISTS, admins: [OSCAR] } } })
    const id = await granted(it)
    for (const user of [ADA, GRACE, ROBIN, OSCAR]) {
      const said = await say(it, user, "grants")
      expect(said).toContain(`${id}.1`)
      expect(said).toContain("with the same env")
    }
    expect(await say(it, GRACE, `revoke ${id}.1`)).toContain("Taken back")
    expect((await it.facts(id)).at(-1)).toMatchObject({ what: "revoked", by: { user: GRACE }, via: "command" })
    expect(await say(it, ROBIN, "grants")).toContain("There is no grant in force")
    expect(await say(it, ROBIN, `revoke ${id}.1`)).toContain("Nothing to take back: grace")
  })

  test("are nobody else's: a member of the channel is refused, for strangers there is none", async () => {
    const it = await rig()
    const id = await granted(it)
    expect(await say(it, OSCAR, "grants")).toContain("There is no grant in force")
    expect(await say(it, OSCAR, `revoke ${id}.1`)).toContain("You are not among those who may take back this grant")
    expect((await it.facts(id)).at(-1)).toMatchObject({ what: "refused", outcome: "revoke: not listed" })
    it.slack.workspace.leave(OPS, OSCAR)
    it.clock.later += 61_000
    const seen = await it.slack.workspace.command(OSCAR, NO_BOT, `revoke ${id}.1`)
    expect(answerOf(seen)).toContain("There is no such grant that you can see")
    expect(await say(it, ADA, "revoke r00000000000000.1")).toContain("There is no such grant")
    expect(await say(it, ADA, "revoke")).toContain("Which grant?")
    expect(await say(it, ADA, `revoke ${id.slice(0, 6)}`)).toContain("Taken back")
  })
})
