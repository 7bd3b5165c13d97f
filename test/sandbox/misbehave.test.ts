import { WebClient } from "@slack/web-api"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { ADA, AUDIT, OPS, ROBIN } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import { clientOptions } from "./bolt.ts"
import { actions, button, call } from "./call.ts"
import { attach, type Peer } from "./peer.ts"

let now = 1_800_000_000_000
let slack: SandboxSlack
beforeEach(async () => {
  slack = await startSlack({ clock: () => now })
})
afterEach(() => slack.close())

const post = (channel = OPS) => call(slack, "chat.postMessage", { channel, text: "x" })

describe("calls", () => {
  test("a lost reply: stored, and the caller never hears", async () => {
    slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
    await expect(post()).rejects.toThrow("fetch failed")
    expect(slack.workspace.messages(OPS)).toHaveLength(1)
    expect(await post()).toMatchObject({ ok: true })
  })

  test("Slack's own client, left alone, posts twice then", async () => {
    slack.workspace.misbehave({ method: "chat.postMessage", do: "lose-reply", times: 1 })
    const client = new WebClient(slack.botToken, {
      slackApiUrl: slack.apiUrl,
      retryConfig: { retries: 1, minTimeout: 1 },
    })
    await client.chat.postMessage({ channel: OPS, text: "x" })
    expect(slack.workspace.messages(OPS)).toHaveLength(2)
  })

  test("an error or a 500: nothing is stored, unless it is to come after", async () => {
    slack.workspace.misbehave({ method: "chat.postMessage", do: "error", error: "fatal_error", times: 1 })
    slack.workspace.misbehave({ method: "chat.postMessage", do: "status", status: 503, times: 1 })
    expect(await post()).toEqual({ ok: false, error: "fatal_error" })
    expect(await post()).toMatchObject({ ok: false })
    expect(slack.workspace.messages(OPS)).toEqual([])
    slack.workspace.misbehave({ method: "chat.postMessage", do: "error", after: true })
    expect(await post()).toEqual({ ok: false, error: "internal_error" })
    expect(slack.workspace.messages(OPS)).toHaveLength(1)
  })

  test("429 with its Retry-After, in one channel only", async () => {
    slack.workspace.misbehave({ method: "chat.postMessage", channel: OPS, do: "429", retryAfter: 7 })
    const client = new WebClient(slack.botToken, clientOptions(slack))
    await expect(client.chat.postMessage({ channel: OPS, text: "x" })).rejects.toMatchObject({ retryAfter: 7 })
    expect(await post(AUDIT)).toMatchObject({ ok: true })
  })

  test("a pace: one call a second for each channel, by the workspace's clock", async () => {
    slack.workspace.misbehave({ method: "chat.postMessage", do: "pace" })
    expect(await post()).toMatchObject({ ok: true })
    expect(await post()).toMatchObject({ error: "ratelimited" })
    expect(await post(AUDIT)).toMatchObject({ ok: true })
    now += 1000
    expect(await post()).toMatchObject({ ok: true })
  })

  test("a call that is held goes on when it is released", async () => {
    const held = slack.workspace.misbehave({ method: "chat.postMessage", do: "hold", times: 1 })
    const answer = post()
    await slack.workspace.waitFor(() => held.hits === 1)
    expect(slack.workspace.messages(OPS)).toEqual([])
    expect(slack.workspace.calls.at(-1)).not.toHaveProperty("response")
    held.release()
    expect(await answer).toMatchObject({ ok: true })
    expect(slack.workspace.calls.at(-1)).toMatchObject({ method: "chat.postMessage", response: { ok: true } })
  })

  test("a call that hangs ends with the caller's patience", async () => {
    slack.workspace.misbehave({ method: "chat.postMessage", do: "hang" })
    const client = new WebClient(slack.botToken, { ...clientOptions(slack), timeout: 50 })
    await expect(client.chat.postMessage({ channel: OPS, text: "x" })).rejects.toThrow("timeout")
  })

  test("a delay delays", async () => {
    slack.workspace.misbehave({ method: "auth.test", do: "delay", ms: 60 })
    const start = performance.now()
    await call(slack, "auth.test")
    expect(performance.now() - start).toBeGreaterThan(55)
  })

  test("a click from inside the post: the card is there and its ts not yet known to the bot", async () => {
    const peer = await attach(slack)
    let answered = false
    slack.workspace.misbehave({
      method: "chat.postMessage",
      times: 1,
      during: async () => {
        const [card] = slack.workspace.messages(OPS)
        const seen = await slack.workspace.click(ADA, card ?? { channel: OPS, ts: "" }, "go")
        expect({ seen: seen.acked, answered }).toEqual({ seen: true, answered: false })
      },
    })
    await call(slack, "chat.postMessage", { channel: OPS, text: "x", blocks: [actions(button("go"))] })
    answered = true
    expect(peer.last()).toMatchObject({ type: "block_actions" })
  })

  test("a response URL can fail as well", async () => {
    const peer = await attach(slack)
    await slack.workspace.command(ROBIN, OPS, "x")
    slack.workspace.misbehave({ method: "response_url", do: "status" })
    const response = await fetch(String(peer.last()["response_url"]), { method: "POST", body: "{}" })
    expect(response.status).toBe(500)
  })

  test("good behaviour is restored, and what was held is let go", async () => {
    const held = slack.workspace.misbehave({ do: "hold" })
    const answer = post()
    await slack.workspace.waitFor(() => held.hits === 1)
    slack.workspace.behave()
    expect(await answer).toMatchObject({ ok: true })
    expect(slack.workspace.rules()).toEqual([])
  })
})

describe("envelopes", () => {
  let peers: Peer[]
  beforeEach(async () => {
    peers = [await attach(slack), await attach(slack)]
  })
  const got = (): string[][] => peers.map((peer) => peer.received.map((it) => String(it.payload["text"])))

  test("take turns on the connections", async () => {
    for (const word of ["a", "b", "c"]) await slack.workspace.command(ROBIN, OPS, word)
    expect(got()).toEqual([["a", "c"], ["b"]])
  })

  test("can come twice, on both connections", async () => {
    slack.workspace.misbehave({ do: "repeat", envelope: "slash_commands", times: 1 })
    await slack.workspace.command(ROBIN, OPS, "a")
    await slack.workspace.command(ROBIN, OPS, "b")
    expect(got()).toEqual([["a", "b"], ["a"]])
    const [one, two] = peers.map((it) => it.received[0]?.envelope_id)
    expect(one).toBe(two)
  })

  test("can be sent again, word for word or forged, with the marks of a retry", async () => {
    await slack.workspace.command(ROBIN, OPS, "a")
    const [delivery] = slack.workspace.deliveries
    if (!delivery) throw new Error("nothing was delivered")
    const { envelope } = delivery
    const again = await slack.workspace.deliver({
      ...envelope,
      payload: { ...envelope.payload, user_id: "U0FORGED" },
      retry_attempt: 1,
    })
    expect(again).toMatchObject({ acked: true })
    expect(peers[1]?.received).toMatchObject([{ retry_attempt: 1, payload: { user_id: "U0FORGED", text: "a" } }])
  })

  test("can be the last thing on a connection", async () => {
    for (const peer of peers) peer.ack = () => undefined
    const hasty = slack.workspace.misbehave({ do: "drop-socket", times: 1 })
    const seen = slack.workspace.command(ROBIN, OPS, "a")
    await slack.workspace.waitFor(() => slack.workspace.sockets.count === 1)
    expect(hasty.hits).toBe(1)
    expect(await seen).toMatchObject({ acked: false, error: "operation_timeout" })
    expect(got()).toEqual([["a"], []])
  })
})

describe("connections", () => {
  test("ten at most", async () => {
    const peers = await Promise.all(Array.from({ length: 10 }, () => attach(slack)))
    expect(peers.map((it) => it.told[0]?.type)).toEqual(peers.map(() => "hello"))
    expect((await attach(slack)).told).toMatchObject([{ type: "disconnect", reason: "too_many_websockets" }])
    expect(slack.workspace.sockets.count).toBe(10)
  })

  test("a ticket opens one, once", async () => {
    const peer = await attach(slack)
    const again = new WebSocket(peer.socket.url)
    await expect(new Promise((resolve, reject) => again.on("open", resolve).on("error", reject))).rejects.toThrow("403")
    expect(slack.workspace.sockets.count).toBe(1)
  })

  test("a refresh asks every app to connect anew", async () => {
    const peer = await attach(slack)
    slack.workspace.sockets.refresh()
    await slack.workspace.command(ROBIN, OPS, "x")
    expect(peer.told.at(-1)).toMatchObject({ type: "disconnect", reason: "refresh_requested" })
  })
})
