import { LogLevel, type Logger } from "@slack/web-api"
import { expect, test } from "vitest"
import { createLog, type LogOptions, sdkLog } from "../src/log.ts"

function logged(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const out = { write: (line: string) => void lines.push(line) }
  const log = createLog({ level: "trace", secrets: [], mask: (text) => text, out, ...options })
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test("an entry is one line of JSON with an ISO time", () => {
  const { log, lines, entries } = logged()
  log.info({ run: "r1" }, "two\nlines")
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^[^\n]+\n$/)
  expect(entries()[0]).toMatchObject({ level: 30, run: "r1", msg: "two\nlines" })
  expect(entries()[0]?.["time"]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test("what is below the level is not written", () => {
  const { log, lines } = logged({ level: "warn" })
  log.info("no")
  log.warn("yes")
  expect(lines).toHaveLength(1)
})

test.each<[string, string]>([
  ["a token", "xoxb-1111-2222-abc"],
  ["a password with quotes and backslashes", 'p"a\\ss"word'],
  ["a password with signs that a URL escapes", "p@ss/word#1"],
  ["a key over two lines", "line one\nline two"],
  ["a key that is a pattern", "$&.*(secret)+"],
])("our own secret is left out everywhere: %s", (_, secret) => {
  const { log, lines, entries } = logged({ secrets: [secret] })
  const cause = new Error(`inner ${secret}`)
  const err = Object.assign(new Error(`outer ${secret}`, { cause }), { data: { headers: [`Bearer ${secret}`] } })
  log.error(
    { err, [secret]: 1, url: `https://x/?k=${encodeURIComponent(secret)}`, deep: { list: [secret] } },
    `m ${secret}`,
  )
  log.child({ token: secret }).info("child")
  const all = lines.join("")
  expect(all).not.toContain(secret)
  expect(all).not.toContain(JSON.stringify(secret).slice(1, -1))
  expect(all).not.toContain(encodeURIComponent(secret))
  expect(entries()[0]).toMatchObject({ msg: "m [secret]", deep: { list: ["[secret]"] }, "[secret]": 1 })
  expect(entries()[1]).toMatchObject({ token: "[secret]" })
})

test("of two secrets that contain each other no rest remains", () => {
  const { log, entries } = logged({ secrets: ["hunter2hunter2", "hunter2hunter2-and-more"] })
  log.info("hunter2hunter2-and-more hunter2hunter2")
  expect(entries()[0]).toMatchObject({ msg: "[secret] [secret]" })
})

test("a dummy key of a few letters tears no holes into words", () => {
  const { log, entries } = logged({ secrets: ["none", ""] })
  log.info("none of it")
  expect(entries()[0]).toMatchObject({ msg: "none of it" })
})

test("other people's secrets are masked in every string, and the line stays JSON", () => {
  // A mask as greedy as this would eat the quotes of the line if it were given the line.
  const mask = (text: string) => text.replace(/Bearer .*/s, "Bearer [masked]")
  const { log, entries } = logged({ mask })
  log.info({ headers: ["Bearer abc", "plain"], err: new Error("Bearer abc\nmore"), n: 5 }, "Bearer abc")
  expect(entries()[0]).toMatchObject({ headers: ["Bearer [masked]", "plain"], msg: "Bearer [masked]", n: 5 })
  expect(JSON.stringify(entries()[0])).not.toContain("abc")
})

test("Slack's SDK logs through it: errors keep their stack, debug is trace, names are kept, our level decides", () => {
  const { log, entries } = logged()
  const sdk: Logger = sdkLog<LogLevel>(log)
  sdk.setName("web-api")
  sdk.setLevel(LogLevel.ERROR)
  sdk.debug("payload", { a: 1 })
  sdk.warn("failed:", new Error("boom"))
  expect(entries()).toMatchObject([
    { level: 10, sdk: "web-api", msg: 'payload {"a":1}' },
    {
      level: 40,
      sdk: "web-api",
      msg: "failed: boom",
      err: { message: "boom", stack: expect.stringContaining("log.test") },
    },
  ])
  expect(sdk.getLevel()).toBe(LogLevel.DEBUG)
})

test.each([
  ["debug", "info"],
  ["info", "info"],
  ["warn", "warn"],
  ["error", "error"],
  ["silent", "error"],
] as const)("at level %s Slack's SDK is told %s", (level, told) => {
  expect(sdkLog(logged({ level }).log).getLevel()).toBe(told)
})
