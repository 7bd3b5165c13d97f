import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { ADA, AUDIT, BOT, OPS, OSCAR, ROBIN } from "../../src/sandbox/seed.ts"
import { type SandboxSlack, startSlack } from "../../src/sandbox/slack.ts"
import type { State } from "../../src/sandbox/workspace.ts"
import { actions, button, call, text } from "./call.ts"
import { attach } from "./peer.ts"

let slack: SandboxSlack
let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "page-"))
  await mkdir(join(dir, "page/assets"), { recursive: true })
  await writeFile(join(dir, "page/index.html"), "<title>page</title>")
  await writeFile(join(dir, "page/assets/app.js"), "1")
  await writeFile(join(dir, "secret.js"), "secret")
  slack = await startSlack({ pageDir: join(dir, "page") })
})
afterEach(async () => {
  await slack.close()
  await rm(dir, { recursive: true })
})

/** A request with any headers whatever, and its path sent as it is. */
function raw(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; body: string; type: string }> {
  const { hostname, port, host } = new URL(slack.url)
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method: options.method ?? "GET", headers: { host, ...options.headers } },
      (response) => {
        let body = ""
        response.on("data", (chunk: Buffer) => (body += chunk.toString()))
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body, type: response.headers["content-type"] ?? "" }),
        )
      },
    )
    sent.on("error", reject)
    sent.end(options.body)
  })
}

const origin = (): string => slack.url.slice(0, -1)
const act = async (
  name: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: unknown }> => {
  const { status, body: answer } = await raw(`/sandbox/${name}`, {
    method: "POST",
    headers: { origin: origin(), "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })
  return { status, body: JSON.parse(answer) as unknown }
}
const state = async (as: string): Promise<State> =>
  (await (await fetch(`${slack.url}sandbox/state?as=${as}`)).json()) as State

describe("the door", () => {
  test("it listens on loopback", () => {
    expect(new URL(slack.url).hostname).toBe("127.0.0.1")
  })

  test.each([
    ["a page's GET", "/", "GET"],
    ["the state", `/sandbox/state?as=${ROBIN}`, "GET"],
    ["an act", "/sandbox/home", "POST"],
    ["the Web API", "/api/auth.test", "POST"],
  ])("%s under another Host or from another Origin: refused", async (_what, path, method) => {
    const { port } = new URL(slack.url)
    for (const headers of [
      { host: `evil.example:${port}` },
      { host: "127.0.0.1" },
      { origin: "http://evil.example" },
      { origin: "null" },
    ]) {
      expect((await raw(path, { method, headers })).status).toBe(403)
    }
  })

  test("localhost is this server as well", async () => {
    const host = `localhost:${new URL(slack.url).port}`
    expect((await raw("/", { headers: { host, origin: `http://${host}` } })).status).toBe(200)
  })

  test("a socket from another site: refused", async () => {
    const { url } = await call(slack, "apps.connections.open", {}, slack.appToken)
    const socket = new WebSocket(String(url), { headers: { origin: "http://evil.example" } })
    await expect(new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject))).rejects.toThrow(
      "403",
    )
  })

  test("an act without Origin, not as JSON, unknown or senseless: refused", async () => {
    const body = JSON.stringify({ as: ROBIN, channel: OPS, text: "x" })
    const json = { "content-type": "application/json" }
    expect((await raw("/sandbox/message", { method: "POST", headers: json, body })).status).toBe(403)
    expect((await act("message", {}, { "content-type": "text/plain" })).status).toBe(415)
    expect((await act("shout", {})).status).toBe(404)
    expect((await act("message", { as: ROBIN })).status).toBe(400)
    expect((await act("message", [])).status).toBe(400)
    expect(slack.workspace.messages(OPS)).toEqual([])
  })

  test("nothing but GET and POST, and no act by GET", async () => {
    expect((await raw("/sandbox/home", { method: "PUT", headers: { origin: origin() } })).status).toBe(405)
    expect((await raw(`/sandbox/message?as=${ROBIN}&channel=${OPS}&text=x`)).status).toBe(404)
    expect((await raw(`/api/chat.postMessage?token=${slack.botToken}&channel=${OPS}&text=x`)).status).toBe(404)
    expect(slack.workspace.messages(OPS)).toEqual([])
  })

  test("a body beyond 4 MiB is refused", async () => {
    const body = `text=${"x".repeat(4 * 1024 * 1024)}`
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, { method: "POST", body }).catch(() => undefined)
    expect(response?.status ?? 413).toBe(413)
  })
})

describe("the page's files", () => {
  test("are served with their types", async () => {
    expect(await raw("/")).toEqual({ status: 200, body: "<title>page</title>", type: "text/html; charset=utf-8" })
    expect(await raw("/assets/app.js")).toMatchObject({ status: 200, type: "text/javascript; charset=utf-8" })
  })

  test.each([
    "/../secret.js",
    "/%2e%2e/secret.js",
    "/assets/..%2f..%2fsecret.js",
    "//secret.js",
    "/assets/",
    "/.env",
    "/none.js",
  ])("%s is not found", async (path) => {
    const { status, body } = await raw(path)
    expect({ status, secret: body.includes("secret") }).toEqual({ status: 404, secret: false })
  })
})

describe("what the page sees and does", () => {
  test("each person sees their channels, and nobody else's ephemerals and modals", async () => {
    await call(slack, "chat.postMessage", { channel: OPS, text: "for all" })
    await call(slack, "chat.postEphemeral", { channel: OPS, user: ROBIN, text: "for Robin" })
    await call(slack, "chat.postMessage", { channel: ROBIN, text: "direct" })
    const robin = await state(ROBIN)
    expect(robin.channels.map((it) => `${it.kind} ${it.name}`)).toEqual([
      "channel ops",
      "channel shared",
      "channel no-bot",
      "dm Countersign",
    ])
    expect(robin.messages[OPS]?.map((it) => [it.text, it.ephemeral])).toEqual([
      ["for all", undefined],
      ["for Robin", true],
    ])
    const oscar = await state(OSCAR)
    expect(oscar.messages[OPS]?.map((it) => it.text)).toEqual(["for all"])
    expect(Object.keys(oscar.messages)).not.toContain(AUDIT)
    expect((await state(ADA)).channels.map((it) => it.id)).toContain(AUDIT)
    expect(robin.notifications).toMatchObject([{ user: ROBIN, text: "direct", why: "dm" }])
    expect((await raw("/sandbox/state?as=U9")).status).toBe(404)
  })

  test("what somebody has not read is told to them, and stays so until they looked", async () => {
    const placesOf = async (as: string): Promise<unknown[]> =>
      (await state(as)).channels.map(({ name, unread, pings }) => [name, unread, pings]).filter(([, unread]) => unread)
    const { ts } = await call(slack, "chat.postMessage", { channel: OPS, text: `<@${ADA}> look` })
    const direct = await call(slack, "chat.postMessage", { channel: ADA, text: "and here" })
    expect(await placesOf(ADA)).toEqual([
      ["ops", true, 1],
      ["Countersign", true, 1],
    ])
    expect(await placesOf(ROBIN)).toEqual([["ops", true, 0]])
    expect((await act("read", { as: ADA, channel: OPS, ts })).body).toEqual({ ok: true })
    expect(await placesOf(ADA)).toEqual([["Countersign", true, 1]])
    expect((await state(ROBIN)).notifications).toMatchObject([
      { user: ADA, place: { id: OPS, name: "ops", kind: "channel" }, seen: true, gone: false },
      { user: ADA, place: { name: "Countersign", kind: "dm", with: BOT }, seen: false, gone: false },
    ])
    await act("read", { as: ADA, channel: OPS, ts: "1.1" })
    expect(await placesOf(ADA)).toEqual([["Countersign", true, 1]])
    await call(slack, "chat.delete", { channel: direct["channel"], ts: direct["ts"] })
    expect(await placesOf(ADA)).toEqual([])
    expect((await state(ADA)).notifications[1]).toMatchObject({ gone: true })
    slack.workspace.say(ADA, OPS, "on it")
    expect(await placesOf(ADA)).toEqual([])
  })

  test("a plain message, a command, a command in a thread", async () => {
    const peer = await attach(slack)
    peer.ack = () => ({ text: "started" })
    expect((await act("message", { as: ROBIN, channel: OPS, text: "hi <@U1>" })).body).toMatchObject({
      ok: true,
      response: { text: "hi &lt;@U1&gt;" },
    })
    expect((await act("message", { as: ROBIN, channel: OPS, text: "/agent  do it" })).body).toMatchObject({
      ok: true,
      response: { text: "started", ephemeral: true },
    })
    expect(peer.last()).toMatchObject({ command: "/agent", text: "do it" })
    expect((await act("message", { as: ROBIN, channel: OPS, thread_ts: "1.1", text: "/agent x" })).body).toEqual({
      ok: false,
      error: "command_in_thread",
    })
    expect((await act("message", { as: ROBIN, channel: AUDIT, text: "x" })).body).toEqual({
      ok: false,
      error: "not_posted",
    })
    expect(await state(ROBIN)).toMatchObject({ connected: 1 })
  })

  test("a press, a form and the home", async () => {
    const peer = await attach(slack)
    const { ts } = await call(slack, "chat.postMessage", { channel: OPS, text: "x", blocks: [actions(button("go"))] })
    expect((await act("click", { as: ADA, channel: OPS, ts, action_id: "go", block_id: "block-1" })).body).toEqual({
      ok: true,
    })
    const input = {
      type: "input",
      block_id: "b",
      label: text("Why"),
      element: { type: "plain_text_input", action_id: "a" },
    }
    const view = { type: "modal", title: text("Form"), submit: text("Send"), blocks: [input] }
    await call(slack, "views.open", { trigger_id: peer.last()["trigger_id"], view })
    const [open] = (await state(ADA)).views
    expect(open).toMatchObject({ type: "modal", title: { text: "Form" } })
    expect((await act("submit", { as: ADA, view_id: open?.id, values: { b: { a: "because" } } })).body).toMatchObject({
      ok: true,
    })
    expect((await state(ADA)).views).toEqual([])
    expect((await act("close", { as: ADA, view_id: open?.id })).body).toEqual({ ok: false, error: "no_such_view" })
    expect((await act("home", { as: ADA })).body).toEqual({ ok: true })
    expect(peer.last()).toMatchObject({ event: { type: "app_home_opened", tab: "home" } })
    expect((await act("home", { as: OSCAR, tab: "messages" })).body).toEqual({ ok: true })
    expect(peer.last()).toMatchObject({ event: { type: "app_home_opened", tab: "messages", user: OSCAR } })
    expect((await state(OSCAR)).channels).toContainEqual(expect.objectContaining({ kind: "dm", with: BOT }))
  })

  test("misbehaviour is set as a whole", async () => {
    await act("misbehave", { rules: [{ do: "error", method: "auth.test", error: "boo", times: 1 }] })
    expect((await state(ADA)).misbehave).toEqual([{ do: "error", method: "auth.test", error: "boo", times: 1 }])
    expect(await call(slack, "auth.test")).toMatchObject({ error: "boo" })
    await act("misbehave", { rules: [] })
    expect((await state(ADA)).misbehave).toEqual([])
    expect((await act("misbehave", { rules: [{ do: "explode" }] })).status).toBe(400)
  })

  test("a change is told to those who see it, and to them alone", async () => {
    const listen = async (as: string) => {
      const stream = await fetch(`${slack.url}sandbox/events?as=${as}`)
      expect(stream.headers.get("content-type")).toBe("text/event-stream")
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
      expect((await reader?.read())?.value).toBe(": open\n\n")
      return async () => (await reader?.read())?.value
    }
    const robin = await listen(ROBIN)
    const ada = await listen(ADA)
    let told = 0
    const next = robin().then((it) => {
      told += 1
      return it
    })
    await call(slack, "chat.postEphemeral", { channel: OPS, user: ADA, text: "not for Robin" })
    expect(await ada()).toBe("event: change\ndata: {}\n\n")
    expect(told).toBe(0)
    for (let n = 0; n < 20; n += 1) slack.workspace.say(ADA, OPS, `${n}`)
    expect(await next).toBe("event: change\ndata: {}\n\n")
  })
})
