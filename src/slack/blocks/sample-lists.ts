/**
 * One of each of what the command answers, made by the very functions that make the real ones. Made up from end to end.
 */
import type { Fact, Person } from "../../core/fact.ts"
import type { Ask, Grant, Run } from "../../core/run.ts"
import { agentsList } from "./agents.ts"
import type { Message } from "./limits.ts"
import { choices, grantsList, shownRun } from "./lists.ts"
import { why } from "./why.ts"

export const LINK = "https://example.slack.com/archives/C0OPS/p1764415800000100"
const HOUR = 3_600_000

/** By name, for a run with one ask that waits. */
export function listSamples(run: Run, ask: Ask, [ana, ben]: readonly [Person, Person]): [string, Message][] {
  const waiting: Run = { ...run, asks: [ask] }
  const grant: Grant = {
    id: `g0-${ask.id}`,
    ask: ask.id,
    tool: ask.tool,
    mark: "m",
    rule: { ...ask.rule, grant: { for: HOUR, same: ["env", "service"] } },
    by: ben,
    at: ask.at,
    until: ask.at + HOUR,
  }
  const granted: Run = { ...waiting, grants: [grant] }
  const cards = new Map([[ask.id, LINK]])
  const account = why({
    run: waiting,
    facts: happened(run, ask, [ana, ben]),
    asks: new Map([[ask.id, { ...ask, rule: { ...ask.rule, name: "approvals[1]" } }]]),
    args: new Map([[ask.digest, '{"env":"staging","service":"web"}']]),
    answers: new Map([
      [ask.id, JSON.stringify({ id: ask.id, ok: false, data: { note: NOT_YET }, reason: "declined" })],
    ]),
    link: LINK,
  })
  const several = [{ run: waiting, link: LINK }, { run: { ...run, ended: { how: "done", at: ask.at } as const } }]
  return [
    ["one run", shownRun({ run: granted, link: LINK, cards, grants: [grant], command: "/agent" })],
    ["runs of one beginning", choices("r00", several)],
    ["grants", grantsList([{ run: granted, grant, link: LINK }], "/agent")],
    ["grants, none", grantsList([], "/agent")],
    ["agents", agentsList(AGENTS, "/agent")],
    ["agents, none", agentsList([], "/agent")],
    ...account.map((message, index): [string, Message] => [`how it came to this ${index + 1}`, message]),
  ]
}

const AGENTS = [
  { name: "web", description: "Looks after the web tier", prompts: ["How is web?", "Restart web"] },
  { name: "db", description: "Looks after <!channel> *databases*", prompts: [] },
]

const NOT_YET = "Not before the backup is through"

function happened(run: Run, ask: Ask, [ana, ben]: readonly [Person, Person]): Fact[] {
  const fact = (n: number, change: Partial<Fact>): Fact => ({
    run: run.id,
    n,
    at: ask.at + n * 60_000,
    prev: "",
    hash: "",
    what: "asked",
    via: "bot",
    ...change,
  })
  const about = { ask: ask.id, call: ask.call, tool: ask.tool, args: ask.digest, version: 1 }
  return [
    fact(1, { what: "started", via: "command", by: ana }),
    fact(2, about),
    fact(3, { ...about, what: "refused", via: "click", by: ana, outcome: "own request" }),
    fact(4, { ...about, what: "settled", via: "form", by: ben, outcome: "declined", note: NOT_YET }),
  ]
}
