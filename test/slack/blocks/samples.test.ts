import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { fits } from "../../../src/slack/blocks/limits.ts"
import { sampleViews } from "../../../src/slack/blocks/sample-views.ts"
import { samples } from "../../../src/slack/blocks/samples.ts"
import { blocksText, checkBlocks, checkView } from "../../../src/sandbox/validate.ts"
import { LIMITS } from "../../../src/sandbox/limits.ts"

const all = [...samples()]

test("every kind of message is, to the letter, what was agreed on", async () => {
  const text = `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`
  await expect(text).toMatchFileSnapshot("samples.json")
})

test("the agreed texts are there to be compared with", () => {
  expect(Object.keys(JSON.parse(readFileSync(new URL("samples.json", import.meta.url), "utf8")) as object)).toEqual(
    all.map(([name]) => name),
  )
})

describe.each(all)("%s", (_, message) => {
  test("passes our own limits", () => {
    expect(fits(message)).toEqual([])
  })

  test("passes what the local Slack refuses", () => {
    expect(checkBlocks(structuredClone(message.blocks))).toMatchObject({ ok: true })
    expect(message.text.length).toBeLessThan(LIMITS.updatedText)
    expect(blocksText(message.blocks)).toBeLessThan(LIMITS.blocksText)
  })

  test("says in its text, in one line, what it is about", () => {
    expect(message.text).toMatch(/^[^\n<>]{10,400}$/)
  })
})

const views = [...sampleViews()]

test("every window is, to the letter, what was agreed on", async () => {
  const text = `${JSON.stringify(Object.fromEntries(views), null, 2)}\n`
  await expect(text).toMatchFileSnapshot("views.json")
})

describe.each(views)("the window %s", (_, view) => {
  test("passes what the local Slack refuses", () => {
    expect(checkView(structuredClone(view))).toMatchObject({ ok: true })
  })

  test("has nothing in it that pings, and no mrkdwn that could", () => {
    expect(JSON.stringify(view)).not.toMatch(/"type":"(?:user|usergroup|channel|broadcast|mrkdwn)"/)
  })
})
