/** A rule in words for whoever reads a card: what it asks for, and what it lets people do. Decides nothing by it. */
import { shownArgs } from "../../core/mask.ts"
import { editorsVote, type Rule } from "../../core/policy.ts"
import { valueAt } from "../../core/rules.ts"
import { clip, count, oneLine, visibleJson } from "./text.ts"

const UNITS: [ms: number, noun: string][] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
]

/** `1 hour`, `90 minutes`, `2 days`: in the largest unit that says it exactly. */
export function lasting(ms: number): string {
  const [size, noun] = UNITS.find(([unit]) => ms >= unit && ms % unit === 0) ?? [1, "millisecond"]
  return count(ms / size, noun)
}

/** What an approver can let run unasked, as a sentence. With the call's `args` (canonical) it says which values count. */
export function grantWords(rule: Rule, args?: string): string {
  const { grant } = rule
  if (grant === undefined) return ""
  return `For ${lasting(grant.for)}, calls of this tool in this run with ${alikeWords(rule, args)} are not asked about again.`
}

const VERY_SAME = "the very same arguments"

/** What calls have in common that a grant covers: `the same service ("web")`; masked like the args themselves. */
export function alikeWords({ grant, mask }: Rule, args?: string): string {
  const paths = grant?.same
  if (paths === undefined) return VERY_SAME
  if (args === undefined) return `the same ${paths.join(", ")}`
  const [real, shown] = [parsed(args), parsed(shownArgs(args, mask).text)]
  // Where a path leads nowhere all args count.
  if (paths.some((path) => valueAt(real, path) === undefined)) return VERY_SAME
  return `the same ${paths.map((path) => `${path}${valueWords(valueAt(shown, path))}`).join(", ")}`
}

const valueWords = (value: unknown): string =>
  value === undefined ? "" : ` (${clip(oneLine(visibleJson(JSON.stringify(value))), 60)})`

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // A masked text need not be JSON.
    return undefined
  }
}

/** For a button: Slack shows about thirty characters of it, so it says no more than that it is not for this once alone. */
export const grantLabel = ({ grant }: Rule): string => (grant === undefined ? "" : `Approve for ${lasting(grant.for)}`)

/** What the rule says beside who decides, a line each. */
export const ruleLines = (rule: Rule): string[] => [...deciding(rule), ...offering(rule)].filter((line) => line !== "")

function deciding({ quorum = 1, selfApproval, expiresIn, startWithin, reason }: Rule): string[] {
  return [
    quorum > 1
      ? `${quorum} different people must approve; one decline settles it`
      : "One approval or decline settles it",
    SELF[String(selfApproval)] ?? "",
    `Open for ${lasting(expiresIn)}; no answer is a no`,
    `An approval is good for ${lasting(startWithin)}: what has not started by then is asked again`,
    reason?.decline ? `A decline ${NEEDS[reason.decline]} a reason` : "",
    reason?.approve ? `An approval ${NEEDS[reason.approve]} a reason` : "",
  ]
}

function offering(rule: Rule): string[] {
  const { edit, grant, remind, escalate } = rule
  const all = editorsVote(rule) ? ", and approve them all the same" : ""
  return [
    edit ? `${EDITORS[edit.by]} may change the arguments first${all}` : "",
    grant ? `An approver may let it run unasked: ${grantWords(rule)}` : "",
    remind ? `Reminders after ${remind.map(lasting).join(", ")}` : "",
    escalate ? `After ${lasting(escalate.after)} without a decision more people may decide as well` : "",
  ]
}

const SELF: Record<string, string> = {
  false: "Whoever asked for the run can't approve it",
  true: "Whoever asked for the run may approve it, if listed",
  confirm: "Whoever asked for the run decides alone",
}
const NEEDS = { required: "needs", optional: "may have" }
const EDITORS = { approvers: "Approvers", requester: "Whoever asked for the run" }
