import { describe, expect, test } from "vitest"
import { remind } from "../../src/core/remind.ts"
import { APPROVALS, LEADS, LEADS_ROOM, LENA, OSCAR } from "../../src/sandbox/seed.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { ADA, GRACE, OPS, rig, type Rig } from "./app.rig.ts"
import { buttonsOf, isCard } from "./show.rig.ts"

const cardsIn = ({ slack }: Rig, channel: string): Message[] => slack.workspace.messages(channel).filter(isCard)

/** The card in a channel, once it stands. */
const cardIn = (it: Rig, channel: string): Promise<Message> =>
  it.slack.workspace.waitFor(() => cardsIn(it, channel)[0], 10_000)

/** The conversation of the bot with a person, once there is one. */
const dmOf = ({ slack }: Rig, user: string): Promise<string> =>
  slack.workspace.waitFor(
    () =>
      [...slack.workspace.channels.values()].find(({ kind, members }) => kind === "dm" && members.includes(user))?.id,
    10_000,
  )

const settledIn = (it: Rig, channel: string) =>
  expect.poll(() => cardsIn(it, channel).map(buttonsOf), { timeout: 10_000 }).toEqual([[]])

describe("a press on a card outside the run's thread", () => {
  test("in the rule's channel decides, and all cards follow", async () => {
    const it = await rig()
    const id = await it.start()
    await it.ask(id, { rule: { cards: APPROVALS } })
    await it.press(ADA, await cardIn(it, APPROVALS), "approve")
    await settledIn(it, APPROVALS)
    await settledIn(it, OPS)
    const [ask] = await it.asks(id)
    expect(ask?.settled).toMatchObject({ ok: true, by: { user: ADA } })
  })

  test("in a direct message decides, and is seen there and in the thread", async () => {
    const it = await rig()
    const id = await it.start()
    await it.ask(id, { rule: { approvers: [ADA, GRACE], notify: "dm" } })
    const [hers, theirs] = [await dmOf(it, ADA), await dmOf(it, GRACE)]
    await it.press(GRACE, await cardIn(it, theirs), "decline")
    for (const channel of [hers, theirs, OPS]) await settledIn(it, channel)
  })

  test("of somebody who may not changes nothing, and is answered where it was made", async () => {
    const it = await rig()
    const id = await it.start()
    await it.ask(id, { rule: { cards: APPROVALS } })
    it.slack.workspace.join(APPROVALS, OSCAR)
    await it.press(OSCAR, await cardIn(it, APPROVALS), "approve")
    expect(await it.told(OSCAR, "You are not among those who may decide this")).toBeTruthy()
    expect((await it.asks(id))[0]?.settled).toBeUndefined()
  })

  test("of those who were called in later decides as well", async () => {
    const it = await rig()
    const id = await it.start()
    await it.ask(id, { rule: { escalate: { after: 60_000, to: [LEADS], channel: LEADS_ROOM } } })
    await it.change(id, (run, now) => remind(run, now + 60_000))
    await it.press(LENA, await cardIn(it, LEADS_ROOM), "approve")
    await settledIn(it, LEADS_ROOM)
    await settledIn(it, OPS)
    expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: true, by: { user: LENA } })
  })

  test("tells where a card stands whose post was never answered", async () => {
    const it = await rig({ slack: { scopes: ["commands", "chat:write", "users:read", "usergroups:read", "im:write"] } })
    const id = await it.start()
    it.slack.workspace.misbehave({ method: "chat.postMessage", channel: APPROVALS, do: "lose-reply", times: 1 })
    await it.ask(id, { rule: { cards: APPROVALS } })
    const [unknown] = await it.slack.workspace.waitFor(() => {
      const found = cardsIn(it, APPROVALS)
      return found.length === 2 && found
    }, 10_000)
    if (!unknown) throw new Error("no card")
    await it.press(ADA, unknown, "approve")
    await expect.poll(() => cardsIn(it, APPROVALS).map(buttonsOf), { timeout: 10_000 }).toEqual([[], []])
  })
})
