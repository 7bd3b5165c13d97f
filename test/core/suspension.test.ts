import assert from "node:assert"
import { describe, expect, test } from "vitest"
import type { Request, ToolResult } from "../../src/core/suspension.ts"
import {
  answerDeclined,
  answerOf,
  answerOutput,
  authRequired,
  pending,
  pendingOf,
  refusalOutput,
  requestOf,
  suspensionOf,
  unresolvedOutput,
} from "../../src/core/suspension.ts"

const noId = "" as string
const loosely = (value: unknown) => value as never

describe("answerDeclined", () => {
  test("says no, with the reason declined by default", () => {
    assert.deepStrictEqual(answerDeclined("req-1"), { id: "req-1", ok: false, reason: "declined" })
    expect(answerDeclined("req-1", undefined).reason).toBe("declined")
    expect(answerDeclined("req-1", null).reason).toBe("declined")
  })

  test.each(["expired", "cancelled", "manager rejected: over budget", "", "ok"])("carries the reason %j", (reason) => {
    assert.deepStrictEqual(answerDeclined("req-1", reason), { id: "req-1", ok: false, reason })
  })

  test.each([noId, "  ", undefined, null, 5, {}, true])("refuses the id %j", (id) => {
    expect(() => answerDeclined(loosely(id))).toThrow(/id is required/)
    expect(() => answerDeclined(loosely(id))).toThrow(TypeError)
    expect(() => answerDeclined(loosely(id))).toThrow("answerDeclined: id is required (it must match the Request's id)")
  })

  test("has pinned bytes and never a data key", () => {
    expect(JSON.stringify(answerDeclined("req-1"))).toBe('{"id":"req-1","ok":false,"reason":"declined"}')
    expect(Object.keys(answerDeclined("req-1"))).toEqual(["id", "ok", "reason"])
  })
})

describe("answerOutput", () => {
  test("carries a text, the empty one included, and never a reason", () => {
    assert.deepStrictEqual(answerOutput("req-1", "staging"), { id: "req-1", ok: true, data: { output: "staging" } })
    assert.deepStrictEqual(answerOutput("req-1", ""), { id: "req-1", ok: true, data: { output: "" } })
    expect(JSON.stringify(answerOutput("req-1", "x"))).toBe('{"id":"req-1","ok":true,"data":{"output":"x"}}')
  })

  test.each([
    [{}, "object"],
    [5, "number"],
    [null, "null"],
    [undefined, "undefined"],
  ])("refuses the output %j", (output, word) => {
    expect(() => answerOutput("req-1", loosely(output))).toThrow(`output must be a string, got ${word}`)
    expect(() => answerOutput("req-1", loosely(output))).toThrow(TypeError)
  })

  test("refuses an empty id", () => {
    expect(() => answerOutput("", "x")).toThrow(/id is required/)
    expect(() => answerOutput(loosely(7), "x")).toThrow(/id is required/)
  })
})

describe("pending", () => {
  test("is an error result whose metadata holds the Request", () => {
    const result = pending({ id: "r1", kind: "approval", prompt: "Deploy?" })
    assert.deepStrictEqual(result, {
      output: "Deploy?",
      isError: true,
      metadata: { pending: { id: "r1", kind: "approval", prompt: "Deploy?" } },
    })
  })

  test("appends the url to the output", () => {
    expect(pending({ kind: "authorization", prompt: "Log in", url: "https://a.example/x?y=1" }).output).toBe(
      "Log in\nhttps://a.example/x?y=1",
    )
  })

  test.each([undefined, "", "   "])("mints an unguessable id when given %j", (id) => {
    const ids = Array.from({ length: 200 }, () => pendingOf(pending({ id, kind: "approval", prompt: "?" }))?.id ?? "")
    expect(new Set(ids).size).toBe(200)
    for (const id of ids) expect(id).toMatch(/^pnd-[0-9a-f]{20}$/)
  })

  test("keeps wire order, whatever order the caller wrote", () => {
    const request = pendingOf(
      pending({
        expiresAt: "2026-10-01T12:00:00Z",
        data: { b: 1, a: [] },
        url: "https://a.example",
        prompt: "p",
        kind: "k",
        id: "i",
      }),
    )
    expect(JSON.stringify(request)).toBe(
      '{"id":"i","kind":"k","prompt":"p","url":"https://a.example","data":{"b":1,"a":[]},"expiresAt":"2026-10-01T12:00:00Z"}',
    )
  })

  test("shares nothing with the caller's data", () => {
    const data = { n: 1, deep: { n: 1 } }
    const request = pendingOf(pending({ kind: "k", prompt: "p", data }))
    data.deep.n = 2
    expect(request?.data).toEqual({ n: 1, deep: { n: 1 } })
  })

  test("refuses what must not reach a person, naming the remedy", () => {
    expect(() => pending({ kind: "approval", prompt: "p", expiresAt: "tomorrow" })).toThrow(/RFC 3339.*"tomorrow"/)
    expect(() => pending({ kind: "", prompt: "p" })).toThrow(/kind is required/)
    expect(() => pending({ kind: "k", prompt: loosely(undefined) })).toThrow(/prompt is required/)
    expect(() => pending({ id: loosely(5), kind: "k", prompt: "p" })).toThrow(/id is required/)
    const schema = { type: "object", properties: { password: { type: "string" } } }
    expect(() => pending({ kind: "input", prompt: "p", data: { schema } })).toThrow(/"authorization"/)
  })

  test("authRequired asks for a login at a url", () => {
    const result = authRequired("https://login.example/start")
    expect(result.output).toBe("Authorization required to continue\nhttps://login.example/start")
    expect(pendingOf(result)).toMatchObject({ kind: "authorization", url: "https://login.example/start" })
    expect(pendingOf(authRequired("https://login.example", "Please log in"))?.prompt).toBe("Please log in")
  })
})

describe("a suspension is a result whose metadata.pending is a Request", () => {
  const result = (metadata?: Record<string, unknown>, isError = true): ToolResult => ({
    output: "x",
    isError,
    ...(metadata === undefined ? {} : { metadata }),
  })

  test("isError says nothing", () => {
    expect(pendingOf(result())).toBeUndefined()
    expect(pendingOf(result({ other: 1 }))).toBeUndefined()
    expect(pendingOf(result({ pending: { id: "r", kind: "k", prompt: "p" } }, false))).toEqual({
      id: "r",
      kind: "k",
      prompt: "p",
    })
  })

  test.each([
    [true],
    ["r1"],
    [{}],
    [[]],
    [{ id: "", kind: "k", prompt: "p" }],
    [{ id: "r", kind: "k" }],
    [{ id: "r", kind: "k", prompt: "p", expiresAt: "2026-10-01T12:00:00" }],
    [{ id: "r", kind: "k", prompt: "p", data: [] }],
    [{ id: "r", kind: "k", prompt: "p", data: { f: () => 1 } }],
    [{ id: "r", kind: "k", prompt: "half \ud83d" }],
  ])("a malformed one is none, but is known to be broken: %j", (raised) => {
    expect(pendingOf(result({ pending: raised }))).toBeUndefined()
    expect(suspensionOf(result({ pending: raised }))).toMatchObject({ ok: false, error: expect.any(String) })
  })

  test.each([undefined, null, false])("%j is no attempt at one", (raised) => {
    expect(suspensionOf(result({ pending: raised }))).toBeUndefined()
  })
})

describe("requestOf", () => {
  const base = { id: "r", kind: "k", prompt: "p" }

  test.each([
    "2026-10-01T12:00:00Z",
    "2026-10-01T14:00:00+02:00",
    "2026-10-01t12:00:00z",
    "2026-10-01T12:00:00.123456Z",
    "9999-12-31T23:59:59Z",
  ])("takes the deadline %s as it is written", (expiresAt) => {
    const read = requestOf({ ...base, expiresAt })
    expect(read.ok && read.request.expiresAt).toBe(expiresAt)
  })

  test.each([
    "2026-10-01T12:00:00",
    "2026-10-01",
    "tomorrow",
    "",
    "1790000000",
    "2026-02-30T00:00:00Z",
    1790000000,
    true,
  ])("refuses the deadline %j", (expiresAt) => {
    expect(requestOf({ ...base, expiresAt })).toMatchObject({ ok: false, error: expect.stringMatching(/expiresAt/) })
  })

  test.each([
    "javascript:alert(1)",
    "ftp://a",
    "/login",
    "",
    "https://slack.com@evil.example",
    "https://a b",
    "htt\nps://a",
    5,
  ])("refuses the url %j", (url) => {
    expect(requestOf({ ...base, url })).toMatchObject({ ok: false, error: expect.stringMatching(/url/) })
  })

  test("leaves unknown keys of the envelope out and foreign data as it stands", () => {
    const data = JSON.parse('{"z":[],"a":{"schema2":{"x":null},"path":["a"]},"__proto__":{"n":1}}') as object
    const read = requestOf({ extra: 1, ...base, data, path: ["x"] })
    expect(read.ok && JSON.stringify(read.request)).toBe(
      `{"id":"r","kind":"k","prompt":"p","data":${JSON.stringify(data)}}`,
    )
  })

  test("takes an empty prompt, and absent options given as null", () => {
    expect(requestOf({ ...base, prompt: "", url: null, data: undefined, expiresAt: null })).toEqual({
      ok: true,
      request: { ...base, prompt: "" },
    })
  })

  test("round-trips as plain data", () => {
    const read = requestOf({ ...base, data: { schema: { properties: { env: { enum: ["a"] } } } } })
    const request = (read as { request: Request }).request
    expect(requestOf(JSON.parse(JSON.stringify(request)))).toEqual({ ok: true, request })
  })
})

describe("answerOf", () => {
  test.each(["true", "yes", "false", 1, {}, [], null, undefined, "no"])("ok: %j is a no", (ok) => {
    expect(answerOf({ id: "r", ok, data: { by: "U1" } })).toEqual({
      ok: true,
      answer: { id: "r", ok: false, data: { by: "U1" } },
    })
  })

  test("keeps the wire order and drops unknown keys", () => {
    const read = answerOf({ reason: "x", data: { b: 1, a: 2 }, by: "U1", ok: true, id: "r" })
    expect(read.ok && JSON.stringify(read.answer)).toBe('{"id":"r","ok":true,"data":{"b":1,"a":2},"reason":"x"}')
  })

  test.each([
    undefined,
    null,
    "yes",
    1,
    [],
    {},
    { ok: true },
    { id: "", ok: true },
    { id: 5, ok: true },
    { id: "r", data: 1 },
  ])("%j is none", (value) => {
    expect(answerOf(value)).toMatchObject({ ok: false })
  })
})

describe("what the model reads", () => {
  test("the refusal line does not depend on the reason", () => {
    const request = { prompt: "Approve purchase of gpu?" }
    const line = "declined/expired: Approve purchase of gpu?"
    for (const reason of [undefined, "declined", "expired", "cancelled", "over budget"]) {
      expect(refusalOutput(request, answerDeclined("r", reason))).toBe(line)
    }
    expect(refusalOutput(request)).toBe(line)
    expect(refusalOutput(request, null)).toBe(line)
  })

  test("a note follows on a line of its own", () => {
    expect(refusalOutput({ prompt: "p" }, { data: { note: "Not on a Friday" } })).toBe(
      "declined/expired: p\nNot on a Friday",
    )
    expect(refusalOutput({ prompt: "p" }, { data: { note: 5 } })).toBe("declined/expired: p")
    expect(refusalOutput({ prompt: "p" }, { data: { note: "" } })).toBe("declined/expired: p")
  })

  test("an unresolved retry", () => {
    expect(unresolvedOutput({ prompt: "p" })).toBe("unresolved: p")
  })
})

test("an id that no button could carry is refused", () => {
  expect(() => pending({ id: "x".repeat(201), kind: "approval", prompt: "?" })).toThrow(
    /id has more than 200 characters/,
  )
  expect(pendingOf(pending({ id: "x".repeat(200), kind: "approval", prompt: "?" }))?.id).toHaveLength(200)
})
