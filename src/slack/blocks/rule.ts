/** A rule in words for whoever reads a card: what it asks for, and what it lets people do. Decides nothing by it. */
import { editorsVote, type Rule } from "../../core/policy.ts"
import { count } from "./text.ts"

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

/** What an approver can let run unasked, as a sentence. */
export function grantWords(rule: Rule): string {
  const { grant } = rule
  if (grant === undefined) return ""
  const same = grant.same ? `the same ${grant.same.join(", ")}` : "the very same arguments"
  return `For ${lasting(grant.for)}, calls of this tool in this run with ${same} are not asked about again.`
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
    escalate ? `After ${lasting(escalate.after)} more people are brought in` : "",
  ]
}

const SELF: Record<string, string> = {
  false: "Whoever asked for the run can't approve it",
  true: "Whoever asked for the run may approve it, if listed",
  confirm: "Whoever asked for the run decides alone",
}
const NEEDS = { required: "needs", optional: "may have" }
const EDITORS = { approvers: "Approvers", requester: "Whoever asked for the run" }
