import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Grant, Run } from "../../../src/core/run.ts"
import { fits, type Message } from "../../../src/slack/blocks/limits.ts"
import { choices, grantsList, help, list, shownRun } from "../../../src/slack/blocks/lists.ts"
import { sampleRun, sampleView } from "../../../src/slack/blocks/samples.ts"
import { checkBlocks } from "../../../src/sandbox/validate.ts"
import { ATTACKS, hostile, live, readable } from "./hostile.ts"

const { ask } = sampleView()
const sendable = (message: Message): void => {
  expect(fits(message)).toEqual([])
  expect(checkBlocks(structuredClone(message.blocks))).toMatchObject({ ok: true })
}
const kinds = (message: Message): string[] => [...new Set(live(message).map(({ type }) => type ?? ""))].sort()
const grant = (change: Partial<Grant> = {}): Grant => ({
  id: "g0-pnd-1",
  ask: ask.id,
  tool: ask.tool,
  mark: "m",
  rule: { ...ask.rule, grant: { for: 3_600_000, same: ["env", "service"] } },
  by: { team: "T1", user: "U0ADA", name: "Ada" },
  at: 1,
  until: 1_800_000_000_000,
  ...change,
})

describe("lists", () => {
  test("count what they don't show, whatever the titles", () => {
    const run = { ...sampleRun, title: ATTACKS.join(" ").slice(0, 150), asks: [ask] }
    const link = `https://x.slack.com/archives/C0OPS/p1?thread_ts=1&cid=C0OPS`
    const message = list({
      waiting: Array.from({ length: 25 }, () => ({ run, ask, link })),
      mine: Array.from({ length: 11 }, () => ({ run, link })),
    })
    sendable(message)
    expect(readable(message)).toMatch(/and \d+ more: the app's home has all\./)
    expect(kinds(message)).toEqual(["date", "link"])
    expect(message.text).toBe("25 waiting for you, 11 runs of yours")
  })

  test("say when there is nothing", () => {
    const said = readable(list({ waiting: [], mine: [], command: "/ops" }))
    expect(said).toContain("Nothing waits for you.")
    expect(said).toContain("Start one: /ops and what is to be done.")
  })

  test("say how many have approved what several must", () => {
    const votes = [{ by: { team: "T1", user: "U0ADA", name: "Ada" }, at: 1, cause: "c" }]
    const waits = { ...ask, rule: { ...ask.rule, quorum: 2 }, votes }
    expect(readable(list({ waiting: [{ run: sampleRun, ask: waits }], mine: [] }))).toContain(
      "1 of 2 have approved (Ada (U0ADA))",
    )
  })

  test("name the agent that a run is of", () => {
    const run = { ...sampleRun, agent: "deploy" }
    const said = readable(list({ waiting: [{ run, ask }], mine: [{ run }] }))
    expect(said.match(/ \(agent deploy\)/g)).toHaveLength(2)
  })

  test("link to threads over https alone", () => {
    const link = (link: string) => live(list({ waiting: [], mine: [{ run: sampleRun, link }] }))
    expect(link("https://x.slack.com/archives/C/p1")).toMatchObject([
      { type: "link", url: "https://x.slack.com/archives/C/p1" },
    ])
    expect(link("javascript:alert(1)")).toEqual([])
  })

  test("of what an id's beginning could mean fit into a message", () => {
    const message = choices(
      "r0`<!here>",
      Array.from({ length: 300 }, () => ({ run: sampleRun })),
    )
    sendable(message)
    expect(readable(message)).toContain("could mean any of these")
    expect(kinds(message)).toEqual([])
  })
})

describe("one run", () => {
  const shown = (run: Run, grants: Grant[] = []) =>
    shownRun({ run, cards: new Map([[ask.id, "https://x.slack.com/archives/C/p2"]]), grants, command: "/agent" })

  test("says what waits since when, for whom, until when, and where the card is", () => {
    const message = shown({ ...sampleRun, asks: [ask] }, [grant()])
    sendable(message)
    const said = readable(message)
    expect(said).toContain(": waits since")
    expect(said).toContain("May decide: ")
    expect(said).toContain("runs unasked with the same env, service, until")
    expect(said).toContain(`/agent cancel ${sampleRun.id}`)
    expect(live(message).some(({ type, url }) => type === "link" && String(url).endsWith("/p2"))).toBe(true)
  })

  test("that is over offers no cancelling", () => {
    const run: Run = { ...sampleRun, ended: { how: "done", at: 1 } }
    expect(readable(shown(run))).not.toContain("/agent cancel")
  })

  test("stays one message, and text stays text, whatever it is called", () => {
    fc.assert(
      fc.property(hostile, (whole) => {
        const text = whole.slice(0, 150)
        const asks = Array.from({ length: 12 }, () => ({ ...ask, tool: text }))
        const message = shown({ ...sampleRun, title: text, asks }, [grant({ tool: text })])
        sendable(message)
        expect(
          kinds(message).filter((kind) => !["date", "link", "user", "usergroup", "channel"].includes(kind)),
        ).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})

describe("grants", () => {
  test("say what runs unasked, until when, by whom, and the id to take it back by", () => {
    const given = grant()
    const message = grantsList([{ run: { ...sampleRun, grants: [given] }, grant: given }], "/ops")
    sendable(message)
    expect(readable(message)).toContain("Given by Ada (U0ADA)")
    expect(readable(message)).toContain(`${sampleRun.id}.1`)
    expect(readable(message)).toContain("/ops revoke <id>")
    expect(readable(grantsList([], "/ops"))).toContain("There is no grant in force")
  })
})

test("help names every command, with the name that it has here", () => {
  const said = readable(help("/ops"))
  for (const part of ["<what to do>", "list", "show <id>", "why <id>", "cancel <id>", "grants", "revoke <id>", "help"])
    expect(said).toContain(`/ops ${part}`)
  expect(said).not.toContain("/agent")
})
