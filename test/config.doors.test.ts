import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "../src/config.ts"
import { scratchFolder } from "./redis.ts"

const path = join(await scratchFolder("config-doors"), "countersign.yaml")
const ENV = { SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" }

function read(doors: string) {
  writeFileSync(path, `model: { provider: demo }\n${doors}`)
  return readConfig({ ...ENV, COUNTERSIGN_CONFIG: path })
}

function doorsOf(text: string) {
  const reading = read(text)
  if (!reading.ok) throw new Error(reading.faults.join("\n"))
  return reading.config.doors
}

const faults = (text: string): string[] => read(text).faults.map((fault) => fault.replace(/^\/.*?\.yaml:/, ""))

test("all doors but direct messages are open, unless the file says otherwise", () => {
  const usual = { command: true, mention: true, reply: true, message: false }
  expect(doorsOf("")).toEqual(usual)
  expect(doorsOf("doors: { mention: false, reply: { starters: [ U0A, S0B ] } }")).toEqual({
    ...usual,
    mention: false,
    reply: { starters: ["U0A", "S0B"] },
  })
  expect(doorsOf("doors: { message: { cards: C0APPROVALS } }").message).toEqual({ cards: "C0APPROVALS", prompts: [] })
  expect(
    doorsOf('doors: { message: { cards: C0A, starters: [ U0A ], prompts: [ " How is web? " ] } }').message,
  ).toEqual({
    cards: "C0A",
    starters: ["U0A"],
    prompts: ["How is web?"],
  })
})

test.each<[string, RegExp]>([
  ["doors: true", /^2: doors must be a mapping, such as \{ mention: false \}/],
  ["doors: { mentions: false }", /mentions.*did you mean mention\?/],
  ["doors: { mention: no one }", /^2: doors\.mention must be true, false, or \{ starters: \[ U0123 \] \}/],
  [
    "doors: { command: { starters: [] } }",
    /^2: doors\.command\.starters is empty: put false to close the door, or leave/,
  ],
  ["doors: { command: {} }", /^2: doors\.command\.starters is missing: put/],
  ["doors: { reply: { starters: [ C0OPS ] } }", /^2: doors\.reply\.starters\[0\] must be .*C0OPS/],
  [
    "doors: { mention: { starter: [ U0A ], starters: [ U0A ] } }",
    /^2: doors\.mention has no setting "starter" \(did you mean starters\?\)/,
  ],
  // Where nobody else sees what is asked, the file must say where it is seen.
  ["doors: { message: true }", /^2: doors\.message must be false, or \{ cards: C0APPROVALS \}/],
  ["doors: { message: { prompts: [ a ] } }", /^2: doors\.message\.cards is missing: put/],
  ["doors: { message: { cards: D0X } }", /^2: doors\.message\.cards must be .*D0X/],
  [
    "doors: { message: { cards: C0A, prompts: [ a, b, c, d, e ] } }",
    /doors\.message\.prompts has more than four prompts/,
  ],
])("%s is a fault that says what it may be", (text, words) => {
  expect(faults(text)).toEqual([expect.stringMatching(words)])
})
