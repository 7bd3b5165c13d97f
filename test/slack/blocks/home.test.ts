import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Fact } from "../../../src/core/fact.ts"
import type { Grant } from "../../../src/core/run.ts"
import { FIRST, home, homePressOf, homeSaying, pagesOf, type Home } from "../../../src/slack/blocks/home.ts"
import { fits } from "../../../src/slack/blocks/limits.ts"
import { sampleRun, sampleView } from "../../../src/slack/blocks/samples.ts"
import { why } from "../../../src/slack/blocks/why.ts"
import { checkBlocks, checkView } from "../../../src/sandbox/validate.ts"
import { hostile, nodes } from "./hostile.ts"

const NONE = { items: [], page: 0, total: 0 }
const EMPTY: Home = {
  waiting: NONE,
  mine: NONE,
  decided: NONE,
  grants: NONE,
  paused: false,
  quiet: false,
  command: "/agent",
}
const LINK = "https://x.slack.com/archives/C0OPS/p1?thread_ts=1&cid=C0OPS"

/** A home in which every list is as full as it gets, and everything foreign is the text. */
function full(text: string): Home {
  const { run, ask, request } = sampleView()
  const call = { id: ask.call, ref: "c", tool: text, effects: "once", digest: ask.digest, state: "asked" } as const
  const named = { ...run, calls: [call], title: text, requester: { ...run.requester, name: text } }
  const asked = { ...ask, tool: text }
  const by = { team: "T1", user: "U0ADA", name: text }
  const rule = { ...ask.rule, grant: { for: 3_600_000, same: [text] } }
  const grant: Grant = { id: "g0", ask: ask.id, tool: text, mark: "m", rule, by, at: 1, until: 1_800_000_000_000 }
  const page = <T>(item: T) => ({ items: Array.from({ length: 10 }, () => item), page: 3, total: 205 })
  return {
    ...EMPTY,
    waiting: page({ card: { run: named, ask: asked, request, args: JSON.stringify({ text }) }, link: LINK }),
    mine: page({ run: named, link: LINK }),
    decided: page({ run: named, ask: asked, at: 1, link: LINK }),
    grants: page({ run: { ...named, grants: [grant] }, grant, link: LINK }),
    said: text === "" ? undefined : text,
    caution: "Something may be missing.",
    paused: true,
  }
}

const PINGS = ["user", "usergroup", "channel", "broadcast", "mrkdwn"]

describe("the home", () => {
  test("is a view that Slack takes, pings nobody and stays text, whatever is in it", () => {
    fc.assert(
      fc.property(hostile, (whole) => {
        const view = home(full(whole.slice(0, 150)))
        expect(checkView(structuredClone(view))).toMatchObject({ ok: true })
        expect(nodes(view.blocks).filter(({ type }) => PINGS.includes(type ?? ""))).toEqual([])
        const links = nodes(view.blocks).filter(({ type }) => type === "link")
        expect(new Set(links.map(({ url }) => url))).toEqual(new Set([LINK]))
      }),
      { numRuns: 15 },
    )
  })

  test("has room for as much as it can ever show", () => {
    const view = home(full("x".repeat(150)))
    expect(view.blocks.length).toBeLessThanOrEqual(100)
    expect(JSON.stringify(view).length).toBeLessThan(250_000)
  })

  test("says of each list that there is nothing", () => {
    const text = JSON.stringify(home(EMPTY))
    for (const words of [
      "Nothing waits for you.",
      "You have no runs.",
      "You have decided nothing lately.",
      "Nothing runs unasked.",
    ])
      expect(text).toContain(words)
    expect(checkView(structuredClone(home(EMPTY)))).toMatchObject({ ok: true })
    expect(checkView(structuredClone(homeSaying("Not now.")))).toMatchObject({ ok: true })
  })

  test("remembers its pages", () => {
    expect(pagesOf(home(full("x")).private_metadata)).toEqual({ waiting: 3, mine: 3, decided: 3, grants: 3 })
  })

  test.each([undefined, "", "{", "[]", '{"waiting":"3"}', '{"waiting":99999}', "x".repeat(600), 7])(
    "pages that are none (%j) are the first",
    (metadata) => {
      expect(pagesOf(metadata)).toEqual(FIRST)
    },
  )
})

describe("a press there", () => {
  test.each([
    [
      { action_id: "home:page:older", value: "mine:4" },
      { kind: "page", list: "mine", page: 4 },
    ],
    [
      { action_id: "home:revoke", value: "r00abc.1" },
      { kind: "revoke", grant: "r00abc.1" },
    ],
    [
      { action_id: "home:quiet", value: "yes" },
      { kind: "quiet", quiet: true },
    ],
    [
      { action_id: "home:quiet", value: "no" },
      { kind: "quiet", quiet: false },
    ],
    [{ action_id: "home:page:older", value: "mine:-1" }, undefined],
    [{ action_id: "home:page:older", value: "toString:1" }, undefined],
    [{ action_id: "home:page:older", value: "mine:1e9" }, undefined],
    [{ action_id: "home:revoke", value: "x".repeat(300) }, undefined],
    [{ action_id: "home:revoke" }, undefined],
    [{ action_id: "approve", value: "r00:1:x" }, undefined],
    [{}, undefined],
  ])("%j", (action, press) => {
    expect(homePressOf(action)).toEqual(press)
  })
})

describe("how it came to this", () => {
  const fact = (n: number, change: Partial<Fact>): Fact => ({
    run: sampleRun.id,
    n,
    at: sampleRun.at + n,
    prev: "",
    hash: "",
    what: "asked",
    via: "bot",
    ...change,
  })

  test("is told in messages that Slack takes, in order, and says what is left out", () => {
    const { ask } = sampleView()
    const facts = Array.from({ length: 400 }, (_, n) => fact(n + 1, { ask: ask.id, tool: ask.tool, args: ask.digest }))
    const args = JSON.stringify({ text: "x".repeat(300) })
    const pages = why({
      run: sampleRun,
      facts,
      asks: new Map([[ask.id, ask]]),
      args: new Map([[ask.digest, args]]),
      answers: new Map(),
    })
    expect(pages).toHaveLength(4)
    for (const page of pages) {
      expect(fits(page)).toEqual([])
      expect(checkBlocks(structuredClone(page.blocks))).toMatchObject({ ok: true })
    }
    expect(JSON.stringify(pages.at(-1)?.blocks)).toMatch(/and \d+ more facts, in the audit channel/)
  })

  test("masks by rule what people changed, as the card does", () => {
    const { ask } = sampleView({}, { rule: { ...sampleView().ask.rule, mask: ["args.customer", "args.to.*"] } })
    const args = { customer: "Erika Muster", to: { city: "Ulm" }, env: "prod" }
    const answer = JSON.stringify({ id: ask.id, ok: true, data: { output: "approved", args } })
    const pages = why({
      run: sampleRun,
      facts: [fact(1, { what: "settled", ask: ask.id, tool: ask.tool, outcome: "approved" })],
      asks: new Map([[ask.id, ask]]),
      args: new Map(),
      answers: new Map([[ask.id, answer]]),
    })
    expect(JSON.stringify(pages)).toMatch(/The agent was told: .*prod/)
    expect(JSON.stringify(pages)).not.toMatch(/Erika|Ulm/)
  })

  test("stays text, whatever people, tools and the agent called things", () => {
    fc.assert(
      fc.property(hostile, (whole) => {
        const text = whole.slice(0, 200)
        const by = { team: "T1", user: "U0ADA", name: text }
        const whats = [
          "asked",
          "voted",
          "refused",
          "settled",
          "edited",
          "granted",
          "used",
          "expired",
          "finished",
        ] as const
        const facts = whats.map((what, n) => fact(n + 1, { what, by, ask: "a", tool: text, note: text, outcome: text }))
        const answers = new Map([["a", JSON.stringify({ id: "a", ok: false, data: { note: text } })]])
        const pages = why({ run: { ...sampleRun, title: text }, facts, asks: new Map(), args: new Map(), answers })
        for (const page of pages) {
          expect(fits(page)).toEqual([])
          expect(nodes(page.blocks).filter(({ type }) => [...PINGS, "link"].includes(type ?? ""))).toEqual([])
        }
      }),
      { numRuns: 40 },
    )
  })
})
