import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canonical } from "../../../src/core/digest.ts"
import { argsMessages, card, type CardView } from "../../../src/slack/blocks/card.ts"
import { material } from "../../../src/slack/blocks/material.ts"
import { sampleView } from "../../../src/slack/blocks/samples.ts"
import { ATTACKS, hostile, live, readable, SECRETIVE } from "./hostile.ts"

const TOKEN = "xoxb-1111-2222-abcdefgh"
const rule = sampleView().ask.rule
const asked = (args: unknown, mask?: string[], more: Partial<CardView> = {}): CardView =>
  sampleView({ args: canonical(args), ...more }, { rule: { ...rule, ...(mask ? { mask } : {}) } })
const tools = (request: object): CardView => sampleView({}, { from: "tool" }, { kind: "approval", ...request })

/** The first part, which is the args unless a tool asks. */
function first(view: CardView) {
  const [part] = material(view)
  if (!part) throw new Error("there is no part")
  return part
}

describe("values at the paths of the ask's rule", () => {
  const args = { animal: "red fox", headers: { Authorization: "a1", "x-n": 5 }, service: "web" }
  const mask = ["args.animal", "args.headers.*"]

  test("are masked and counted, whatever their type", () => {
    expect(first(asked(args, mask))).toMatchObject({
      text: '{"animal":"[masked by rule, 7 characters]","headers":{"Authorization":"[masked by rule, 2 characters]","x-n":[masked by rule, 1 character]},"service":"web"}',
      masked: 3,
      warnings: [],
    })
    expect(first(asked(args))).toMatchObject({ masked: 1 })
  })

  test("are seen nowhere else on the card, nor in its sentence", () => {
    const view = asked(args, mask, { why: "The red fox is it." })
    const message = card({ ...view, request: { ...view.request, prompt: "Set red fox" } })
    expect(JSON.stringify(message)).not.toContain("red fox")
    expect(readable(message)).toContain("Set [masked by rule, 7 characters]")
    expect(card({ ...view, request: { ...view.request, prompt: `Run ${view.ask.tool}` } }).text).not.toContain(
      "red fox",
    )
  })

  test("are masked in a text too long for the card, looked at once for each rule", () => {
    const long = { ...args, note: "x ".repeat(3000) }
    const shown = (mask?: string[]) => JSON.stringify(argsMessages(asked(long, mask)))
    expect(shown()).toContain("red fox")
    expect(shown(mask)).not.toContain("red fox")
    expect(shown(["args.note"])).toBe("[]")
  })
})

describe("what masks might hide is said", () => {
  const LOOSE = "a command could hide there"

  test.each(SECRETIVE)("%j: its command is read, or it is warned of", (text) => {
    for (const view of [asked({ command: text }), tools({ prompt: text }), tools({ prompt: "Go?", data: { text } })]) {
      const message = card(view)
      expect(readable(message)).toMatch(/rm -rf \/data|a command could hide there/)
      expect(JSON.stringify(message)).not.toMatch(/1111|a1B2c3|abc1|hunter2/)
    }
  })

  test("nothing is said of masks that hide a token alone", () => {
    expect(first(asked({ command: `curl -H X:${TOKEN}; ls`, password: "hunter2" })).warnings).toEqual([])
    expect(first(asked({ password: "hunter two" })).warnings.join()).toContain(LOOSE)
  })

  test("what only looks like a mask is called so", () => {
    expect(first(asked({ command: "rm [masked, 5 characters]" })).warnings.join()).toContain("are what the call gets")
    expect(first(asked({ command: `rm ${TOKEN}` })).warnings).toEqual([])
  })

  test("no warning repeats what is masked", () => {
    const view = asked({ password: "pаsswоrd-of-mine", url: "https://u:sеcret@аpple.com/" })
    expect(first(view).warnings).toEqual([expect.stringContaining("is really the host xn--pple-43d.com") as string])
    expect(JSON.stringify(card(view))).not.toMatch(/pаsswоrd|sеcret/)
  })
})

describe("what can't be seen", () => {
  test.each([
    [{ a: "x\u001b[31m" }, String.raw`{"a":"x\u001b[31m"}`],
    [{ a: "ok\b\bno" }, String.raw`{"a":"ok\b\bno"}`],
    [{ "a\u202e": 1 }, String.raw`{"a\u202e":1}`],
  ])("is written out and warned of: %j", (args, shown) => {
    expect(first(asked(args))).toMatchObject({ text: shown, warnings: [expect.stringContaining("can't be seen")] })
  })

  test("is not thought of where a text only spells an escape", () => {
    expect(first(asked({ regex: String.raw`\u001b \\u202e`, password: "hunter2", lines: "a\n\tb" })).warnings).toEqual(
      [],
    )
  })

  test("blanks at the end of a tool's words are seen", () => {
    expect(first(tools({ prompt: "Delete git \nand more" }))).toMatchObject({
      text: `Delete git${String.raw`\u{20}`}\nand more`,
      warnings: [expect.stringContaining("can't be seen")],
    })
  })
})

test("whatever is asked, with whatever secrets in it, is text on the card and nothing more", () => {
  const texts = fc
    .array(fc.oneof(hostile, fc.constantFrom(...ATTACKS, ...SECRETIVE)), { maxLength: 4 })
    .map((all) => all.join(" "))
  const paths = fc.constantFrom<string[][]>([], ["args.a"], ["args.*"], ["args.b.*", "args.c"])
  fc.assert(
    fc.property(texts, texts, paths, (a, b, mask) => {
      const args = JSON.parse(JSON.stringify({ a, b: { [b]: a }, c: b }).toWellFormed()) as unknown
      const message = card(asked(args, mask, { why: a }))
      expect(live(message).filter(({ type }) => type !== "date" && type !== "button")).toEqual([])
      expect(JSON.stringify(message)).not.toMatch(/1111-2222|a1B2c3|hunter2/)
    }),
    { numRuns: 100 },
  )
})
