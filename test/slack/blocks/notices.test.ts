import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Ask, Grant, Run } from "../../../src/core/run.ts"
import { fits, type Message } from "../../../src/slack/blocks/limits.ts"
import {
  calledIn,
  changedCall,
  ranUnasked,
  refusedCalls,
  reminder,
  unplaced,
} from "../../../src/slack/blocks/notices.ts"
import { sampleRun, sampleView } from "../../../src/slack/blocks/samples.ts"
import { hostile, live } from "./hostile.ts"

const AT = Date.UTC(2026, 10, 29, 12, 30)
const ANA = { team: "T1", user: "U0ANA", name: "Ana" }

const ask = (change: Partial<Ask> = {}): Ask => ({ ...sampleView().ask, ...change })
const grant: Grant = {
  id: "g0-pnd-1",
  ask: "pnd-1",
  tool: "restart",
  mark: "m",
  rule: { ...ask().rule, mask: ["args.key"] },
  by: ANA,
  at: AT,
  until: AT + 3_600_000,
}
const run: Run = { ...sampleRun, grants: [grant] }
const declined = (change: Partial<Ask> = {}): Ask =>
  ask({ settled: { ok: false, reason: "declined", by: ANA, via: "click", at: AT, cause: "c" }, ...change })
const unasked = (args: string): Message =>
  ranUnasked(run, { call: { id: "1.1", tool: "restart" }, args, grant, command: "/agent" })

/** What a reader sees, without what is live. */
const said = ({ blocks }: Message): string =>
  [...JSON.stringify(blocks).matchAll(/"(?:text|fallback|user_id|usergroup_id)":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, text]) => JSON.parse(`"${text}"`) as string)
    .join("")

describe("what people are told beside the cards", () => {
  test("a reminder names what waits, since when, until when, and how many have approved", () => {
    const one = ask({ rule: { ...ask().rule, quorum: 3 }, votes: [{ by: ANA, at: AT, cause: "c" }] })
    const message = reminder([one, ask({ id: "b", tool: "page_oncall" })], {
      pinged: ["S0SRE"],
      named: ["U0BEN"],
      names: { U0BEN: "Ben" },
    })
    expect(said(message)).toMatch(/^S0SRE, Ben \(U0BEN\): Still waiting for 2 decisions• restart, asked for /)
    expect(said(message)).toContain(", 1 of 3 have approved. Decide by ")
    expect(message.text).toBe("Still waiting for 2 decisions: restart, page_oncall. Please look at the cards.")
  })

  test("a grant's use names the call as it may be shown, whose word it ran on, and how to end that", () => {
    const message = unasked('{"key":"s3cret-value","service":"web"}')
    expect(said(message)).not.toContain("s3cret-value")
    expect(said(message)).toContain('"service":"web"')
    expect(said(message)).toContain("under the grant that Ana (U0ANA) gave, until ")
    expect(said(message)).toContain(`/agent revoke ${run.id}.1`)
  })

  test("what was refused is told with the reason that was given, masked", () => {
    const notes = new Map([["pnd-5f3a", "not with xoxb-1111111111-2222222222-abcdefabcdef"]])
    const message = refusedCalls("declined", [declined()], notes, { pinged: ["U0ROB"] })
    expect(said(message)).toMatch(/^U0ROB: Ana \(U0ANA\) declined restart\.not with \[/)
    expect(said(message)).not.toContain("abcdefabcdef")
    expect(said(refusedCalls("declined", [declined({ from: "doubt" })], new Map(), { pinged: [] }))).toContain(
      "Ana (U0ANA) says that restart failed.",
    )
  })

  test.each([
    [
      "C0LEADS",
      "not_in_channel",
      "I can't post the card about restart to the channel #leads: I'm not a member. Invite me there",
    ],
    ["U0BEN", "user_not_found", "to a direct message to Ben (U0BEN): Slack knows nobody by that id"],
    ["C0X", "odd_error", "to the channel C0X: Slack says: odd_error"],
  ])("%s takes no card (%s)", (place, error, words) => {
    expect(said(unplaced(place, error, [ask()], { pinged: [], names: { C0LEADS: "#leads", U0BEN: "Ben" } }))).toContain(
      words,
    )
  })

  test("all of it fits, and nothing foreign in it is live", () => {
    fc.assert(
      fc.property(hostile, hostile, fc.integer({ min: 1, max: 12 }), (tool, text, many) => {
        const asks = Array.from({ length: many }, (_, n) => declined({ id: `a${n}`, tool }))
        const to = { pinged: ["U0ANA", "S0SRE"], named: ["U0BEN"], names: { U0BEN: text, C0X: text } }
        const notes = new Map(asks.map(({ id }) => [id, text]))
        const messages = [
          reminder(asks, to),
          calledIn(asks, to),
          changedCall(declined({ tool }), { user: "U0BEN", name: text }, to),
          refusedCalls("declined", asks, notes, to),
          refusedCalls("expired", asks, notes, to),
          unplaced("C0X", text, asks, to),
        ]
        for (const message of messages) {
          expect(fits(message)).toEqual([])
          const pings = live(message).filter(({ type }) => type !== "date")
          expect(pings).toEqual([
            { type: "user", user_id: "U0ANA" },
            { type: "usergroup", usergroup_id: "S0SRE" },
          ])
        }
        const args = JSON.stringify({ text })
        expect(fits(unasked(args))).toEqual([])
        expect(live(unasked(args)).filter(({ type }) => type !== "date")).toEqual([])
      }),
      { numRuns: 25 },
    )
  })
})
