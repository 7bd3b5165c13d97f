import { expect, test } from "vitest"
import { toolsList } from "../../../src/slack/blocks/tools.ts"

/** Everything that a person reads of a message, as one text. */
const readOf = (message: ReturnType<typeof toolsList>): string =>
  [...JSON.stringify(message.blocks).matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text).join("")

test("says where tools come from, how each source is, and whether calls are asked about", () => {
  const read = readOf(
    toolsList([
      { name: "From the configuration", tools: [{ name: "restart", falls: "depends" }], notes: [] },
      {
        name: "github",
        state: { kind: "ready" },
        tools: [
          { name: "github_list", falls: "allow" },
          { name: "github_push", falls: "ask", since: "changed" },
        ],
        notes: ["big is left out: its schema is none", "b", "c", "d"],
      },
      {
        name: "files",
        state: { kind: "away", why: "its process ended" },
        tools: [{ name: "files_rm", falls: "deny" }],
        notes: [],
      },
      { name: "old", state: { kind: "disabled" }, tools: [], notes: [] },
      { name: "crm", state: { kind: "ready" }, own: true, tools: [{ name: "crm_find", falls: "ask" }], notes: [] },
      { name: "notes", state: { kind: "signed out" }, tools: [{ name: "notes_sign_in", falls: "allow" }], notes: [] },
    ]),
  )
  for (const words of [
    "restart depends on its arguments",
    "github: connected, 2 tools",
    "github_list runs unasked",
    "github_push is asked about; it changed after the start",
    "big is left out: its schema is none",
    "and 1 more like it",
    "files: away (its process ended); 1 tool of it can't be called now",
    "files_rm is refused",
    "old: switched off",
    "crm: you are signed in, 1 tool",
    "notes: sign in first. Ask for something of it, and you are shown where",
    "notes_sign_in runs unasked",
  ]) {
    expect(read).toContain(words)
  }
})

test("what a server calls itself and its tools makes neither a mention nor a line, and thousands fit", () => {
  const tools = Array.from({ length: 3000 }, (_, index) => ({ name: `t${index}`, falls: "ask" as const }))
  const name = "x\n<!channel> <@U0ADA>\u202e"
  const message = toolsList([{ name, state: { kind: "away", why: "a\nb <!here>" }, tools, notes: ["n\n<!here>"] }])
  const text = JSON.stringify(message)
  expect(text).not.toMatch(/"type":"(?:user|broadcast|link|usergroup)"/)
  expect(text).not.toContain("\\u202e")
  expect(text.length).toBeLessThan(13_000)
  expect(readOf(message)).toMatch(/and 2,?\d{3} more tools/)
})
