import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { slackClient } from "../../src/slack/client.ts"
import { isSlacks, partsOf, type FileLimits } from "../../src/slack/files.ts"

const TOKEN = "xoxb-the-bots-token"
const PNG = Buffer.from("\x89PNG\r\n\x1a\nwhatever follows", "latin1")

type Answer = (request: IncomingMessage, response: ServerResponse) => void
/** What the local Slack answers, by path. */
const answers = new Map<string, Answer>()
const asked: IncomingMessage[] = []
const server = createServer((request, response) => {
  asked.push(request)
  const answer = answers.get(request.url ?? "")
  if (answer) answer(request, response)
  else response.writeHead(404).end()
})
let origin = ""

beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, "close")
})

const logged: unknown[] = []
const note = (...line: unknown[]): void => void logged.push(line)

function attached(files: unknown, limits: FileLimits = { files: 5, megabytes: 1 }) {
  const client = slackClient({ token: TOKEN, apiUrl: `${origin}/api/` })
  return partsOf({ client, log: { info: note, warn: note, error: note }, files: limits }, files)
}

let paths = 0
/** A file of the local Slack, as an event names it. */
function file(
  name: string,
  body: Buffer | string | Answer,
  more: Record<string, unknown> & { mimetype?: string } = {},
) {
  const path = `/files-pri/${++paths}`
  answers.set(path, (request, response) => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) response.writeHead(302, { location: "/signin" }).end()
    else if (typeof body === "function") body(request, response)
    else response.writeHead(200, { "content-type": more.mimetype ?? "text/plain" }).end(body)
  })
  const size = typeof body === "function" ? undefined : Buffer.byteLength(body)
  return { id: `F${paths}`, name, size, url_private_download: `${origin}${path}`, ...more }
}

const html: Answer = (_, response) =>
  void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<!DOCTYPE html><title>Sign in")

describe("what people attach", () => {
  test.each([
    ["a.png", PNG, "image/png"],
    ["b.jpg", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1]), "image/jpeg"],
    ["c.webp", Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"), "image/webp"],
    ["d.gif", Buffer.from("GIF89a…", "latin1"), "image/gif"],
    ["e.pdf", Buffer.from("%PDF-1.7\n%…", "latin1"), "application/pdf"],
  ])("%s is handed over whole, by what its bytes are and not by its name", async (filename, bytes, mediaType) => {
    const { parts, notes } = await attached([file(filename, bytes, { mimetype: "text/plain" })])
    expect(parts).toEqual([{ type: "file", mediaType, data: bytes.toString("base64"), filename }])
    expect(notes).toEqual([])
  })

  test("text is handed over as text, whatever it is called, and too much of it is cut with a word", async () => {
    const { parts } = await attached([file("web.log", "ERR ü\n\tat x"), file("much.csv", "x".repeat(100_007))])
    expect(parts[0]).toEqual({ type: "text", text: 'The attached file "web.log":\n\nERR ü\n\tat x' })
    expect(parts[1]).toMatchObject({ text: expect.stringMatching(/x\n\[7 more characters were left out\]$/) })
  })

  test.each<[string, () => unknown, RegExp]>([
    ["of no kind that can be read", () => file("a.zip", Buffer.from("PK\x03\x04\0\0", "latin1")), /neither an image/],
    ["with another's name", () => file("a.png", Buffer.from([0xc3, 0x28])), /neither an image/],
    ["that is empty", () => file("a.txt", ""), /it is empty/],
    ["that says it is too large", () => file("a.txt", "x", { size: 1_000_001 }), /too large/],
    ["that is too large and says otherwise", () => file("a.txt", "x".repeat(1_000_001), { size: 3 }), /too large/],
    [
      "that unpacks to too much",
      () =>
        file("a.txt", (_, response) =>
          response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(3_000_000, "x"))),
        ),
      /too large/,
    ],
    ["for which Slack shows a page to sign in", () => file("a.png", html, { mimetype: "image/png" }), /files:read/],
    [
      "for which it does so instead of a page",
      () => file("a.html", html, { mimetype: "text/html", size: 9 }),
      /files:read/,
    ],
    [
      "for which Slack leads elsewhere",
      () => file("a.png", (_, it) => it.writeHead(302, { location: `${origin}/x` }).end()),
      /files:read/,
    ],
    ["that is gone", () => ({ ...file("a.png", PNG), url_private_download: `${origin}/none` }), /files:read/],
    [
      "that breaks off",
      () => file("a.png", (_, it) => (it.writeHead(200, { "content-length": "99" }).write("x"), it.destroy())),
      /could not be downloaded/,
    ],
    ["that was deleted", () => ({ name: "a.png", mode: "tombstone" }), /not there any more/],
    [
      "that is kept elsewhere",
      () => ({ ...file("a.png", PNG), mode: "external", is_external: true }),
      /not kept by Slack/,
    ],
    ["without an address", () => ({ name: "a.png" }), /not kept by Slack/],
    ["that is nothing", () => "a.png", /not kept by Slack/],
  ])("a file %s is not handed over: the person and the model are told why", async (_, made, words) => {
    const { parts, notes } = await attached([made()])
    expect(notes).toEqual([expect.stringMatching(words)])
    expect(parts).toEqual([{ type: "text", text: expect.stringContaining(notes[0] ?? "?") }])
  })

  test("as many are taken as may be, and of the rest each is told", async () => {
    const files = Array.from({ length: 23 }, (_, n) => file(`${n}.txt`, `text ${n}`))
    const { parts, notes } = await attached(files, { files: 2, megabytes: 1 })
    expect(parts.slice(0, 2)).toMatchObject([
      { text: expect.stringContaining("text 0") },
      { text: expect.stringContaining("text 1") },
    ])
    expect(notes).toHaveLength(19)
    expect(notes[0]).toBe("“2.txt” was not handed to the agent: at most 2 at once are.")
    expect(notes.at(-1)).toContain("3 more files")
    const none = await attached(files.slice(0, 1), { files: 0, megabytes: 1 })
    expect(none.notes).toEqual(["“0.txt” was not handed to the agent: this bot takes no files."])
  })

  test("all files of a message share the room", async () => {
    const { notes } = await attached([file("a", "x".repeat(600_000)), file("b", "y".repeat(600_000)), file("c", "z")])
    expect(notes).toEqual([
      expect.stringContaining("“b” was not handed to the agent: the files of the message are too large"),
    ])
  })

  test("of a file that comes as an id alone Slack is asked", async () => {
    const it = file("a.txt", "shared")
    answers.set(
      "/api/files.info",
      (_, response) =>
        void response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ ok: true, file: it })),
    )
    const { parts } = await attached([{ id: "F1", file_access: "check_file_info" }])
    // Its name is known then, too.
    expect(parts).toMatchObject([{ text: expect.stringMatching(/^The attached file "a\.txt":\n\nshared/) }])
  })

  test("what is no list of files is none", async () => {
    expect(await attached(undefined)).toEqual({ parts: [], notes: [] })
    expect(await attached({ length: 3 })).toEqual({ parts: [], notes: [] })
  })

  test("a name makes neither a line nor a mention, and nothing of a file is logged", async () => {
    const { parts, notes } = await attached([file('a"\n<!channel>\u202e', "zip\0"), file("b.txt", "the contents")])
    expect(JSON.stringify([parts, notes])).not.toMatch(/\u202e/)
    expect(notes[0]?.split("\n")).toHaveLength(1)
    expect(JSON.stringify(logged)).not.toMatch(/the contents|xoxb|channel/)
  })
})

test.each([
  ["https://files.slack.com/files-pri/T1-F1/a.png", "https://slack.com/api/", true],
  ["http://files.slack.com/a", "https://slack.com/api/", false],
  ["https://files.slack.com:8443/a", "https://slack.com/api/", false],
  ["https://files.slack.com.evil.example/a", "https://slack.com/api/", false],
  ["https://evil.example/files.slack.com", "https://slack.com/api/", false],
  ["https://files.slack.com@evil.example/", "https://slack.com/api/", false],
  ["https://u:p@files.slack.com/", "https://slack.com/api/", false],
  ["http://127.0.0.1:4000/f", "https://slack.com/api/", false],
  ["http://127.0.0.1:4000/f", "http://127.0.0.1:4000/api/", true],
  ["http://127.0.0.1:4001/f", "http://127.0.0.1:4000/api/", false],
  ["https://files.slack.com/a", "http://127.0.0.1:4000/api/", false],
  ["file:///etc/passwd", "https://slack.com/api/", false],
  ["nonsense", "https://slack.com/api/", false],
])("the token goes to %s, where the API is %s: %s", (address, api, may) => {
  expect(isSlacks(address, api)).toBe(may)
})
