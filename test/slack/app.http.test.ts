import { expect, test } from "vitest"
import { signed } from "../../src/sandbox/deliver.ts"
import type { Envelope } from "../../src/sandbox/socket.ts"
import { ADA, OPS, rig, ROBIN, type Rig } from "./app.rig.ts"
import { buttonsOf } from "./show.rig.ts"

const lastOf = (it: Rig, type: Envelope["type"]): Envelope => {
  const delivery = it.slack.workspace.deliveries.findLast(({ envelope }) => envelope.type === type)
  if (!delivery) throw new Error("nothing was delivered")
  return delivery.envelope
}

const runs = async (it: Rig) => (await it.store.list([`requester:T1:${ROBIN}`], 10)).length

async function send(it: Rig, request: { headers: Record<string, string>; body: string }): Promise<number> {
  const response = await fetch(it.slack.workspace.requestUrl ?? "", { method: "POST", ...request })
  await response.arrayBuffer()
  return response.status
}

test("over signed HTTP it is the same bot", async () => {
  const it = await rig({ http: true })
  const id = await it.start()
  const [card] = await it.ask(id)
  if (!card) throw new Error("no card")
  const seen = await it.press(ADA, card, "approve")
  expect(seen).toMatchObject({ acked: true })
  await it.slack.workspace.waitFor(() => buttonsOf(it.now(card)).length === 0)
  expect((await it.asks(id))[0]?.settled).toMatchObject({ ok: true, by: { user: ADA } })
})

test("the same request again, as Slack's retries are and as a replay is, starts and answers nothing more", async () => {
  const it = await rig({ http: true })
  const id = await it.start()
  const [card] = await it.ask(id)
  if (!card) throw new Error("no card")
  await it.press(ADA, card, "approve")
  await expect.poll(async () => (await it.asks(id))[0]?.settled?.ok).toBe(true)
  const now = Math.floor(Date.now() / 1000)
  for (const type of ["slash_commands", "interactive"] as const) {
    for (const [retry, at] of [
      [0, now],
      [1, now],
      [2, now],
      // Bolt lets requests from the future in; what is stored makes them repeats all the same.
      [0, now + 600],
    ] as const) {
      const envelope = {
        ...lastOf(it, type),
        ...(retry > 0 ? { retry_attempt: retry, retry_reason: "http_timeout" } : {}),
      }
      expect(await send(it, signed(envelope, it.slack.signingSecret, at))).toBe(200)
    }
  }
  expect(await runs(it)).toBe(1)
  expect((await it.facts(id)).filter(({ what }) => what === "started" || what === "settled")).toHaveLength(2)
})

test.each([
  ["a wrong signature", (secret: string) => `${secret}x`, 0],
  ["ten minutes ago", (secret: string) => secret, -600],
])("a request with %s is refused before anything is looked up", async (_, secretOf, later) => {
  const it = await rig({ http: true })
  await it.start()
  const envelope = lastOf(it, "slash_commands")
  const fresh = { ...envelope, payload: { ...envelope.payload, trigger_id: "another" } }
  const calls = it.slack.workspace.calls.length
  const at = Math.floor(Date.now() / 1000) + later
  expect(await send(it, signed(fresh, secretOf(it.slack.signingSecret), at))).toBe(401)
  expect(await runs(it)).toBe(1)
  expect(it.slack.workspace.calls.slice(calls).filter(({ method }) => method === "users.info")).toEqual([])
})

test("no GET does anything", async () => {
  const it = await rig({ http: true })
  await it.start()
  for (const method of ["GET", "HEAD"]) {
    const response = await fetch(it.slack.workspace.requestUrl ?? "", { method })
    expect(response.status).toBe(404)
  }
  expect(await runs(it)).toBe(1)
})

test("whatever nobody listens to is acked, and a stopped bot takes nothing more", async () => {
  const it = await rig({ http: true })
  const sent = await it.slack.workspace.deliver({
    type: "interactive",
    envelope_id: "1",
    payload: { type: "shortcut", callback_id: "x", user: { id: ROBIN }, team: { id: "T1" } },
    accepts_response_payload: true,
  })
  expect(sent).toMatchObject({ acked: true })
  expect(sent.ackMs).toBeLessThan(1000)
  await it.bot.app.stop(1000)
  expect(await it.slack.workspace.command(ROBIN, OPS, "restart web")).toMatchObject({ acked: false })
})
