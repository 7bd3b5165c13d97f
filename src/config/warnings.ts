/**
 * What is allowed in countersign.yaml but probably not meant. It asks nobody, and says nothing that only follows from
 * what could not be read.
 */
import type { KnownRule, KnownSettings } from "./known.ts"

/** Sentences. `file` is the file's name; `at` tells where in it a setting stands. */
export function warningsOf(known: KnownSettings, file: string, at: (path: readonly PropertyKey[]) => string): string[] {
  const { starters, channels, approvers, audit } = known
  const empty = (name: string, effect: string, example: string) =>
    `${name} is empty: ${effect}. List them in ${file}, such as ${name}: [ ${example} ].`
  const isEmpty = ({ items, whole }: KnownSettings["starters"]): boolean => whole && items.length === 0
  const warnings: string[] = []
  if (isEmpty(starters)) warnings.push(empty("starters", "nobody may start a run", "U0123, S0ENG"))
  if (isEmpty(channels)) warnings.push(empty("channels", "a run may be started nowhere", "C0OPS"))
  if (isEmpty(approvers) && needsApprovers(known)) {
    warnings.push(empty("approvers", "nobody may approve, and what is asked expires", "S0SRE"))
  }
  if (audit === "none") {
    const effect = "what is asked, decided and run is told in no channel, only in the bot's log"
    warnings.push(`audit is missing: ${effect}. Name one in ${file}, such as audit: { channel: C0AUDIT }.`)
  }
  warnings.push(...(known.mcpServers?.notes ?? []).map((note) => `${note}.`))
  return [...warnings, ...known.approvals.items.filter(allowsAll).map(({ index }) => allowed(index, at))]
}

/** Whether something is asked of the file's own approvers: a rule with `confirm` needs nobody but the requester. */
function needsApprovers({ approvals, selfApproval }: KnownSettings): boolean {
  const others = selfApproval !== undefined && selfApproval !== "confirm"
  const byRule = approvals.items.some(({ rule }) => {
    if (rule?.do !== "ask" || rule.approvers) return false
    return rule.selfApproval === undefined ? others : rule.selfApproval !== "confirm"
  })
  return byRule || (others && approvals.whole && !approvals.items.some(({ tool, always }) => tool === "*" && always))
}

const allowsAll = ({ tool, always, do: does }: KnownRule): boolean =>
  always && does === "allow" && /^\*+$/.test(tool ?? "")

function allowed(index: number, at: (path: readonly PropertyKey[]) => string): string {
  const what = index === 0 ? "every tool" : "every tool that no rule before it is about"
  return `${at(["approvals", index])} allows ${what}, nobody is asked: allow by name what may run unasked, such as get_*, and let the rest be asked.`
}
