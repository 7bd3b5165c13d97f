import { describe, expect, test } from "vitest"
import type { Outcome } from "../../../src/core/settle.ts"
import type { Denial } from "../../../src/core/policy.ts"
import type { Ask, Settled } from "../../../src/core/run.ts"
import { fits } from "../../../src/slack/blocks/limits.ts"
import { sampleView } from "../../../src/slack/blocks/samples.ts"
import { note, revealed, words, type Said } from "../../../src/slack/blocks/words.ts"
import { ATTACKS, live, nodes, readable } from "./hostile.ts"

const { ask } = sampleView()
const AT = Date.UTC(2026, 10, 29, 11, 35)
const settled = (change: Partial<Settled> = {}, more: Partial<Ask> = {}): Ask => ({
  ...ask,
  ...more,
  settled: { ok: true, by: { team: "T", user: "U0BEN", name: "Ben" }, via: "click", at: AT, cause: "c", ...change },
})
const decision = (outcome: Outcome): string => words({ about: "decision", outcome })
const byTimer = {
  ...ask,
  settled: { ok: false, reason: "expired", via: "timer", at: AT, cause: "t" } satisfies Settled,
}
const DENIALS: Denial[] = [
  "not listed",
  "own request",
  "requester only",
  "guest",
  "deactivated",
  "bot",
  "foreign",
  "cannot check",
  "nobody listed",
  "wrong channel",
]

describe("a press that decided nothing is told what is true", () => {
  test.each<[Outcome, string]>([
    [{ kind: "recorded", ask: settled() }, "Recorded: approved, restart."],
    [{ kind: "recorded", ask: settled({ ok: false, reason: "declined" }) }, "Recorded: declined, restart."],
    [{ kind: "recorded", ask: settled({ choice: "again" }, { from: "doubt" }) }, "Recorded: run again, restart."],
    [
      { kind: "settled", ask: settled() },
      "Already settled: approved, restart by Ben (U0BEN) at 2026-11-29 11:35 UTC. Your press changed nothing.",
    ],
    [
      { kind: "settled", ask: byTimer },
      "Too late: restart expired at 2026-11-29 12:30 UTC and counts as declined. If it is still needed, start a new run.",
    ],
    [
      { kind: "settled", ask: { ...byTimer, from: "doubt" } },
      "Too late: the question about restart expired at 2026-11-29 12:30 UTC, and the call counts as failed. If it is still needed, start a new run.",
    ],
    [
      { kind: "changed", ask },
      "Not recorded: the request has changed since you saw it. Please read the card again and decide on what it says now.",
    ],
    [{ kind: "choice missing", ask }, "Not recorded: please say whether it was done or is to run again."],
    [{ kind: "voted", ask, missing: 1 }, "Recorded: your yes to restart. One more person must approve it."],
    [{ kind: "voted before", ask, missing: 2 }, "You have approved restart already. 2 more people must approve it."],
    [{ kind: "reason missing", ask }, "Not recorded: please say why. The rule for this wants a reason."],
    [
      { kind: "not offered", ask },
      "Not recorded: this request doesn't offer that. Please use the buttons on its card.",
    ],
    [
      { kind: "unknown" },
      "Not recorded: this button belongs to nothing that I know. The run may be long over and deleted.",
    ],
    [{ kind: "denied", ask, why: "not listed" }, "Not recorded. You are not among those who may decide this."],
    [
      { kind: "denied", ask, why: "own request" },
      "Not recorded. You asked for this run, so somebody else has to approve it. You may decline it.",
    ],
    [
      { kind: "denied", ask, why: "cannot check" },
      "Not recorded. I can't check your rights now, and without that nobody may decide this. Please try again in a minute.",
    ],
  ])("%#", (outcome, sentence) => {
    expect(decision(outcome)).toBe(sentence)
  })
})

test("no sentence claims more than is known, and each is one that can be sent", () => {
  const every: Said[] = [
    ...DENIALS.flatMap((why): Said[] => [
      { about: "decision", outcome: { kind: "denied", ask, why } },
      { about: "cancel", outcome: { kind: "denied", why } },
      { about: "start", why },
      { about: "reveal", why },
    ]),
    { about: "cancel", outcome: { kind: "over", how: "done" } },
    { about: "cancel", outcome: { kind: "unknown" } },
    { about: "not recorded" },
    { about: "not known" },
    { about: "updating" },
    { about: "stale" },
    { about: "no id" },
    { about: "received" },
    ...["not_in_channel", "channel_not_found", "is_archived", "restricted_action", "fatal_error"].map(
      (error): Said => ({ about: "channel", error }),
    ),
  ]
  for (const said of every) {
    const sentence = words(said)
    expect(sentence).toMatch(/^[^\n<>]{20,400}[.”]$/)
    expect(sentence).not.toMatch(/^(?:Recorded|Started|Cancelled)/)
    expect(fits(note(sentence))).toEqual([])
  }
})

test.each<[Said, string]>([
  [
    { about: "closed door", door: "command", command: "/agent" },
    "Nothing was started: the command starts no runs here. Please mention me in a channel.",
  ],
  [
    { about: "closed door", door: "mention", command: "/ops" },
    "Nothing was started: a mention starts no runs here. Please use /ops in a channel.",
  ],
  [
    { about: "closed door", door: "reply", command: "/agent" },
    "Nothing was started: a reply goes on with no run here. Please use /agent in a channel.",
  ],
  [
    { about: "closed door", door: "message", command: "/agent" },
    "Nothing was started: a direct message starts no runs here. Please use /agent in a channel.",
  ],
  [{ about: "speak", why: "not listed" }, "Not taken up. You are not among those who may go on with this run."],
  [
    { about: "heard", how: "kept" },
    "Kept: the agent reads this at its next step. It decides nothing about a card that waits.",
  ],
  [{ about: "heard", how: "goes on" }, "The run goes on with this."],
  [
    { about: "heard", how: "too much" },
    "Not kept: the agent has not read the last 20 messages yet. Please say it again once it has gone on.",
  ],
  [
    { about: "heard", how: "stopping" },
    "Not kept: the run is being cancelled. Reply again once it is over, and it goes on.",
  ],
  [
    { about: "no such agent", name: "db", command: "/agent" },
    "There is no agent “db” that you can use here; “/agent agents” shows which there are.",
  ],
])("of doors and of what is said in a thread: %j", (said, sentence) => {
  expect(words(said)).toBe(sentence)
  expect(fits(note(sentence))).toEqual([])
})

test("where the bot can't write, the way out is named", () => {
  expect(words({ about: "channel", error: "not_in_channel" })).toMatch(/Invite me .*another channel/)
  expect(words({ about: "channel", error: "is_archived" })).toContain("archived")
  expect(words({ about: "channel", error: "xyz_error" })).toContain("xyz_error")
})

describe("a note", () => {
  test.each(ATTACKS)("with %j in it is text", (attack) => {
    const message = note(
      decision({ kind: "settled", ask: settled({ by: { team: "T", user: "U0BEN", name: attack } }, { tool: attack }) }),
    )
    expect(fits(message)).toEqual([])
    expect(live(message)).toEqual([])
    expect(message.text).not.toMatch(/[<>]/)
  })

  test("may bear the address of a thread", () => {
    const link = "https://x.slack.com/archives/C/p1"
    expect(live(note("Started.", link))).toEqual([{ type: "link", url: link, text: "Open the thread" }])
  })
})

test("the masked values come whole, however long", () => {
  const args = JSON.stringify({ password: "<x>&".repeat(8000) })
  const messages = revealed(args)
  expect(messages.flatMap(fits)).toEqual([])
  const shown = messages
    .flatMap((message) => nodes(message.blocks))
    .filter(({ type }) => type === "rich_text_preformatted")
  expect(
    shown
      .map((node) =>
        nodes(node["elements"])
          .map((it) => it["text"])
          .join(""),
      )
      .join(""),
  ).toBe(args)
  expect(readable(messages[0] ?? note(""))).toContain("Only you see this")
})

describe("a window that came to nothing says what is true", () => {
  test.each<[Said, string]>([
    [{ about: "edit", outcome: { kind: "edited", ask: { ...ask, version: 2 } } }, "Changed: restart is now version 2."],
    [{ about: "edit", outcome: { kind: "unchanged", ask } }, "Nothing was changed"],
    [{ about: "edit", outcome: { kind: "changed", ask } }, "Not changed: somebody changed the request"],
    [{ about: "edit", outcome: { kind: "forbidden", ask } }, "Not changed: the rules let nobody run it"],
    [
      { about: "edit", outcome: { kind: "nobody left", ask } },
      "Not changed: the rule for these arguments and the rule",
    ],
    [
      { about: "edit", outcome: { kind: "denied", ask, why: "guest" } },
      "Not changed. Guests may not change this request.",
    ],
    [
      { about: "edit", outcome: { kind: "denied", ask, why: "requester only" } },
      "Only the person who asked for this run may change",
    ],
    [{ about: "edit", outcome: { kind: "settled", ask: settled() } }, "Already settled: approved"],
    [{ about: "sign in", why: "requester only" }, "Only the person who asked for this run can sign in"],
    [{ about: "sign in", why: "cannot check" }, "I can't check your rights now"],
    [{ about: "unfit args", why: "invalid\nargs" }, "Not changed: invalid ⏎ args."],
    [
      { about: "unanswerable", why: "it is too long" },
      "It can't be answered here: it is too long. It can be declined.",
    ],
    [{ about: "uneditable", why: "it is too long" }, "It can be approved or declined as it is."],
    [{ about: "faults", faults: ["Please answer this."] }, "Not recorded: Please answer this. Please press the button"],
    [{ about: "wrong address", why: "it is none." }, "Not shown: it is none."],
    [{ about: "closed" }, "Nothing was recorded: the window was closed"],
    [{ about: "no window" }, "Nothing was recorded: Slack did not open the window."],
    [{ about: "empty window" }, "Nothing was recorded: Slack did not fill the window."],
  ])("%j", (said, text) => {
    expect(words(said)).toContain(text)
    expect(fits(note(words(said)))).toEqual([])
  })
})
