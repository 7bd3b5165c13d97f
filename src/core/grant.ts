/**
 * Grants: an approver lets the like of a call run unasked, in one run and for a while. Knows what makes two calls alike,
 * and no person's rights.
 */
import { canonical, sha256 } from "./digest.ts"
import { isRecord } from "./json.ts"
import type { Rule } from "./policy.ts"
import type { Grant, Run } from "./run.ts"

/** A call, with its tool as the model sees it. */
export interface Granted {
  tool: { name: string; description: string; inputSchema: unknown }
  args: unknown
  rule: Rule
}

/** Whether the rule lets an approver grant at all: where several must agree, none may agree for the next time. */
export const isGrantable = ({ grant, quorum = 1, selfApproval }: Rule): boolean =>
  grant !== undefined && quorum === 1 && selfApproval !== "confirm"

/**
 * The same for calls that one grant covers: of one tool (name, words and schema), under one rule, with the same values at
 * the paths that the rule names, or with the same args where it names none.
 */
export function markOf({ tool, args, rule }: Granted): string {
  const { name, description, inputSchema } = tool
  const same = rule.grant?.same?.map((path) => valueAt(args, path)) ?? args
  return sha256(canonical([name, description, inputSchema, rule, same]))
}

/** A path that leads nowhere is told from every value. */
function valueAt(args: unknown, path: string): unknown[] {
  let value = args
  for (const part of path.split(".")) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return []
    value = value[part]
  }
  return [value]
}

/** The newest grant that covers the like of `mark`; whether it is over is judged when it is used. */
export const grantFor = (run: Run, mark: string): Grant | undefined =>
  run.grants?.findLast((grant) => grant.mark === mark)
