/**
 * What one agent's own rules make of what the file's say: only something stricter, or the same. Knows neither agents nor files
 * beyond their rules.
 */
import type { Rule } from "./policy.ts"
import { asking, decide, together, type ApprovalRule, type Asking, type Called, type Decision } from "./rules.ts"

/** What an agent adds to the file's policy. */
export interface Tightening {
  /** The agent's name. */
  agent: string
  rules: readonly ApprovalRule[]
  /** For all its calls that are asked about. */
  asking: Asking
}

/** `own`: which of the agent's rules decided as well. */
export type Tightened = Decision & { own?: number }

/**
 * A call must get past the file and past the agent. What the agent's rules don't mention, or allow, is as the file has it, with
 * the agent's own settings besides; where both ask, both must be satisfied; where the agent alone asks, so must the file's own
 * settings.
 * @param file what the file's rules say of the call
 * @param defaults the file's own settings
 */
export function tightened(file: Decision, own: Tightening, defaults: Rule, called: Called): Tightened {
  if (file.do === "deny") return file
  const of = file.do === "ask" ? file.rule : defaults
  const base = asking(of, own.asking)
  const said = decide(own.rules, base, called, { do: "allow" })
  const from = { ...indexOf("index", file.index), ...indexOf("own", said.index) }
  if (said.do === "deny") return { ...said, ...from }
  if (said.do === "allow" && file.do === "allow") return { ...file, ...from }
  const rule = said.do === "ask" ? both(said.rule, of) : tightenedDefaults(own, of)
  return { do: "ask", rule: nameOf({ own, said, file }, rule), ...from }
}

/** What the agent's settings for all its calls make of a rule, or of the file's settings for what no rule asks about. */
export const tightenedDefaults = (own: Tightening, rule: Rule): Rule =>
  saysAny(own.asking) ? both(asking(rule, own.asking), rule) : rule

/** Every key of them: one that is left out here would be said in vain. */
const ASKING: Record<keyof Asking, true> = {
  approvers: true,
  selfApproval: true,
  quorum: true,
  expiresIn: true,
  startWithin: true,
  notify: true,
  cards: true,
  remind: true,
  escalate: true,
  reason: true,
  edit: true,
  grant: true,
  mask: true,
}

/** What an agent's settings say of asking. */
export const askingIn = (settings: Asking): Asking =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => Object.hasOwn(ASKING, key)))

const saysAny = (asking: Asking): boolean => Object.values(asking).some((value) => value !== undefined)

const indexOf = (key: "index" | "own", index: number | undefined): Pick<Tightened, "index" | "own"> =>
  index === undefined ? {} : { [key]: index }

/** Both at once; a grant that both give in the same way stays. */
function both(agent: Rule, file: Rule): Rule {
  const rule = together(agent, file)
  const [mine, theirs] = [agent.grant, file.grant]
  if (!mine || !theirs || !isSame(mine.same, theirs.same)) return rule
  return { ...rule, grant: { ...mine, for: Math.min(mine.for, theirs.for) } }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Where the rule stands in the file, so that people find it again. */
function nameOf(
  { own, said, file }: { own: Tightening; said: Decision; file: Decision },
  { name: _name, ...rule }: Rule,
): Rule {
  const mine =
    said.do !== "ask" || said.index === undefined ? undefined : `agents.${own.agent}.approvals[${said.index}]`
  const theirs = file.do === "ask" ? file.rule.name : undefined
  const name = [theirs, mine].filter((one) => one !== undefined).join(" and ")
  return name === "" ? rule : { ...rule, name }
}
