import { afterEach, describe, expect, test, vi } from "vitest"
import type { WireTurn } from "../fakes/provider.ts"
import { isLive, read, reads, wordsOf } from "./seen.ts"
import { AUDIT } from "../../src/sandbox/seed.ts"
import { APP1, APP2, OPS, OUT, REQ, Team, until, type Message } from "./team.ts"

// Each waits for what it says, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let team: Team
afterEach(() => team.close())

const RESTART: WireTurn = { text: "It is down.", calls: [{ id: "c1", name: "restart", args: { service: "web" } }] }
const DONE: WireTurn = { text: "It is up again." }

const quiet = (card: Message): Promise<void> =>
  until(
    () => !isLive(team.now(card)),
    () => `no buttons on ${wordsOf(team.now(card))}`,
    20_000,
  )

/** A model's turn that is held back until it is let go. */
function heldBack(turn: WireTurn): { turn: WireTurn; go: () => void } {
  let go = (): void => undefined
  const hold = new Promise<void>((resolve) => {
    go = resolve
  })
  return { turn: { ...turn, hold }, go }
}

describe("a reply of Slack's that is lost", () => {
  test("leaves two cards that carry one ask, and a press on either settles both", async () => {
    const held = heldBack(RESTART)
    team = await Team.start({ turns: [held.turn, DONE] })
    const { workspace } = team.slack
    // Without the history scopes nobody can look whether the message arrived.
    for (const scope of ["channels:history", "groups:history", "im:history"]) workspace.scopes.delete(scope)
    await team.bot()
    await team.command("restart web")
    await team.provider.came(1)
    workspace.misbehave({ do: "lose-reply", method: "chat.postMessage", channel: OPS, times: 1 })
    held.go()
    await team.card(2)
    const [unknown, known] = team.cards()
    if (!unknown || !known) throw new Error("two cards")
    expect(unknown.thread_ts).toBe(known.thread_ts)

    // The bot has never heard of the first one.
    await team.click(APP1, unknown, "approve")
    await team.ended()
    await quiet(known)
    await quiet(unknown)
    expect(team.executions("restart")).toHaveLength(1)
    expect(wordsOf(team.now(unknown))).toBe(wordsOf(team.now(known)))
  })

  test("is looked for where the bot may read, so that there is one card", async () => {
    const held = heldBack(RESTART)
    team = await Team.start({ turns: [held.turn, DONE] })
    await team.bot()
    await team.command("restart web")
    await team.provider.came(1)
    team.slack.workspace.misbehave({ do: "lose-reply", method: "chat.postMessage", channel: OPS, times: 1 })
    held.go()
    await team.run((run) => run.asks[0]?.shownAt !== undefined)
    expect(team.cards()).toHaveLength(1)
    await team.click(APP1, await team.card(), "decline")
    await team.ended()
    await quiet(await firstCard())
  })

  test("a copy that nobody knew of answers a late press truly, and loses its buttons", async () => {
    const held = heldBack(RESTART)
    team = await Team.start({ turns: [held.turn, DONE] })
    const { workspace } = team.slack
    workspace.scopes.delete("channels:history")
    await team.bot()
    await team.command("restart web")
    await team.provider.came(1)
    workspace.misbehave({ do: "lose-reply", method: "chat.postMessage", channel: OPS, times: 1 })
    held.go()
    await team.card(2)
    const [unknown, known] = team.cards()
    if (!unknown || !known) throw new Error("two cards")
    await team.click(APP1, known, "decline")
    await team.ended()
    await quiet(known)

    await team.click(APP2, unknown, "approve")
    await team.hears(APP2, /Already settled: declined, restart by .*U0APP1/)
    await quiet(unknown)
    expect(team.executions("restart")).toEqual([])
  })
})

const firstCard = async (): Promise<Message> => {
  const found = team.slack.workspace.messages(OPS).find((message) => wordsOf(message).includes("Fingerprint"))
  if (!found) throw new Error("no card at all")
  return found
}

test("a press from inside the posting of its card counts", async () => {
  team = await Team.start({ turns: [RESTART, DONE] })
  let pressed = false
  team.slack.workspace.misbehave({
    method: "chat.postMessage",
    channel: OPS,
    during: async () => {
      const [card] = team.cards()
      if (!card || pressed) return
      pressed = true
      await team.click(APP1, card, "approve")
    },
  })
  await team.bot()
  await team.command("restart web")
  const run = await team.ended()
  expect(pressed).toBe(true)
  expect(run.ended?.how).toBe("done")
  expect(team.executions("restart")).toHaveLength(1)
  await quiet(await firstCard())
})

test("Slack's limit on changes holds up no new card, and what could not be changed is changed later", async () => {
  team = await Team.start({ scripts: { first: [RESTART, DONE], second: [RESTART, DONE] } })
  const { workspace } = team.slack
  await team.bot()
  const first = await team.begin("first")
  const card = await team.cardOf(first)
  const limit = workspace.misbehave({ do: "429", method: "chat.update", retryAfter: 4 })
  await team.click(APP1, card, "approve")
  await team.endOf("first")
  await until(
    () => limit.hits > 0,
    () => "a change that is limited",
  )
  const second = await team.begin("second")
  await team.cardOf(second)
  // The new card came while the old one could not be touched, and whoever pressed was told in words.
  expect(isLive(team.now(card))).toBe(true)
  await team.hears(APP1, "Recorded: approved, restart.")
  limit.remove()
  await quiet(card)
  expect(wordsOf(team.now(card))).toMatch(/Approved/i)
})

test("what was not shown before the bot stopped is shown by the next one", async () => {
  team = await Team.start({ turns: [RESTART, DONE] })
  const { workspace } = team.slack
  const bot = await team.bot()
  await team.command("restart web")
  const card = await team.card()
  const outage = [
    workspace.misbehave({ do: "status", method: "chat.update" }),
    workspace.misbehave({ do: "status", method: "chat.postMessage" }),
  ]
  await team.click(APP1, card, "approve")
  const run = await team.ended()
  expect(run.ended?.how).toBe("done")
  await bot.stop()
  for (const rule of outage) rule.remove()
  expect(isLive(team.now(card))).toBe(true)
  await team.bot()
  await quiet(card)
  await reads(team, "It is up again.")
})

test("many cards that expire at once go on at once, and each is brought up to date at Slack's pace", async () => {
  const calls = [1, 2, 3, 4, 5].map((n) => ({ id: `c${n}`, name: "page", args: { n } }))
  team = await Team.start({ config: { expiresIn: "7s" }, turns: [{ calls }, DONE] })
  const { workspace } = team.slack
  workspace.misbehave({ do: "pace", method: "chat.update", ms: 1000 })
  workspace.misbehave({ do: "pace", method: "chat.postMessage", ms: 300 })
  await team.bot()
  await team.command("page them all")
  await team.card(5)
  const cards = team.cards()
  const run = await team.ended()
  expect(run.ended?.how).toBe("done")
  expect(team.executions()).toEqual([])
  for (const card of cards) await quiet(card)
  for (const card of cards) expect(wordsOf(team.now(card))).toMatch(/expired/i)
})

describe("where nothing can be posted", () => {
  test("the person is told privately how to mend it, and no run goes on unseen", async () => {
    team = await Team.start({ turns: [], config: { channels: [OPS, "C0NOBOT", "C0OLD"] } })
    const { workspace } = team.slack
    workspace.channels.set("C0OLD", {
      id: "C0OLD",
      name: "old",
      kind: "channel",
      members: ["U0BOT", REQ],
      is_archived: true,
      is_ext_shared: false,
    })
    workspace.channels.set("D0THEM", {
      id: "D0THEM",
      name: "",
      kind: "dm",
      members: [REQ, OUT],
      is_archived: false,
      is_ext_shared: false,
    })
    await team.bot()

    await team.command("not a member", REQ, "C0NOBOT")
    await team.hears(REQ, /“not a member”: .*I'm not a member\. Invite me \(type \/invite/)
    expect((await team.endOf("not a member")).ended).toMatchObject({ how: "cancelled" })

    await team.command("archived", REQ, "C0OLD")
    await team.hears(REQ, /“archived”: .*because it is archived\. Please use another one/)
    expect((await team.endOf("archived")).ended).toMatchObject({ how: "cancelled" })

    const seen = await team.command("between others", REQ, "D0THEM")
    expect(JSON.stringify(seen.response)).toContain("can't be started in this channel")
    expect((await team.runs()).map(({ title }) => title).toSorted()).toEqual(["archived", "not a member"])
    expect(team.provider.requests).toEqual([])
    expect(workspace.messages("C0NOBOT").concat(workspace.messages("D0THEM"))).toEqual([])
  })

  test("any more, the run ends and its requester is told", async () => {
    const held = heldBack(RESTART)
    team = await Team.start({ turns: [held.turn] })
    await team.bot()
    await team.command("restart web")
    await team.provider.came(1)
    const ops = team.slack.workspace.channels.get(OPS)
    if (!ops) throw new Error("no channel")
    ops.is_archived = true
    held.go()
    const run = await team.ended()
    expect(run.ended?.how).toBe("cancelled")
    await team.hears(REQ, /no longer lets me write in the channel of your run “restart web” \(is_archived\)/)
    expect(team.executions()).toEqual([])
  })
})

describe("the final answer", () => {
  test("arrives whole and in order, however long", async () => {
    const lines = Array.from({ length: 90 }, (_, n) => `Line ${n}: ${"considering ".repeat(7)}end.`)
    const code = Array.from({ length: 100 }, (_, n) => `const value${n} = ${"x".repeat(36)}${n}`)
    const text = [...lines.slice(0, 45), "```js", ...code, "```", ...lines.slice(45)].join("\n")
    expect(text.length).toBeGreaterThan(13_000)
    team = await Team.start({ turns: [{ text }] })
    await team.bot()
    await team.command("tell me everything")
    expect((await team.ended()).ended?.how).toBe("done")
    await reads(team, "Line 89: ", OPS, 30_000)
    const said = read(team)
    const places = [...lines, ...code].map((line) => said.indexOf(line))
    expect(places.filter((at) => at < 0)).toEqual([])
    const inOrder = [...lines.slice(0, 45), ...code, ...lines.slice(45)].map((line) => said.indexOf(line))
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b))
    const [root] = team.slack.workspace.messages(OPS)
    const thread = team.slack.workspace.messages(OPS, root?.ts ?? "")
    expect(thread.length).toBeGreaterThan(2)
    expect(thread).toHaveLength(team.slack.workspace.messages(OPS).length)
  })

  test.each(["", " \n\t "])("without words (%j) is said to be so", async (text) => {
    team = await Team.start({ turns: [{ text }] })
    await team.bot()
    await team.command("say nothing")
    expect((await team.ended()).ended?.how).toBe("done")
    await reads(team, "Finished. The agent gave no final text.")
    await reads(team, /Finished, /)
  })
})

test("a lifecycle with one card costs five calls at the most that Slack limits, and the audit fewer messages than lines", async () => {
  team = await Team.start({ turns: [RESTART, DONE] })
  await team.bot()
  await team.command("restart web")
  await team.click(APP1, await team.card(), "approve")
  const run = await team.ended()
  await reads(team, /Finished, /)
  await until(
    async () => {
      const { cards, rest, outbox } = await team.store.peek()
      return cards === undefined && rest === undefined && outbox === 0
    },
    () => "everything to be said",
  )
  const calls = team.slack.workspace.calls.filter(({ method }) => /^chat\.(postM|postE|update|delete)/.test(method))
  const [mine, audit] = [OPS, AUDIT].map((channel) => calls.filter(({ args }) => args["channel"] === channel))
  // The run's message, its card, the result; and one change of each of the first two.
  expect(mine?.filter(({ method }) => method === "chat.postMessage")).toHaveLength(3)
  expect(mine?.length).toBeLessThanOrEqual(5)
  expect(calls).toHaveLength((mine?.length ?? 0) + (audit?.length ?? 0))
  expect(audit?.length).toBeLessThan((await team.facts(run)).length)
})
