import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { httpTools } from "../../src/config/http-tools.ts"
import { httpTool } from "../../src/tools/http.ts"
import { loadTools } from "../../src/tools/modules.ts"

const SECRET = "tok-5f0c1e8a77"

/** The settings as the configuration reads them, or its faults. */
function settingsOf(...given: Record<string, unknown>[]) {
  const secrets: string[] = []
  const around = { env: { TOKEN: SECRET, BROKEN: "a\r\nX-Evil: 1", PAIR: Buffer.from("bot:pass-word-1").toString("base64") }, folder: "/", secret: (value: string) => secrets.push(value) } // prettier-ignore
  const whole = given.map((one) => ({ name: "t", description: "d", ...one }))
  const read = z.safeParse(httpTools(around), whole)
  return { secrets, read }
}

function toolOf(given: Record<string, unknown>) {
  const { read } = settingsOf(given)
  if (!read.success) throw read.error
  const [settings] = read.data
  if (!settings) throw new Error("no tool")
  return httpTool(settings)
}

/** A server, and what it was asked. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const asked: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = []
  const listener: RequestListener = (request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      asked.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body })
      answer(request, response, body)
    })
  }
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, asked }
}

const echo = (_request: IncomingMessage, response: ServerResponse): void => void response.end("ok")
const STRING = { type: "string" }

describe("what is sent", () => {
  const orders = (url: string, more: object = {}) =>
    toolOf({
      url: `${url}/shops/{shop}/orders/{id}?full=1&as={as}`,
      allowPrivate: true,
      inputSchema: { properties: { shop: STRING, id: {}, as: STRING, tags: {}, note: {} }, required: ["shop", "id"] },
      ...more,
    })

  test.each<[string, Record<string, unknown>, string]>([
    ["plain values", { shop: "a", id: 7 }, "/shops/a/orders/7?full=1&as="],
    ["a slash", { shop: "a/b", id: 1 }, "/shops/a%2Fb/orders/1?full=1&as="],
    ["a question mark and a hash", { shop: "a?x=1#y", id: 1 }, "/shops/a%3Fx%3D1%23y/orders/1?full=1&as="],
    ["a second parameter", { shop: "a", id: 1, as: "x&full=0" }, "/shops/a/orders/1?full=1&as=x%26full%3D0"],
    ["an encoded dot", { shop: "%2e%2e", id: 1 }, "/shops/%252e%252e/orders/1?full=1&as="],
    ["line breaks", { shop: "a\r\nHost: b", id: 1 }, "/shops/a%0D%0AHost%3A%20b/orders/1?full=1&as="],
    [
      "letters of the world and signs",
      { shop: "ö('*!)@", id: 1 },
      "/shops/%C3%B6%28%27%2A%21%29%40/orders/1?full=1&as=",
    ],
    [
      "the rest behind the question mark",
      { shop: "a", id: 1, tags: ["x", "y z"], note: { a: 1 } },
      "/shops/a/orders/1?full=1&as=&tags=x&tags=y+z&note=%7B%22a%22%3A1%7D",
    ],
    ["null as nothing", { shop: "a", id: 1, note: null }, "/shops/a/orders/1?full=1&as="],
  ])("has %s where they belong", async (_, args, path) => {
    const { url, asked } = await serve(echo)
    expect(await orders(url).execute(args)).toEqual({ output: "ok", isError: false })
    expect(asked.map((one) => one.url)).toEqual([path])
  })

  test.each<[Record<string, unknown>, RegExp]>([
    [{ shop: "..", id: 1 }, /shop must not lead up or along a path/],
    [{ shop: ".", id: 1 }, /shop must not lead/],
    [{ shop: "a/../../admin", id: 1 }, /shop must not lead/],
    [{ shop: "..\\admin", id: 1 }, /shop must not lead/],
    [{ shop: "..;/admin", id: 1 }, /shop must not lead/],
    [{ shop: "", id: 1 }, /shop is empty/],
    [{ shop: " ", id: 1 }, /shop is empty/],
    [{ id: 1 }, /shop stands in the address, so it must be/],
    [{ shop: "a", id: { x: 1 } }, /id stands in the address/],
    [{ shop: "a", id: ["1"] }, /id stands in the address/],
    [{ shop: "a", id: null }, /id stands in the address/],
  ])("is nothing for %j, which would make another address", async (args, words) => {
    const { url, asked } = await serve(echo)
    const result = await orders(url).execute(args)
    expect(result).toEqual({ output: expect.stringMatching(words), isError: true })
    expect(result.output).toMatch(/Nothing was sent, so it was not executed\.$/)
    expect(asked).toEqual([])
  })

  test("is a JSON body of what has no other place, our headers with their secret, and nothing twice", async () => {
    const { url, asked } = await serve(echo)
    const tool = orders(url, {
      method: "POST",
      query: ["tags"],
      headers: { Authorization: "Bearer ${TOKEN}", Accept: "text/plain" },
    })
    await tool.execute({ shop: "a", id: 1, tags: "x", note: { deep: [1, "ö"] } })
    expect(asked[0]).toMatchObject({
      method: "POST",
      url: "/shops/a/orders/1?full=1&as=&tags=x",
      body: '{"note":{"deep":[1,"ö"]}}',
    })
    expect(asked[0]?.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      "content-type": "application/json",
      accept: "text/plain",
    })
    expect(tool.effects).toBe("once")
    expect(tool.summary?.({ shop: "a/b", id: 1 })).toMatch(/^POST 127\.0\.0\.1:\d+\/shops\/a%2Fb\/orders\/1$/)
  })

  test("args that the schema does not know are refused, and without one it is what the address has", async () => {
    const tool = toolOf({ url: "https://api.example.com/orders/{id}" })
    expect(tool).toMatchObject({
      effects: "none",
      inputSchema: { properties: { id: STRING }, required: ["id"], additionalProperties: false },
    })
  })
})

describe("what comes back", () => {
  const tool = (url: string, more: object = {}) => toolOf({ url: `${url}/x`, allowPrivate: true, headers: { Authorization: "Bearer ${TOKEN}", "X-Pair": "Basic ${PAIR}" }, ...more }) // prettier-ignore
  const answer = async (listener: Parameters<typeof serve>[0], more: object = {}) => {
    const server = await serve(listener)
    return { ...server, result: await tool(server.url, more).execute({}) }
  }

  test("is an error with status and body, when it is no 2xx", async () => {
    const { result } = await answer((_, response) =>
      response.writeHead(404, "\u00a1weg!").end('{"error":"no such order"}'),
    )
    expect(result).toEqual({ output: 'HTTP 404\n{"error":"no such order"}', isError: true })
  })

  test("is its status, when there is nothing else", async () => {
    const { result } = await answer((_, response) => response.writeHead(204).end())
    expect(result).toEqual({ output: "HTTP 204", isError: false })
  })

  test("has none of our secrets, however they are echoed, also where it is cut", async () => {
    const spellings = [
      SECRET,
      encodeURIComponent(SECRET),
      Buffer.from(SECRET).toString("base64"),
      "pass-word-1",
      JSON.stringify({ a: `Bearer ${SECRET}` }),
    ]
    const { result } = await answer((_, response) => response.writeHead(500).end(spellings.join("\n")))
    expect(result.output).toBe(
      ["HTTP 500", "[our secret]", "[our secret]", "[our secret]", "[our secret]", '{"a":"Bearer [our secret]"}'].join(
        "\n",
      ),
    )
    const cut = await answer((_, response) => response.end(`${"x".repeat(90)}${SECRET}`), { maxBytes: 100 })
    expect(cut.result.output).toBe(`${"x".repeat(90)}[our secret]\n[cut here: the answer has more than 100 bytes]`)
  })

  test("is cut with a mark, and a flood is not read to its end", async () => {
    let sent = 0
    const { result } = await answer((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("y".repeat(10_000))) sent += 10_000
        if (!response.destroyed) response.once("drain", more)
      }
      more()
    }, { maxBytes: 1000 }) // prettier-ignore
    expect(result).toEqual({
      output: `${"y".repeat(1000)}\n[cut here: the answer has more than 1,000 bytes]`,
      isError: false,
    })
    expect(sent).toBeLessThan(50_000_000)
  })

  test("is unpacked no further than the limit", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, "z"))
    const { result } = await answer(
      (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
      { maxBytes: 2000 },
    )
    expect(result.output).toBe(`${"z".repeat(2000)}\n[cut here: the answer has more than 2,000 bytes]`)
  })

  test.each<[string, Parameters<typeof serve>[0], RegExp]>([
    [
      "packed but is not",
      (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no"),
      /could not be unpacked \(Z_DATA_ERROR\)/,
    ],
    [
      "packed in a way nobody asked for",
      (_, response) => response.writeHead(200, { "content-encoding": "zstd" }).end("no"),
      /packing that was not asked for/,
    ],
    [
      "broken off",
      (_, response) => response.writeHead(200, { "content-length": 10 }).write("x", () => response.destroy()),
      /broke off/,
    ],
    ["no HTTP", (_, response) => response.socket?.end("nonsense\r\n\r\n"), /broke off, or sent what is no HTTP/],
    [
      "headers without end",
      (_, response) => response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`),
      /no HTTP \(HPE_HEADER_OVERFLOW\)/,
    ],
  ])("is an error in words when it is %s", async (_, listener, words) => {
    const { result } = await answer(listener)
    expect(result).toEqual({ output: expect.stringMatching(words), isError: true })
    const changing = await answer(listener, { method: "POST" })
    expect(changing.result).toEqual({
      output: expect.stringMatching(
        /^outcome unknown: the request was sent, and .*Whether it took effect is not known\.$/,
      ),
      isError: true,
      metadata: { outcome: "unknown" },
    })
    expect(changing.result.output).toMatch(words)
  })

  test.each<[string, string | Buffer, string | RegExp]>([
    ["application/json; charset=ISO-8859-1", Buffer.from("sch\u00f6n", "latin1"), "schön"],
    ["text/plain; charset=nonsense", "schön", "schön"],
    ["application/json", "<html>", "<html>"],
    ["image/png", Buffer.from([0x89, 0x50, 0, 1, 2]), "[image/png, 5 bytes, not shown: it is no text]"],
    ["text/plain", Buffer.from(Array.from({ length: 50 }, () => 0xff)), /^\[text\/plain, 50 bytes, not shown/],
    ["evil\u00e9/x", Buffer.from([0, 0]), /^\[not text, 2 bytes/],
  ])("of type %s is read as what it is", async (type, body, output) => {
    const { result } = await answer((_, response) => {
      response.socket?.write(Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`, "latin1")) // prettier-ignore
      response.socket?.end(body)
    })
    expect(result).toEqual({
      output: typeof output === "string" ? output : expect.stringMatching(output),
      isError: false,
    })
  })

  test("that never ends, or never begins, within the tool's time is of unknown outcome", async () => {
    const hanging = await answer((_, response) => void response.write("x"), { timeout: "1s", method: "POST" })
    const host = `127.0.0.1:${hanging.port}`
    expect(hanging.result).toEqual({
      output: `outcome unknown: the request was sent, and ${host} did not answer within 1 s; its answer began with HTTP 200. Whether it took effect is not known.`,
      isError: true,
      metadata: { outcome: "unknown" },
    })
    const silent = async (more: object) => (await answer(() => undefined, { timeout: "1s", ...more })).result
    const unknown = { isError: true, metadata: { outcome: "unknown" } }
    const known = { output: expect.stringMatching(/within 1 s\.$/), isError: true }
    // It is what a call does that counts, not how it is sent.
    const changing = [{ method: "DELETE" }, { method: "PUT", effects: "repeatable" }, { effects: "once" }]
    const harmless = [{}, { method: "POST", effects: "none" }]
    expect(await Promise.all(changing.map(silent))).toMatchObject([unknown, unknown, unknown])
    expect(await Promise.all(harmless.map(silent))).toEqual([known, known])
  })

  test("of a call that is told to stop is why, and unknown where it may have taken effect", async () => {
    const stopped = async (more: object) => {
      const stop = new AbortController()
      const { url } = await serve(() => stop.abort(new Error("the run was cancelled")))
      return tool(url, more).execute({}, { signal: stop.signal })
    }
    expect(await stopped({})).toEqual({ output: "the run was cancelled.", isError: true })
    expect(await stopped({ method: "POST" })).toEqual({
      output: "outcome unknown: the request was sent, and the run was cancelled. Whether it took effect is not known.",
      isError: true,
      metadata: { outcome: "unknown" },
    })
    const before = { signal: AbortSignal.abort(new Error("the run was cancelled")) }
    const { url, asked } = await serve(echo)
    expect(await tool(url, { method: "POST" }).execute({}, before)).toEqual({
      output: "the run was cancelled. Nothing was sent, so it was not executed.",
      isError: true,
    })
    expect(asked).toEqual([])
  })

  test("says that nothing was executed, when nothing was sent", async () => {
    const unsent = async (url: string, more: object = {}) => tool(url, { method: "POST", ...more }).execute({})
    expect(await unsent("http://127.0.0.1:9")).toEqual({
      output: "127.0.0.1:9 can't be reached (ECONNREFUSED). Nothing was sent, so it was not executed.",
      isError: true,
    })
    expect(await unsent("https://nowhere.invalid")).toEqual({
      output: expect.stringMatching(
        /^nowhere\.invalid can't be reached \(\w+\)\. Nothing was sent, so it was not executed\.$/,
      ),
      isError: true,
    })
    const { port, asked } = await serve(echo)
    expect(await unsent(`https://localhost:${port}`, { allowPrivate: false })).toEqual({
      output: expect.stringMatching(/may not reach\. Nothing was sent, so it was not executed\.$/),
      isError: true,
    })
    // It takes the greeting of a secure connection for nonsense: nothing of the call itself went out.
    expect(await unsent(`https://127.0.0.1:${port}`)).toEqual({
      output: expect.stringMatching(/Nothing was sent, so it was not executed\.$/),
      isError: true,
    })
    expect(asked).toEqual([])
  })

  test.each([500, 502, 503, 400])("with HTTP %d is an answer also to what may have taken effect", async (status) => {
    const { result } = await answer((_, response) => response.writeHead(status).end("no"), { method: "POST" })
    expect(result).toEqual({ output: `HTTP ${status}\nno`, isError: true })
  })
})

describe("a redirect", () => {
  const redirecting = async (to: (own: string) => string, status = 302, more: object = {}) => {
    const server: Awaited<ReturnType<typeof serve>> = await serve((request, response) => {
      if (request.url === "/x") response.writeHead(status, { location: to(server.url) }).end()
      else response.end(`at ${request.url}`)
    })
    const tool = toolOf({
      url: `${server.url}/x`,
      allowPrivate: true,
      headers: { Authorization: "Bearer ${TOKEN}" },
      ...more,
    })
    return { ...server, result: await tool.execute({}) }
  }

  test("on the same host is followed", async () => {
    const { result, asked } = await redirecting(() => "/y?z=1")
    expect(result.output).toBe("at /y?z=1")
    expect(asked[1]?.headers.authorization).toBe(`Bearer ${SECRET}`)
  })

  test("to another host is not", async () => {
    const other = await serve(echo)
    const { result } = await redirecting(() => `${other.url}/y`)
    expect(result).toEqual({
      output: expect.stringMatching(
        /redirects to http:\/\/127\.0\.0\.1:\d+, which is not among the tool's allowedHosts/,
      ),
      isError: true,
    })
    expect(other.asked).toEqual([])
  })

  test("to an allowed host goes without our headers, and never into a private network", async () => {
    const other = await serve(echo)
    const { result } = await redirecting(() => `http://localhost:${other.port}/y`, 302, { allowedHosts: ["localhost"] })
    expect(result).toEqual({
      output: expect.stringMatching(/localhost is on this machine or in a private network/),
      isError: true,
    })
    expect(other.asked).toEqual([])
  })

  test.each([
    ["the cloud's own address", "http://169.254.169.254/latest/meta-data", ["169.254.169.254"], /no tool may reach/],
    ["a file", "file:///etc/passwd", [], /which is not https/],
    ["plain text of a scheme", "javascript:alert(1)", [], /which is not https/],
  ])("to %s leads nowhere", async (_, to, allowedHosts, words) => {
    const { result } = await redirecting(() => to, 302, {
      allowedHosts: allowedHosts.filter((host) => /[a-z]/.test(host)),
    })
    expect(result.isError).toBe(true)
    expect(result.output).toMatch(allowedHosts.length > 0 ? /not among the tool's allowedHosts/ : words)
  })

  test("of anything but a GET is an error that says where it would lead", async () => {
    const { result, asked } = await redirecting(() => "/y", 307, { method: "POST" })
    expect(result).toEqual({ output: "HTTP 307, to /y; not followed", isError: true })
    expect(asked).toHaveLength(1)
  })

  test("without end ends", async () => {
    const { result, asked } = await redirecting((own) => `${own}/x`)
    expect(result.output).toMatch(/redirects more than 5 times/)
    expect(asked).toHaveLength(6)
  })
})

describe("the configuration", () => {
  const fault = (given: Record<string, unknown>): string[] => {
    const { read } = settingsOf(given)
    return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`)
  }

  test.each<[Record<string, unknown>, RegExp]>([
    [{ url: "https://{host}/x" }, /0\.url must have its placeholders behind the host/],
    [{ url: "https://api.example.com:{port}/" }, /0\.url must be an address/],
    [{ url: "https://u:p@api.example.com/" }, /no user or password/],
    [{ url: "https://api.example.com/{id}#top" }, /must not have a #/],
    [{ url: "https://api.example.com/{}" }, /a \{ or \} that is no placeholder/],
    [{ url: "https://api.example.com/${TOKEN}" }, /\$\{NAME\} works in headers only/],
    [{ url: "http://api.example.com/" }, /must be an https address; http is for/],
    [{ url: "ftp://api.example.com/" }, /must be an https address/],
    [{ url: "https://a.example.com/", timeout: "1h" }, /0\.timeout must be at most 10m/],
    [{ url: "https://a.example.com/", methods: "GET" }, /did you mean method\?/],
    [
      { url: "https://a.example.com/", headers: { Authorization: "Bearer abc" } },
      /0\.headers\.Authorization must take its secret from the environment/,
    ],
    [{ url: "https://a.example.com/", headers: { "X-A": "${BROKEN}" } }, /0\.headers\.X-A must be one line/],
    [{ url: "https://a.example.com/", headers: { "X-A": "${SLACK_BOT_TOKEN}" } }, /the bot's own secret/],
    [{ url: "https://a.example.com/", headers: { "X-A": "${NOWHERE}" } }, /NOWHERE is not set/],
    [{ url: "https://a.example.com/", headers: { "X A": "b" } }, /is no header's name/],
    [{ url: "https://a.example.com/", headers: { Host: "b" } }, /is a header that is set for each request/],
    [
      { url: "https://a.example.com/", allowedHosts: ["https://b.example.com"] },
      /0\.allowedHosts\.0 must be a host's name/,
    ],
  ])("%j is a fault with its remedy, that repeats no secret", (given, words) => {
    expect(fault(given)).toEqual([expect.stringMatching(words)])
    expect(fault(given).join()).not.toContain("X-Evil")
  })

  test("what its secrets stand for is known to the log", () => {
    expect(
      settingsOf({ url: "https://a.example.com/", headers: { Authorization: "Bearer ${TOKEN}" } }).secrets,
    ).toEqual([SECRET])
  })

  test("endpoints whose address and schema don't fit, or whose name is taken, don't start", async () => {
    const { read } = settingsOf(
      { name: "a", url: "https://a.example.com/{id}", inputSchema: { properties: { id: STRING } }, query: ["q"] },
      { name: "a", url: "http://127.0.0.1/", allowPrivate: true },
      { name: "b", url: "https://10.0.0.1/" },
      { name: "c", url: "https://169.254.169.254/" },
      { name: "d", url: "https://a.example.com/", inputSchema: { properties: { x: { type: "strin" } } } },
    )
    const loaded = await loadTools([], read.data)
    expect(loaded).toMatchObject({
      ok: false,
      names: ["a", "b", "c", "d"],
      faults: [
        "httpTools: tool a: url has {id}, which inputSchema must require.",
        "httpTools: tool a: url or query has q, which inputSchema does not know.",
        "httpTools: tool b: 10.0.0.1 is on this machine or in a private network, which this tool may not reach: say allowPrivate: true if that is meant.",
        "httpTools: tool c: 169.254.169.254 has an address that no tool may reach.",
        expect.stringMatching(/^httpTools: tool d: inputSchema is wrong: /),
        "httpTools (GET http://127.0.0.1): tool a is there twice, first in httpTools (GET https://a.example.com): rename one.",
      ],
    })
  })
})
