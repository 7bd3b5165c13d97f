/**
 * Grants: an approver lets the like of a call run unasked, in one run and for a while, until it is over or taken back.
 * Pure: what is known of a person comes in.
 */
import { canonical, sha256 } from "./digest.ts"
import type { Entry, Via } from "./fact.ts"
import { escalatedRule, mayDecide, mayRevoke, type Denial, type Rule, type Who, type Wish } from "./policy.ts"
import { valueAt } from "./rules.ts"
import { step, wishOf, type Grant, type Run, type Step } from "./run.ts"

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
 * the paths that the rule names, or with the same args where it names none. Where one of its paths leads nowhere, the paths
 * don't say what the call is about: then all args count.
 */
export function markOf({ tool, args, rule }: Granted): string {
  const { name, description, inputSchema } = tool
  const values = rule.grant?.same?.map((path) => valueAt(args, path))
  const same = values === undefined || values.includes(undefined) ? { args } : values
  return sha256(canonical([name, description, inputSchema, rule, same]))
}

/** The newest grant that covers the like of `mark`; whether it is over is judged when it is used. */
export const grantFor = (run: Run, mark: string): Grant | undefined =>
  run.grants?.findLast((grant) => grant.mark === mark && grant.revoked === undefined)

/** Whether whoever gave it could still give it. */
export const mayStillGrant = ({ rule, escalated }: Grant, wish: Wish, giver: Who): boolean =>
  mayDecide(escalated ? escalatedRule(rule) : rule, wish, giver, true).ok

/** Those that still let something run at `now`. */
export const grantsInForce = (run: Run, now: number): Grant[] =>
  run.ended || run.cancelled ? [] : (run.grants ?? []).filter(({ until, revoked }) => !revoked && now < until)

/** What people call a grant by: its run's id and its number there, from 1. */
export const grantRef = (run: Run, grant: Pick<Grant, "id">): string =>
  `${run.id}.${(run.grants ?? []).findIndex(({ id }) => id === grant.id) + 1}`

export type RevokeOutcome =
  | { kind: "revoked"; grant: Grant }
  /** It was taken back before, its time is over, or its run is. */
  | { kind: "over"; grant: Grant }
  | { kind: "denied"; why: Denial }
  | { kind: "unknown" }

/** One person's attempt to take a grant back. `admins` may as well. */
export interface Revoking {
  /** The grant's id. */
  grant: string
  who: Who
  admins: readonly string[]
  via: Via
  /** The same over retries and redeliveries of this attempt. */
  cause: string
}

/** Takes a grant back, if the person may: from now on the like of it is asked about again. */
export function revoke(run: Run, tried: Revoking, now: number): { step?: Step; outcome: RevokeOutcome } {
  const grant = run.grants?.find(({ id }) => id === tried.grant)
  if (!grant) return { outcome: { kind: "unknown" } }
  if (grant.revoked?.cause === tried.cause) return { outcome: { kind: "revoked", grant } }
  const { who, via, cause } = tried
  const about = { via, by: who.person, ask: grant.ask, tool: grant.tool, cause }
  const right = mayRevoke({ ...grant, admins: tried.admins }, wishOf(run), who)
  if (!right.ok) {
    const entry: Entry = { what: "refused", ...about, outcome: `revoke: ${right.why}` }
    return { step: step(run, now, [entry], { show: "" }), outcome: { kind: "denied", why: right.why } }
  }
  if (!grantsInForce(run, now).includes(grant)) return { outcome: { kind: "over", grant } }
  const after: Grant = { ...grant, until: now, revoked: { by: who.person, at: now, cause } }
  const next = { ...run, grants: (run.grants ?? []).map((one) => (one === grant ? after : one)) }
  return { step: step(next, now, [{ what: "revoked", ...about }]), outcome: { kind: "revoked", grant: after } }
}
