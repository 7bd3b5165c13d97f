/**
 * Which rule of the file a call falls under. A rule whose `when` meets a value it can't have been written for (a missing
 * one, a list, another case) opens no laxer rule behind it. Knows no person and no ask.
 */
import { isRecord } from "./json.ts"
import type { Principal, Rule, SelfApproval } from "./policy.ts"

type Scalar = string | number | boolean
/** By dotted path: a value, or several of which it must be one; in texts `*` and `?` are wildcards. */
export type When = Readonly<Record<string, Scalar | readonly Scalar[]>>

/** What a rule with `do: ask` may say; what it leaves out is as in the file's defaults. */
export type Asking = {
  [K in keyof Omit<Rule, "name" | "also" | "notify" | "edit">]?: Rule[K] | undefined
} & {
  notify?: "mention" | "dm" | "none" | undefined
  edit?: "off" | Rule["edit"] | undefined
  approvers?: Principal[] | undefined
  selfApproval?: SelfApproval | undefined
}

/** One line of `approvals`, durations in ms, defaults not yet filled in. */
export interface ApprovalRule extends Asking {
  tool: string
  when?: When | undefined
  do: "allow" | "ask" | "deny"
}

/** A call as the rules see it. */
export interface Called {
  tool: string
  args: unknown
  /** The tool's input schema: an enum that lists two spellings says that they differ. */
  schema?: unknown
}

/** `index`: of the rule that decided; absent when none matched. */
export type Decision = ({ do: "allow" } | { do: "deny"; rule: string } | { do: "ask"; rule: Rule }) & { index?: number }

/**
 * The first rule that matches decides; what no rule matches is asked, unless something else is given for it. Rules before it
 * that may have been meant (odd values) hold as well: the strictest of all.
 */
export function decide(
  rules: readonly ApprovalRule[],
  defaults: Rule,
  called: Called,
  otherwise: Decision = { do: "ask", rule: defaults },
): Decision {
  const odd: Decision[] = []
  for (const [index, rule] of rules.entries()) {
    if (!globMatches(rule.tool, called.tool)) continue
    const fits = rule.when === undefined ? "yes" : meets(rule.when, called)
    if (fits === "no") continue
    const decision = decisionOf(rule, index, defaults)
    if (fits === "yes") return strictest(odd, decision)
    odd.push(decision)
  }
  return strictest(odd, otherwise)
}

/** Of those that may have been meant and the one that was. */
const strictest = (odd: readonly Decision[], sure: Decision): Decision => [...odd, sure].reduce(stricter)

function decisionOf(rule: ApprovalRule, index: number, defaults: Rule): Decision {
  if (rule.do === "allow") return { do: "allow", index }
  if (rule.do === "deny") return { do: "deny", rule: rule.tool, index }
  return { do: "ask", rule: { ...asking(defaults, rule), name: `approvals[${index}]` }, index }
}

/** `defaults`, with what `own` says instead. */
export function asking(defaults: Rule, own: Asking): Rule {
  const { notify, edit, ...rest } = own
  const rule: Rule = { ...defaults }
  for (const key of ASKING) if (rest[key] !== undefined) Object.assign(rule, { [key]: rest[key] })
  if (notify !== undefined) delete rule.notify
  if (notify === "dm" || notify === "none") rule.notify = notify
  if (edit !== undefined) delete rule.edit
  if (edit !== undefined && edit !== "off") rule.edit = edit
  if (rule.quorum === 1) delete rule.quorum
  return rule
}

const ASKING = [
  "approvers", "selfApproval", "quorum", "expiresIn", "startWithin", "cards", "remind", "escalate", "reason", "grant", "mask",
] as const // prettier-ignore

const STRICT = { allow: 0, ask: 1, deny: 2 }

/** What holds where two decisions do: a no before a question before a yes, and of two questions both. */
export function stricter(a: Decision, b: Decision): Decision {
  if (a.do === "ask" && b.do === "ask") return { ...a, rule: together(a.rule, b.rule) }
  return STRICT[b.do] > STRICT[a.do] ? b : a
}

/** A rule under which nobody may do what one of the two forbids. Whom to tell, and where, is `a`'s matter. */
export function together(a: Rule, b: Rule): Rule {
  const {
    also: _also,
    quorum: _quorum,
    grant: _grant,
    edit: _edit,
    escalate: _up,
    reason: _why,
    mask: _mask,
    ...rest
  } = a
  return {
    ...rest,
    ...saying(a, b),
    ...given("also", listsOf(a, b)),
    ...given("quorum", Math.max(a.quorum ?? 1, b.quorum ?? 1), 1),
    expiresIn: Math.min(a.expiresIn, b.expiresIn),
    startWithin: Math.min(a.startWithin, b.startWithin),
    ...bothWays(a, b),
    ...(a.reason || b.reason ? { reason: reasonsOf(a.reason, b.reason) } : {}),
    ...given("mask", [...new Set([...(a.mask ?? []), ...(b.mask ?? [])])]),
  }
}

/** What both rules let people do besides deciding. */
const bothWays = (a: Rule, b: Rule): Pick<Rule, "edit" | "escalate"> => ({
  ...editing(a, b),
  ...escalations(a, b),
})

/** Whom one rule brings in later, the other does not know; where one wants the requester alone they are brought in for nothing. */
function escalations(a: Rule, b: Rule): Pick<Rule, "escalate"> {
  if (!a.escalate || !b.escalate || !sameList(a.escalate.to, b.escalate.to) || isAlone(a) !== isAlone(b)) return {}
  return { escalate: { ...a.escalate, after: Math.max(a.escalate.after, b.escalate.after) } }
}

const isAlone = ({ selfApproval }: Rule): boolean => selfApproval === "confirm"

/** A key of a rule, unless it says what is usual. */
const given = <K extends keyof Rule>(key: K, value: NonNullable<Rule[K]>, usual?: Rule[K]): Pick<Rule, K> | object =>
  value === usual || (Array.isArray(value) && value.length === 0) ? {} : { [key]: value }

/** The further lists of both, each once. */
function listsOf(a: Rule, b: Rule): Principal[][] {
  const lists = [...(a.also ?? []), ...[b.approvers, ...(b.also ?? [])].filter((list) => !sameList(list, a.approvers))]
  return lists.filter((list, index) => lists.findIndex((one) => sameList(one, list)) === index)
}

function reasonsOf(
  a: NonNullable<Rule["reason"]> = {},
  b: NonNullable<Rule["reason"]> = {},
): NonNullable<Rule["reason"]> {
  const reason: NonNullable<Rule["reason"]> = {}
  for (const key of ["decline", "approve"] as const) {
    const need = a[key] === "required" ? a[key] : (b[key] ?? a[key])
    if (need) reason[key] = need
  }
  return reason
}

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.every((one) => b.includes(one)) && b.every((one) => a.includes(one))

/** Whom both allow to say yes. Where one wants the requester alone and the other doesn't, that is nobody. */
function saying(a: Rule, b: Rule): Pick<Rule, "approvers" | "selfApproval"> {
  const [alone, other] = [isAlone(a), isAlone(b)]
  if (alone !== other) return { approvers: [], selfApproval: false }
  return { approvers: a.approvers, selfApproval: alone ? "confirm" : a.selfApproval && b.selfApproval }
}

/** Whom both let change the args: where one means the requester and the other those who approve, nobody. */
function editing({ edit: a }: Rule, { edit: b }: Rule): Pick<Rule, "edit"> {
  if (!a || !b || a.by !== b.by) return {}
  return { edit: { by: a.by, ...(a.votes && b.votes ? { votes: true } : {}) } }
}

/** odd: the value is none that the rule's author can have thought of, so whether the rule was meant is unknown. */
export type Fits = "yes" | "no" | "odd"

function meets(when: When, called: Called): Fits {
  const all = pathsOf(when, called).map(({ fits }) => fits)
  if (all.includes("no")) return "no"
  return all.includes("odd") ? "odd" : "yes"
}

/** What stands at a path that a rule names, and whether that is what it wants. */
export interface PathFit {
  path: string
  fits: Fits
  /** Undefined where there is none, or more than one way to read the path. */
  value: unknown
}

function pathsOf(when: When, { args, schema }: Called): PathFit[] {
  return Object.entries(when).map(([path, wanted]) => {
    const values: readonly Scalar[] = Array.isArray(wanted) ? (wanted as readonly Scalar[]) : [wanted as Scalar]
    const value = valueAt(args, path)
    return { path, value, fits: fitsOne(value, values, enumAt(schema, path)) }
  })
}

/** How a rule takes a call, for whoever wants to know why it did or did not apply. */
export function fitOf(rule: ApprovalRule, called: Called): { fits: Fits | "other tool"; paths: PathFit[] } {
  if (!globMatches(rule.tool, called.tool)) return { fits: "other tool", paths: [] }
  const { when } = rule
  return when ? { fits: meets(when, called), paths: pathsOf(when, called) } : { fits: "yes", paths: [] }
}

function fitsOne(value: unknown, wanted: readonly Scalar[], listed: readonly unknown[]): Fits {
  if (!isScalar(value)) return "odd"
  if (wanted.some((one) => isMet(one, value))) return "yes"
  const near = wanted.filter((one) => isMet(folded(one), folded(value)))
  const isListed = listed.includes(value)
  if (near.length === 0) return !isListed && isYesOrNo(wanted, value) ? "odd" : "no"
  // Two spellings that the tool itself tells apart are two values; one that it doesn't have is no spelling.
  const toldApart = isListed && near.every((one) => listed.some((other) => isScalar(other) && isMet(one, other)))
  return toldApart ? "no" : "odd"
}

const isScalar = (value: unknown): value is Scalar => ["string", "number", "boolean"].includes(typeof value)

/** Where yes or no is wanted a tool may take anything for one of them. */
const isYesOrNo = (wanted: readonly Scalar[], value: Scalar): boolean =>
  typeof value !== "boolean" && wanted.every((one) => typeof one === "boolean")

const isMet = (wanted: Scalar, value: Scalar): boolean =>
  typeof wanted === "string" && typeof value === "string" ? globMatches(wanted, value) : wanted === value

/** What is left of a value when nothing is made of case, blanks, look-alike forms, and spellings and quotes of numbers. */
function folded(value: Scalar): string {
  const text = String(value)
    .normalize("NFKC")
    .replaceAll(/[\p{Cf}\p{Cc}\p{Z}]/gu, "")
    .toLowerCase()
  const number = text === "" ? Number.NaN : Number(text)
  return Number.isFinite(number) ? String(number) : text
}

/** The value at a dotted path; undefined where there is none, or more than one way to read the path. */
export function valueAt(args: unknown, path: string): unknown {
  const parts = path.split(".")
  if (waysOf(args, parts) !== 1) return undefined
  let value = args
  for (const part of parts) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined
    value = value[part]
  }
  return value
}

/** In how many ways it can be read: a key may have dots in it. */
function waysOf(value: unknown, parts: readonly string[]): number {
  if (parts.length === 0) return 1
  if (!isRecord(value)) return 0
  const keys = parts.map((_, index) => parts.slice(0, index + 1).join("."))
  const ways = keys.map((key, index) => (Object.hasOwn(value, key) ? waysOf(value[key], parts.slice(index + 1)) : 0))
  return ways.reduce((sum, count) => sum + count, 0)
}

function enumAt(schema: unknown, path: string): readonly unknown[] {
  let at = schema
  for (const part of path.split(".")) {
    const properties = isRecord(at) ? at["properties"] : undefined
    at = isRecord(properties) && Object.hasOwn(properties, part) ? properties[part] : undefined
  }
  return isRecord(at) && Array.isArray(at["enum"]) ? at["enum"] : []
}

/** Whether one of the globs matches. */
export const anyMatches = (globs: readonly string[], name: string): boolean =>
  globs.some((glob) => globMatches(glob, name))

/**
 * `*` is any run of characters, `?` one; everything else is itself. Case-sensitive, whole name. No regular expression, which
 * would try every way to share a name among many `*`: only the last `*` seen can ever need to take one character more.
 */
export function globMatches(glob: string, name: string): boolean {
  const pattern = [...glob]
  const text = [...name]
  let at = 0
  let star: { next: number; takenTo: number } | undefined
  for (let i = 0; i < text.length;) {
    if (pattern[at] === "*") star = { next: ++at, takenTo: i }
    else if (pattern[at] === "?" || pattern[at] === text[i]) [at, i] = [at + 1, i + 1]
    else if (star) [at, i] = [star.next, ++star.takenTo]
    else return false
  }
  return pattern.slice(at).every((one) => one === "*")
}

/** Whether there is a name that both match. */
export function globsMeet(a: string, b: string): boolean {
  const right = [...b]
  // meets[j]: whether what was read of `a` and the first j characters of `b` have a name in common.
  let meets = [true, ...right.map((_, j) => right.slice(0, j + 1).every((one) => one === "*"))]
  for (const one of a) {
    const next = [one === "*" && meets[0] === true]
    for (const [j, other] of right.entries()) {
      const along = next[j] === true || meets[j + 1] === true
      const both = meets[j] === true && (one === other || one === "?" || other === "?")
      next.push(one === "*" || other === "*" ? along : both)
    }
    meets = next
  }
  return meets.at(-1) === true
}
