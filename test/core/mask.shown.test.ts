import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canonical } from "../../src/core/digest.ts"
import { mask, MASKED, maskPaths, maskScanned, shownArgs, shownBeside } from "../../src/core/mask.ts"

const TOKEN = "xoxb-1111-2222-abcdefgh"
const rule = (n: number): string => `[masked by rule, ${n} ${n === 1 ? "character" : "characters"}]`

describe("values at a rule's paths", () => {
  test.each<[name: string, paths: string[], args: unknown, shown: string]>([
    ["a text", ["args.token"], { token: "abc", x: 1 }, `{"token":"${rule(3)}","x":1}`],
    ["a number", ["args.pin"], { pin: 1234 }, `{"pin":${rule(4)}}`],
    [
      "true, false and null",
      ["args.*"],
      { a: true, b: false, c: null },
      `{"a":${rule(4)},"b":${rule(5)},"c":${rule(4)}}`,
    ],
    ["an object as a whole", ["args.auth"], { auth: { u: "a", p: [1] }, z: 1 }, `{"auth":${rule(17)},"z":1}`],
    ["an array as a whole", ["args.keys"], { keys: ["a", "b"] }, `{"keys":${rule(9)}}`],
    [
      "all values of an object",
      ["args.headers.*"],
      { headers: { A: "x", b: [1] } },
      `{"headers":{"A":"${rule(1)}","b":${rule(3)}}}`,
    ],
    ["all elements of an array", ["args.list.*"], { list: ["ab", 1] }, `{"list":["${rule(2)}",${rule(1)}]}`],
    ["an element by its index", ["args.list.1"], { list: ["a", "b", "c"] }, `{"list":["a","${rule(1)}","c"]}`],
    [
      "a value in each element",
      ["args.list.*.key"],
      { list: [{ key: "k1", n: 1 }, {}, 2] },
      `{"list":[{"key":"${rule(2)}","n":1},{},2]}`,
    ],
    [
      "a key in another case",
      ["args.headers.authorization"],
      { headers: { Authorization: "x" } },
      `{"headers":{"Authorization":"${rule(1)}"}}`,
    ],
    [
      "a key with dots",
      ["args.a.b.c"],
      { "a.b": { c: "x" }, a: { "b.c": "y" } },
      `{"a":{"b.c":"${rule(1)}"},"a.b":{"c":"${rule(1)}"}}`,
    ],
    ["a key with an escape", ["args.a"], { 'b"': "1", a: 'x"' }, `{"a":"${rule(3)}","b\\"":"1"}`],
    ["all of the args", ["args"], { a: 1 }, rule(7)],
    ["several, one within another", ["args.a", "args.a.b"], { a: { b: 1 } }, `{"a":${rule(7)}}`],
    ["none where the path leads nowhere", ["args.a.b", "args.c"], { a: "x", b: "y" }, `{"a":"x","b":"y"}`],
    ["none of an empty text", ["args.a"], { a: "" }, `{"a":""}`],
    ["nothing deeper than the path", ["args.*"], { a: { b: "x" } }, `{"a":${rule(9)}}`],
    ["not a value that is called as a key is", ["args.a"], { b: "a", c: ["a", "x"] }, `{"b":"a","c":["a","x"]}`],
    ["what looks like a mask", ["args.a"], { a: "[masked, 3 characters]" }, `{"a":"${rule(22)}"}`],
  ])("%s", (_, paths, args, shown) => {
    const masked = maskPaths(canonical(args), paths)
    expect(masked.text).toBe(shown)
    expect(masked.count).toBe([...shown.matchAll(MASKED)].length)
    expect(masked.loose).toBe(0)
  })

  test("in a text that is written with blanks", () => {
    const args = JSON.stringify({ a: { token: "abc", n: 1 }, list: [1, 2] }, null, 2)
    expect(maskPaths(args, ["args.a.token", "args.list.0"]).text).toBe(
      args.replace("abc", rule(3)).replace(/(?<=\[\s*)1/, rule(1)),
    )
  })

  test("a text that is no JSON is masked as a whole: nobody knows what of it is meant", () => {
    expect(maskPaths('{"token":"abc', ["args.token"])).toEqual({ text: rule(13), count: 1, loose: 0 })
    expect(maskPaths('{"token":"abc', [])).toEqual({ text: '{"token":"abc', count: 0, loose: 0 })
    expect(maskPaths("", ["args.token"])).toEqual({ text: "", count: 0, loose: 0 })
  })

  test("whatever the args, what is at the path is not seen, and the rest is as it was", () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: "grapheme", minLength: 1 }), fc.string(), (json, secret, key) => {
        const whole = JSON.parse(
          JSON.stringify({ a: { [`k${key}`]: secret, other: JSON.parse(json) as unknown } }).toWellFormed(),
        )
        const args = canonical(whole)
        const inner = canonical(whole.a[`k${key}`.toWellFormed()]).slice(1, -1)
        const { text, count } = maskPaths(args, ["args.a.*"])
        expect(count).toBeGreaterThan(0)
        expect(text).toContain(`:"${rule(Array.from(inner).length)}"`)
        expect(maskPaths(args, ["args.b.*", "args.a.*.x.y.z.*"]).text).toBe(args)
      }),
    )
  })

  test("any text at all is taken, in time that grows no faster than it", () => {
    const paths = ["args.a", "args.*.b", "args.a.*.c", "args"]
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(maskPaths(text, paths.slice(0, 3)).text).toBeTypeOf("string")
      }),
    )
    const deep = "[".repeat(100_000) + "]".repeat(100_000)
    const wide = `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":"x"`).join(",")}}`
    for (const text of [
      deep,
      wide,
      `{"a":"${"\\\\".repeat(100_000)}"}`,
      `{"${"a.".repeat(100_000)}":1}`,
      "[1,".repeat(70_000),
    ]) {
      const start = process.cpuUsage()
      for (const path of paths) maskPaths(text, [path])
      const { user, system } = process.cpuUsage(start)
      expect((user + system) / 1000).toBeLessThan(2000)
    }
  })
})

describe("args as anybody may see them", () => {
  test("are masked at the rule's paths and wherever else they hold a secret, each counted once", () => {
    const args = canonical({ auth: { token: TOKEN }, command: `curl -H X:${TOKEN}`, token: TOKEN })
    expect(shownArgs(args)).toMatchObject({ count: 3 })
    expect(shownArgs(args, ["args.auth", "args.token"])).toEqual({
      text: `{"auth":${rule(35)},"command":"curl -H X:[slack token, 23 characters]","token":"${rule(23)}"}`,
      count: 3,
      loose: 0,
    })
  })

  test("without paths are what mask makes of them", () => {
    const args = canonical({ password: "hunter 2", n: 1 })
    expect(shownArgs(args)).toEqual(mask(args))
    expect(shownArgs(args, [])).toEqual(mask(args))
  })
})

describe("text that goes with a call", () => {
  const args = canonical({ code: "red fox", list: ["4711", "ab"], note: 'say "hi"', n: 31337 })

  test("has no value that the rule masks in the args", () => {
    const text = 'Sends red fox, 4711, ab, 31337 and say "hi" to red foxes'
    expect(shownBeside(text, args, ["args.code", "args.list", "args.note", "args.n"]).text).toBe(
      `Sends ${rule(7)}, ${rule(4)}, ab, ${rule(5)} and ${rule(8)} to ${rule(7)}es`,
    )
    expect(shownBeside(text, args, ["args.list.*"])).toMatchObject({ text: text.replace("4711", rule(4)), count: 1 })
  })

  test("keeps what any text has", () => {
    expect(shownBeside("true or null, as ever", canonical({ a: true, b: null, c: [false] }), ["args.*"]).count).toBe(0)
  })

  test("is masked as any text is", () => {
    expect(shownBeside(`use ${TOKEN}`, args, ["args.code"]).text).toBe("use [slack token, 23 characters]")
    expect(shownBeside(`use ${TOKEN}`, args).text).toBe("use [slack token, 23 characters]")
  })
})

describe("what the model reads", () => {
  test("is without secrets that show by themselves, and with what a name calls one", () => {
    const text = `{"next":"b2Zm","password":"hunter2","token":"${TOKEN}"} postgres://u:p4ss@h/db Authorization: Bearer abc123`
    expect(maskScanned(text).text).toBe(
      '{"next":"b2Zm","password":"hunter2","token":"[slack token, 23 characters]"} postgres://u:[password, 4 characters]@h/db Authorization: Bearer [bearer token, 6 characters]',
    )
  })
})
