import { createServer, type Server as HttpServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { createToolkit } from "../../src/agent/tool.ts"
import { createLog } from "../../src/log.ts"
import { call as callOn } from "../../src/tools/mcp/call.ts"
import { Servers, type ServersOptions } from "../../src/tools/mcp/servers.ts"
import { startEverything } from "../fakes/everything.ts"

type McpServer = ServersOptions["servers"][number]

async function started(url: string, more: { headers?: Record<string, string>; secrets?: string[] } = {}) {
  const server: McpServer = {
    kind: "http",
    name: "far",
    url,
    headers: more.headers ?? {},
    disabled: false,
    deny: [],
    timeout: 20_000,
    trustAnnotations: false,
  }
  const log = createLog({ level: "silent", secrets: [], mask: (text) => text })
  const all = new Servers({ servers: [server], taken: [], secrets: more.secrets ?? [], log, retryBase: 50 })
  onTestFinished(() => all.stop(5000))
  await all.start(60_000)
  const kit = await createToolkit({ sources: [all] })
  return { all, kit, call: (name: string, args = {}, ctx = {}) => kit.execute(name, args, ctx) }
}

test(
  "the tools of a public server are called over streamable HTTP, and found back after it was gone",
  { timeout: 120_000 },
  async () => {
    const { url, port, kill } = await startEverything()
    onTestFinished(kill)
    const { call, all } = await started(url)
    expect(await call("far_echo", { message: "hello" })).toEqual({ output: "Echo: hello", isError: false })
    const image = await call("far_get-tiny-image")
    expect(image.output).toMatch(/\[image image\/png, \d+ (?:bytes|kB), left out\]/)
    const weather = await call("far_get-structured-content", { location: "Chicago" })
    expect(JSON.parse(weather.output)).toMatchObject({ conditions: expect.any(String) })
    await kill()
    const away = await call("far_echo", { message: "hello" })
    expect(away).toMatchObject({
      isError: true,
      output: expect.stringMatching(/^the MCP server far is away .*was not executed/),
    })
    onTestFinished((await startEverything(port)).kill)
    await expect.poll(() => all.standing()[0]?.state.kind, { timeout: 60_000 }).toBe("ready")
    expect(await call("far_echo", { message: "again" })).toEqual({ output: "Echo: again", isError: false })
  },
)

test("of a server that never answered is told why: nothing listens, or nothing is at its path", async () => {
  const server = createServer((_, response) => response.writeHead(404).end("no page for sk-far"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const why = async (): Promise<unknown> =>
    (await started(`http://127.0.0.1:${port}/other`, { secrets: ["sk-far"] })).all.standing()[0]?.state
  expect(await why()).toEqual({ kind: "away", why: "it answered HTTP 404: no page for [our secret]" })
  await new Promise((resolve) => server.close(resolve))
  expect(await why()).toEqual({ kind: "away", why: expect.stringContaining("ECONNREFUSED") })
}, 60_000)

/** What a lying server answers to a call; it answers everything else well. */
async function lying(
  answer: (response: ServerResponse, id: number, auth: string | undefined) => void,
  describe = (auth: string | undefined): object => (auth === undefined ? {} : { description: "does" }),
) {
  let session = 0
  let calls = 0
  const server: HttpServer = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => void chunks.push(chunk))
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end()
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
        id?: number
        method: string
        params?: { protocolVersion?: string }
      }
      if (id === undefined) return void response.writeHead(202).end()
      const send = (result: object): void =>
        void response
          .writeHead(200, { "content-type": "application/json", "mcp-session-id": `s${session}` })
          .end(JSON.stringify({ jsonrpc: "2.0", id, result }))
      if (method === "initialize") {
        session += 1
        return send({
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "far", version: "1" },
        })
      }
      const described = describe(request.headers.authorization)
      if (method === "tools/list")
        return send({ tools: [{ name: "do", inputSchema: { type: "object" }, ...described }] })
      calls += 1
      answer(response, id, request.headers.authorization)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, calls: () => calls, sessions: () => session }
}

const UNKNOWN = { isError: true, metadata: { outcome: "unknown" } }

test.each<[string, (response: ServerResponse) => void, object, RegExp]>([
  [
    "is refused",
    (it) => it.writeHead(403).end("no"),
    { isError: true },
    /refused the call, so it was not executed: HTTP 403: no$/,
  ],
  [
    "is called a bad request",
    (it) => it.writeHead(400).end("the arguments are wrong"),
    { isError: true },
    /refused the call, so it was not executed: HTTP 400: the arguments are wrong$/,
  ],
  ["fails there", (it) => it.writeHead(502).end("bad gateway"), UNKNOWN, /^outcome unknown: .*HTTP 502/],
  ["loses its connection", (it) => void it.destroy(), UNKNOWN, /^outcome unknown: .*the connection failed/],
  [
    "has a stream that ends without an answer",
    (it) => it.writeHead(200, { "content-type": "text/event-stream" }).end(": nothing\n\n"),
    UNKNOWN,
    /^outcome unknown: .*the connection ended before its answer came/,
  ],
  [
    "is answered without an end",
    (it) => {
      it.writeHead(200, { "content-type": "application/json" })
      const more = (): void => void (it.destroyed || it.write("x".repeat(1 << 20), more))
      more()
    },
    UNKNOWN,
    /^outcome unknown/,
  ],
  [
    "is led elsewhere",
    (it) => it.writeHead(307, { location: "http://127.0.0.1:1/mcp" }).end(),
    { isError: true },
    /HTTP 307: Redirect to http:\/\/127\.0\.0\.1:1\/mcp not followed/,
  ],
  [
    "is answered with a page",
    (it) => it.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    UNKNOWN,
    /Unexpected content type/,
  ],
])("a call that %s", { timeout: 60_000 }, async (_, answer, result, words) => {
  const { url, calls } = await lying((response) => answer(response))
  const { call } = await started(url)
  const came = await call("far_do")
  expect(came).toMatchObject(result)
  expect(came.output).toMatch(words)
  // Whatever came of it, it was sent once.
  expect(calls()).toBe(1)
})

test.each([
  [404, "Not Found"],
  [400, "Bad Request: no valid session ID provided"],
])("a session that a server has forgotten (%d) is begun anew, and the call sent once more", async (status, words) => {
  let forgotten = 0
  const { url, sessions } = await lying((response, id) => {
    if (++forgotten === 1) return void response.writeHead(status).end(words)
    const result = { content: [{ type: "text", text: "done" }] }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }))
  })
  const { call } = await started(url)
  expect(await call("far_do")).toEqual({ output: "done", isError: false })
  expect(sessions()).toBe(2)
})

test("a header of ours that comes back is left out, of results and of errors", async () => {
  let calls = 0
  const { url } = await lying((response, id, auth) => {
    if (++calls === 2) return void response.writeHead(403).end(`wrong: ${auth}`)
    const result = { content: [{ type: "text", text: `you sent ${auth}` }] }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }))
  })
  const secret = "a-token-of-ours"
  const { call } = await started(url, { headers: { Authorization: `Bearer ${secret}` }, secrets: [secret] })
  expect((await call("far_do")).output).toBe("you sent Bearer [our secret]")
  expect((await call("far_do")).output).toMatch(/HTTP 403: wrong: Bearer \[our secret\]$/)
})

test("nor is it in what a server says of its tools, which a model and people read", async () => {
  const secret = "a-token-of-ours"
  const { url } = await lying(
    (response) => void response.writeHead(500).end(),
    (auth) => ({
      description: `for ${auth}`,
      inputSchema: { type: "object", properties: { who: { type: "string", description: `such as ${secret}` } } },
    }),
  )
  const { kit, all } = await started(url, { headers: { Authorization: `Bearer ${secret}` }, secrets: [secret] })
  expect(kit.get("far_do")).toMatchObject({ description: "for Bearer [our secret]" })
  expect(JSON.stringify([kit.tools(), all.standing()])).not.toContain(secret)
})

test.each([
  ["connect", "away"],
  ["read", "result"],
])("a way that breaks at %s: only what was certainly not sent is sent again", async (syscall, kind) => {
  const cause = Object.assign(new Error("no way"), { code: "EHOSTUNREACH", syscall })
  const client = { request: () => Promise.reject(new TypeError("fetch failed", { cause })), transport: undefined }
  const connection = { client, over: undefined, close: async () => undefined }
  const called = await callOn({
    connection: connection as unknown as Parameters<typeof callOn>[0]["connection"],
    server: "far",
    tool: "do",
    args: {},
    ctx: {},
    timeout: 1000,
    underway: new Map(),
    clean: (text) => text,
  })
  expect(called).toMatchObject(kind === "away" ? { kind } : { kind, result: UNKNOWN })
})
