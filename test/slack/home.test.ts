import { describe, expect, test } from "vitest"
import { canonical, sha256 } from "../../src/core/digest.ts"
import type { Rule } from "../../src/core/policy.ts"
import { step as stepOf } from "../../src/core/run.ts"
import { settle } from "../../src/core/settle.ts"
import { begin, took } from "../../src/core/turn.ts"
import type { View } from "../../src/sandbox/workspace.ts"
import { OSCAR } from "../../src/sandbox/seed.ts"
import { runIdOf } from "../../src/store/keys.ts"
import { ADA, GRACE, OPS, rig, ROBIN, RULE, type Rig } from "./app.rig.ts"

type Rigged = Rig

/** Fast, so that nobody waits for what is paced in life. */
const HOMES = { apart: 50, looked: 60_000 }

/** The home as the person reads it, once it has the words. */
async function homeOf(it: Rigged, user: string, words?: string | RegExp): Promise<string> {
  const has = (text: string): boolean =>
    words === undefined || (typeof words === "string" ? text.includes(words) : words.test(text))
  return it.slack.workspace.waitFor(
    () => {
      const text = said(it.slack.workspace.home(user))
      return has(text) && text
    },
    20_000,
    `a home of ${user} with ${String(words)} (now: ${said(it.slack.workspace.home(user)).slice(0, 2000)})`,
  )
}

/** Every text of a view, in order. */
function said(view: View | undefined): string {
  const texts: string[] = []
  const read = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(read)
    if (typeof value !== "object" || value === null) return
    const { text, ...rest } = value as Record<string, unknown>
    if (typeof text === "string") texts.push(text)
    else read(text)
    Object.values(rest).forEach(read)
  }
  read(view?.blocks ?? [])
  return texts.join("|")
}

async function open(it: Rigged, user: string): Promise<View> {
  await it.slack.workspace.openHome(user)
  return it.slack.workspace.waitFor(() => it.slack.workspace.home(user))
}

const viewOf = (it: Rigged, user: string): View => {
  const view = it.slack.workspace.home(user)
  if (!view) throw new Error("there is no home")
  return view
}

const press = (it: Rigged, user: string, action: string, block?: string) =>
  it.slack.workspace.click(
    user,
    { view_id: viewOf(it, user).id },
    action,
    block === undefined ? {} : { block_id: block },
  )

/** The part under a heading. */
const under = (text: string, heading: string): string => {
  const after = text.split(`|${heading}`)[1] ?? text.split(heading)[1] ?? ""
  return after.split(/\|(?:Your runs|You decided lately|Grants in force|Pings)/)[0] ?? ""
}
const dms = (it: Rigged, user: string): string[] =>
  it.slack.workspace.messages(it.slack.workspace.openDm("U0BOT", user).id).map(({ text }) => text)

describe("the home", () => {
  test("has what waits for the person, their runs, what they decided and grants, each only where it is theirs", async () => {
    const it = await rig({ app: { homes: HOMES } })
    const [deploy, restart] = [await it.start("deploy the shop"), await it.start("restart the mail")]
    await it.ask(deploy, { tool: "deploy", args: { env: "prod" } })
    await open(it, ADA)
    const ada = await homeOf(it, ADA, "Waiting for you (1)")
    expect(under(ada, "Waiting for you")).toContain("The agent wants to run deploy")
    expect(ada).toContain('{"env":"prod"}')
    expect(ada).toContain("open the card")
    expect(ada).not.toContain("mail")
    await open(it, ROBIN)
    const robin = await homeOf(it, ROBIN, "Your runs (2)")
    expect(robin).toContain("Nothing waits for you.")
    expect(robin).toContain(deploy)
    expect(robin).toContain(restart)
    await open(it, OSCAR)
    const oscar = await homeOf(it, OSCAR, "Nothing waits for you.")
    expect(oscar).not.toContain("shop")
    expect(oscar).toContain("You have no runs. Start one in a channel: /agent")
  })

  test("a press there decides, is answered there alone, and follows in the thread and under You decided lately", async () => {
    const it = await rig({ app: { homes: HOMES } })
    const id = await it.start("deploy the shop")
    const [card] = await it.ask(id, { tool: "deploy" })
    await open(it, ADA)
    await homeOf(it, ADA, "Waiting for you (1)")
    const seen = await press(it, ADA, "approve")
    expect(seen).toMatchObject({ acked: true })
    const after = await homeOf(it, ADA, /Recorded: approved, deploy/)
    expect(after).toMatch(/^Recorded/)
    expect(after).toContain("Nothing waits for you.")
    expect(under(after, "You decided lately")).toContain("Approved: deploy")
    expect((await it.run(id)).asks[0]?.settled).toMatchObject({ ok: true, by: { user: ADA }, via: "click" })
    await it.slack.workspace.waitFor(() => card && !JSON.stringify(it.now(card).blocks).includes('"approve"'))
    expect(dms(it, ADA)).toEqual([])
    // When its turn is over it is still there.
    await it.change(id, (run, now) => ({
      ...stepOf(run, now, []),
      run: { ...run, calls: [], asks: [] },
      texts: run.asks.map((ask) => ({ field: `ask:${ask.id}`, text: JSON.stringify(ask) })),
    }))
    await open(it, ADA)
    expect(under(await homeOf(it, ADA, /^Waiting/), "You decided lately")).toContain("Approved: deploy")
  })

  test("a press that is refused is answered there, with a fact, and in no other place", async () => {
    const it = await rig({ app: { homes: HOMES } })
    const id = await it.start("deploy the shop")
    await it.ask(id, { tool: "deploy" })
    await open(it, ADA)
    await homeOf(it, ADA, "Waiting for you (1)")
    // Ada is let go from the group in between.
    it.slack.workspace.groups.get("S0SRE")?.users.splice(0, 1)
    it.clock.later += 61_000
    await press(it, ADA, "approve")
    const after = await homeOf(it, ADA, "Not recorded. You are not among those who may decide this.")
    expect(after).toContain("Nothing waits for you.")
    expect((await it.facts(id)).at(-1)).toMatchObject({ what: "refused", outcome: "not listed" })
    expect((await it.run(id)).asks[0]?.settled).toBeUndefined()
    expect(dms(it, ADA)).toEqual([])
  })

  test("when Slack does not take the home, what came of a press is a direct message", async () => {
    const it = await rig({ app: { homes: HOMES } })
    await it.ask(await it.start(), { tool: "deploy" })
    await open(it, ADA)
    await homeOf(it, ADA, "Waiting for you (1)")
    it.slack.workspace.misbehave({ do: "error", error: "internal_error", method: "views.publish" })
    await press(it, ADA, "decline")
    await it.slack.workspace.waitFor(() => dms(it, ADA).some((text) => text.includes("Recorded: declined, deploy")))
  })

  test("where the rule wants a reason, a press there opens the window for it; what is sent from it counts", async () => {
    const it = await rig({ app: { homes: HOMES } })
    const id = await it.start("deploy the shop")
    await it.ask(id, { tool: "deploy", rule: { reason: { decline: "required" } } })
    await open(it, ADA)
    await homeOf(it, ADA, "Waiting for you (1)")
    await press(it, ADA, "decline:why")
    const modal = await it.slack.workspace.waitFor(() =>
      it.slack.workspace.views(ADA).find(({ blocks }) => JSON.stringify(blocks).includes('"input"')),
    )
    expect((await it.run(id)).asks[0]?.settled).toBeUndefined()
    const field: unknown = modal.blocks.find(({ type }) => type === "input")
    const { block_id, element } = field as { block_id: string; element: { action_id: string } }
    await it.slack.workspace.submit(ADA, modal.id, { [block_id]: { [element.action_id]: "not today" } })
    await homeOf(it, ADA, "Nothing waits for you.")
    expect((await it.run(id)).asks[0]?.settled).toMatchObject({ ok: false, by: { user: ADA } })
    expect((await it.facts(id)).findLast(({ what }) => what === "settled")?.note).toBe("not today")
  })

  test("what is masked or too long to stand there can't be approved there, and says why", async () => {
    const it = await rig({ app: { homes: HOMES } })
    const token = ["xoxb", "1111111111", "2222222222", "abcdefghijklmnop"].join("-")
    await it.ask(
      await it.start(),
      { tool: "deploy", args: { token } },
      { tool: "write", args: { text: "x".repeat(4000) } },
    )
    await open(it, ADA)
    const text = await homeOf(it, ADA, "Waiting for you (2)")
    expect(text).toContain("Some of it is masked.")
    expect(text).toContain("Too long to stand here: Arguments (4,011 characters).")
    expect(text).not.toContain(token)
    const ids = JSON.stringify(viewOf(it, ADA).blocks).match(/"action_id":"[a-z:-]+"/g) ?? []
    expect(ids.filter((id) => id.includes("approve"))).toEqual([])
    expect(ids.filter((id) => id.includes("reveal"))).toEqual([])
    expect(ids.filter((id) => id.includes("decline"))).toHaveLength(2)
    expect(ids.filter((id) => id.includes("details"))).toHaveLength(2)
  })

  test("while Countersign is paused nothing can be approved there, and that is said", async () => {
    const it = await rig({ app: { homes: HOMES } })
    await it.ask(await it.start(), { tool: "deploy" })
    await it.store.pause.begin({ by: "somebody", at: 1 })
    await open(it, ADA)
    await homeOf(it, ADA, "Countersign is paused: nothing starts and nothing can be approved.")
    const ids: string[] = JSON.stringify(viewOf(it, ADA).blocks).match(/"action_id":"[a-z:-]+"/g) ?? []
    expect(ids).not.toContain('"action_id":"approve"')
    expect(ids).toContain('"action_id":"decline"')
  })

  test("with a quorum, whoever has approved is not waited for any more, and sees how many are missing", async () => {
    const it = await rig({ app: { homes: HOMES } })
    await it.ask(await it.start(), { tool: "deploy", rule: { quorum: 2 } })
    await open(it, ADA)
    await open(it, GRACE)
    await homeOf(it, GRACE, "0 of 2 have approved")
    await press(it, ADA, "approve")
    await homeOf(it, ADA, "One more person must approve it.")
    expect(under(await homeOf(it, ADA, "Nothing waits for you."), "You decided lately")).toContain(
      "Approved by you, 1 of 2",
    )
    await homeOf(it, GRACE, "1 of 2 have approved (ada (U0APP1))")
  })
})

describe("while it is open", () => {
  test("it follows what is decided elsewhere, also by another process", async () => {
    const it = await rig({ app: { homes: { apart: 50, looked: 200 } } })
    const id = await it.start("deploy the shop")
    await open(it, ADA)
    await homeOf(it, ADA, "Nothing waits for you.")
    // By a store that no process of the bot has: it is noticed by looking.
    await it.ask(id, { tool: "deploy" })
    await homeOf(it, ADA, "Waiting for you (1)")
    const [ask] = await it.asks(id)
    const who = { person: { team: "T1", user: GRACE }, standing: "member", member: { S0SRE: "yes" } } as const
    const tried = { ask: ask?.id ?? "", version: 1, ok: true, who, via: "click", cause: "c" } as const
    await it.change(id, (run, now) => settle(run, tried, now).step)
    await homeOf(it, ADA, "Nothing waits for you.")
  })

  test("it is left alone when nothing of it changed, and later on altogether", async () => {
    const it = await rig({ app: { homes: { apart: 10, looked: 20, watched: 400 } } })
    await open(it, ADA)
    await homeOf(it, ADA, "Nothing waits for you.")
    const published = () => it.slack.workspace.calls.filter(({ method }) => method === "views.publish").length
    const before = published()
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(published()).toBe(before)
    await it.ask(await it.start(), { tool: "deploy" })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(published()).toBe(before)
  })
})

describe("grants and pings there", () => {
  test("a grant is taken back by whoever may, and the home says so", async () => {
    const it = await rig({ app: { homes: HOMES } })
    const id = await it.start("deploy the shop")
    await it.ask(id, { tool: "deploy", rule: { grant: { for: 3_600_000, same: ["env"] } } })
    const [ask] = await it.asks(id)
    const who = {
      person: { team: "T1", user: ADA, name: "Ada" },
      standing: "member",
      member: { S0SRE: "yes" },
    } as const
    const tried = { ask: ask?.id ?? "", version: 1, ok: true, who, via: "click", cause: "c", grant: "mark" } as const
    await it.change(id, (run, now) => settle(run, tried, now).step)
    await open(it, GRACE)
    expect(await homeOf(it, GRACE, "Grants in force (1)")).toContain("runs unasked with the same env")
    await press(it, GRACE, "home:revoke")
    const after = await homeOf(it, GRACE, "Taken back: from now on the like of deploy is asked about again")
    expect(after).toContain("Nothing runs unasked.")
    expect((await it.facts(id)).at(-1)).toMatchObject({ what: "revoked", by: { user: GRACE }, via: "click" })
  })

  test("whoever wants no pings says so there, and may change their mind", async () => {
    const it = await rig({ app: { homes: HOMES } })
    await open(it, ADA)
    await homeOf(it, ADA, "I ping you when something waits for you")
    await press(it, ADA, "home:quiet")
    await homeOf(it, ADA, /^I won't ping you any more\./)
    expect(await it.store.quiet()).toEqual(new Set([ADA]))
    await press(it, ADA, "home:quiet")
    await homeOf(it, ADA, /^I ping you again\./)
    expect(await it.store.quiet()).toEqual(new Set())
  })

  test.each([
    ["another's", { type: "block_actions", actions: [{ type: "button", action_id: "x", value: "y" }] }],
    [
      "one without a person",
      { type: "block_actions", actions: [{ type: "button", action_id: "home:quiet" }], user: {} },
    ],
    ["one without an action", { type: "block_actions", actions: [] }],
  ])("a press is acked, whatever it is: %s", async (_, payload) => {
    const it = await rig({ show: false, app: { homes: HOMES } })
    const body = { user: { id: OSCAR, team_id: "T1" }, view: { type: "home", id: "V1" }, ...payload }
    const sent = await it.slack.workspace.deliver({
      type: "interactive",
      envelope_id: "1",
      payload: body,
      accepts_response_payload: true,
    })
    expect(sent).toMatchObject({ acked: true })
  })
})

describe("for somebody with two hundred of each", () => {
  /** As many runs of Robin's as that, each waiting under the rule. */
  async function many(it: Rigged, total: number, rule: Rule): Promise<string[]> {
    const ids = Array.from({ length: total }, (_, index) => runIdOf("T1", `many-${index}`, 1))
    const asked = async (id: string, index: number): Promise<void> => {
      const requester = { team: "T1", user: ROBIN, name: "robin" }
      const how = {
        id,
        cause: `many-${index}`,
        requester,
        channel: OPS,
        prompt: `deploy number ${index}`,
        keep: 60_000,
      }
      await it.store.apply(id, (run, now) => ({
        outcome: undefined,
        ...(run ? {} : { step: begin({ ...how, rooted: true, via: "command", transcript: [] }, now) }),
      }))
      const args = canonical({ number: index })
      const request = { id: `pnd-many-${index}`, kind: "approval", prompt: "Run deploy" }
      const planned = [
        { ref: "c", tool: "deploy", effects: "once", args, digest: sha256(args), next: { do: "ask", request, rule } },
      ] as const
      const turn = { message: "{}", text: "", usage: { prompt: 1, completion: 1 }, planned: [...planned] }
      await it.change(id, (run, now) => took(run, turn, now))
    }
    for (let from = 0; from < total; from += 20) {
      await Promise.all(ids.slice(from, from + 20).map((id, index) => asked(id, from + index)))
    }
    return ids
  }

  test("it is paged, says where one is, and is there within a second or two", async () => {
    const it = await rig({ show: false, app: { homes: HOMES } })
    await many(it, 205, RULE)
    const before = performance.now()
    await open(it, ADA)
    const first = await homeOf(it, ADA, "Waiting for you (205)")
    expect(performance.now() - before).toBeLessThan(4000)
    expect(first).toContain("1 to 10 of 205")
    expect(first).not.toContain("Newer")
    const { blocks } = viewOf(it, ADA)
    expect(blocks.length).toBeLessThan(100)
    await press(it, ADA, "home:page:older")
    const second = await homeOf(it, ADA, "11 to 20 of 205")
    expect(second).toContain("Newer")
    // A press on the second page leaves one there.
    await press(it, ADA, "decline")
    const after = await homeOf(it, ADA, "Recorded: declined, deploy")
    expect(after).toContain("11 to 20 of 204")
    await press(it, ADA, "home:page:newer")
    await homeOf(it, ADA, "1 to 10 of 204")
    await open(it, ROBIN)
    expect(await homeOf(it, ROBIN, "Your runs (205)")).toContain("1 to 10 of 205")
  }, 60_000)
})
