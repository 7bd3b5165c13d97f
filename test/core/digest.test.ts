import { describe, expect, test } from "vitest"
import { canonical, lengthened, parseExact, sha256, shortened } from "../../src/core/digest.ts"

describe("canonical", () => {
  test("sorts keys by code unit and spells numbers as RFC 8785 does", () => {
    const value = {
      "\u20ac": "Euro Sign",
      "\r": "CR",
      "1": "One",
      "\u0080": "C",
      ö: 1,
      a: [333333333.3333333, 1e30, 4.5, 0.002, 1e-27],
    }
    expect(canonical(value)).toBe(
      '{"\\r":"CR","1":"One","a":[333333333.3333333,1e+30,4.5,0.002,1e-27],"\u0080":"C","ö":1,"\u20ac":"Euro Sign"}',
    )
    expect(canonical({ b: [], a: {}, c: null, d: -0, e: "\u2028\u0001<" })).toBe(
      '{"a":{},"b":[],"c":null,"d":0,"e":"\u2028\\u0001<"}',
    )
  })

  test("a key named __proto__ is a key", () => {
    expect(canonical(JSON.parse('{"__proto__":{"a":1},"b":2}'))).toBe('{"__proto__":{"a":1},"b":2}')
  })

  const circular: Record<string, unknown> = {}
  circular["me"] = circular
  test.each([
    [undefined, /undefined/],
    [{ a: undefined }, /a is undefined/],
    [[1, , 2], /\[1\] is undefined/], // oxlint-disable-line no-sparse-arrays
    [() => 1, /function/],
    [{ a: { b: Number.NaN } }, /a\.b is NaN/],
    [Infinity, /Infinity/],
    [10n, /bigint/],
    [Symbol("x"), /symbol/],
    [{ a: "half \ud83d" }, /lone surrogate/],
    [{ "\udc00": 1 }, /lone surrogate/],
    [{ at: new Date(0) }, /Date/],
    [new Map(), /Map/],
    [circular, /circular/],
  ])("refuses what JSON can't hold: case %#", (value, words) => {
    expect(() => canonical(value)).toThrow(words)
  })
})

test("sha256 is hex over UTF-8", () => {
  expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  expect(sha256("ü")).toBe("607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f")
})

describe("parseExact", () => {
  test.each([
    ['{"a":1}', { a: 1 }],
    ["", {}],
    ["  ", {}],
    [
      ' {"a" : [1.0, 1e2, -0, 0.1, 1E-7, 100, 9007199254740992], "b": "x"} ',
      { a: [1, 100, -0, 0.1, 1e-7, 100, 2 ** 53], b: "x" },
    ],
    ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}', { a: { a: { a: 1 } }, b: [{ a: 1 }, { a: 2 }] }],
    [
      '{"n":"15947634569000323","s":"{\\"a\\":1,\\"a\\":2} 1e400"}',
      { n: "15947634569000323", s: '{"a":1,"a":2} 1e400' },
    ],
    ['{"e":"\\ud83d\\ude00"}', { e: "😀" }],
    ['{"constructor":1,"n":123456789012345680000}', { constructor: 1, n: 123456789012345680000 }],
  ])("reads %j", (raw, value) => {
    expect(parseExact(raw)).toEqual({ ok: true, value })
  })

  test.each([
    ["{", /not valid JSON/],
    ["{'a':1}", /not valid JSON/],
    ['{"a":1,}', /not valid JSON/],
    ["[1]", /one JSON object/],
    ["null", /one JSON object/],
    ['"text"', /one JSON object/],
    ["5", /one JSON object/],
    ['{"a":1,"a":2}', /"a" twice/],
    ['{"a":1,"\\u0061":2}', /"a" twice/],
    ['{"x":{"b":1,"c":[{"d":1,"d":1}]}}', /"d" twice/],
    ['{"__proto__":{"admin":true}}', /__proto__/],
    ['{"x":[{"\\u005f_proto__":1}]}', /__proto__/],
    ['{"id":15947634569000323}', /15947634569000323 can't be kept exactly; pass it as a string/],
    ['{"n":1e400}', /1e400/],
    ['{"n":-1e-400}', /1e-400/],
    ['{"n":0.1000000000000000055}', /0\.1000000000000000055/],
    ['{"n":1e99999999999999999999}', /exactly/],
    ['{"s":"\\ud83d"}', /lone surrogate/],
    ['{"\\ud83d":1}', /lone surrogate/],
    [`{"a":${"[".repeat(64)}${"]".repeat(64)}}`, /nested deeper/],
  ])("sends %j back with words", (raw, words) => {
    const read = parseExact(raw)
    expect(read.ok ? "" : read.error).toMatch(words)
  })
})

test("a digest is stored in 43 characters, and anything else as it is", () => {
  const digest = sha256("x")
  expect(shortened(digest)).toHaveLength(43)
  expect(lengthened(shortened(digest))).toBe(digest)
  expect(lengthened(digest)).toBe(digest)
  for (const text of ["", "another", "d".repeat(63), digest.toUpperCase()]) {
    expect([shortened(text), lengthened(text)]).toEqual([text, text])
  }
})
