/**
 * The rules of `approvals`, of the file and of each agent: what each may say, and what must not stand behind what. It knows no
 * tool that there is.
 */
import { z } from "zod"
import { isRecord } from "../core/json.ts"
import { globsMeet, type ApprovalRule, type Asking } from "../core/rules.ts"
import { asking, contradiction, when } from "./asking.ts"
import { mapping, said } from "./forms.ts"

/** Which tools something is about. */
export const toolGlob = z
  .string({ error: said("a tool's name; * stands for any characters, ? for one") })
  .regex(/^[A-Za-z0-9_*?-]{1,64}$/, {
    error: said("a tool's name (letters, digits, _ and -); * stands for any characters, ? for one"),
  })

const rule = mapping({
  tool: toolGlob,
  when: when.optional(),
  do: z.enum(["allow", "ask", "deny"], { error: said("allow, ask or deny") }),
  ...z.object(asking).partial().shape,
})
  .refine((rule) => !asksNobody(rule) || OF_ASKING.every((key) => rule[key] === undefined), {
    error: ({ input }) => `asks nobody: ${saidOf(input)} to a rule with do: ask`,
    // Told beside whatever else is wrong with the rule.
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .check(consistent)

/** The first that matches decides. */
export const approvals = z
  .array(rule, { error: said('a list of rules, such as [ { tool: "get_*", do: allow } ]') })
  .check(guarded)

const OF_ASKING = Object.keys(asking) as readonly (keyof typeof asking)[]
const asksNobody = (rule: { do?: unknown }): boolean => rule.do === "allow" || rule.do === "deny"

function saidOf(rule: unknown): string {
  const keys = OF_ASKING.filter((key) => isRecord(rule) && key in rule)
  return `${keys.join(", ")} belong${keys.length === 1 ? "s" : ""}`
}

/** What a rule, or an agent for all its calls, must not say in two places at once. */
export function consistent({ value, issues }: { value: Asking; issues: z.core.$ZodRawIssue[] }): void {
  const message = contradiction(value)
  if (message !== undefined) issues.push({ code: "custom", input: value, message })
}

/** A laxer rule behind one with `when` takes what that one lets slip; so it must say itself what it is for. */
function guarded({ value: rules, issues }: { value: readonly ApprovalRule[]; issues: z.core.$ZodRawIssue[] }): void {
  for (const [index, lax] of rules.entries()) {
    if (lax.do !== "allow" || lax.when !== undefined) continue
    const strict = rules.findIndex((rule) => rule.when && rule.do !== "allow" && globsMeet(rule.tool, lax.tool))
    if (strict < 0 || strict > index) continue
    const message = `allows what approvals[${strict}] lets slip by its when: give this rule a when of its own that says for which values it is meant`
    issues.push({ code: "custom", input: lax, path: [index], message })
  }
}
