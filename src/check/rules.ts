/**
 * Whether every rule is about some tool, and can match. It asks nobody.
 */
import type { Known } from "../config.ts"
import { alike } from "../config/forms.ts"
import type { KnownRule } from "../config/known.ts"
import { globMatches } from "../core/rules.ts"
import { fault, type Report, together, warning } from "./report.ts"

/**
 * `tools` are the names of all tools there are; undefined when some of them can't be told. `mayChange`: there may be others
 * at another time.
 */
export function checkRules(
  { approvals, at }: Known,
  tools: readonly string[] | undefined,
  { mayChange = false }: { mayChange?: boolean } = {},
): Report {
  const missing = mayChange ? warning : fault
  return together(
    ...approvals.items.map((rule) => {
      const { index, tool } = rule
      if (tool === undefined) return together()
      const where = at(["approvals", index])
      if (tools && tool !== "*" && !tools.some((name) => globMatches(tool, name))) {
        return missing(`${where}: no tool's name is ${tool}; ${meant(tool, tools)}`)
      }
      const earlier = approvals.items.find((one) => one.index < index && covers(one, tool))
      if (earlier === undefined) return hidden(rule, approvals.items, where)
      const first = `approvals[${earlier.index}] (${earlier.tool ?? ""})`
      const remedy = earlier.tool === tool ? "Take one of them out" : "Put it first, or take it out"
      return fault(`${where}: ${tool} never gets that far: ${first} matches it, and the first match wins. ${remedy}.`)
    }),
  )
}

/**
 * Whether the rule matches all that a pattern does. Read as a name, a pattern stands for what it matches, but a `?` is no
 * `*`.
 */
function covers({ tool: wide, always }: KnownRule, narrow: string): boolean {
  if (wide === undefined || !always) return false
  return wide === narrow || (globMatches(wide, narrow) && !(wide.includes("?") && /[*?]/.test(narrow)))
}

/** What an earlier rule takes whenever this one would: it asks for no more of the args. Told apart from it only by odd values. */
function hidden({ index, tool = "", rule }: KnownRule, all: readonly KnownRule[], where: string): Report {
  const when = rule?.when
  if (when === undefined) return together()
  const earlier = all.find((one) => {
    const first = one.index < index ? one.rule?.when : undefined
    if (first === undefined || !covers({ ...one, always: true }, tool)) return false
    return Object.entries(first).every(([path, wanted]) => sameWanted(when[path], wanted))
  })
  if (earlier === undefined) return together()
  const first = `approvals[${earlier.index}] (${earlier.tool ?? ""})`
  return warning(
    `${where}: ${first} matches whenever this rule does, and the first match wins. Put this one first, or take it out.`,
  )
}

const sameWanted = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

function meant(tool: string, tools: readonly string[]): string {
  if (tools.length === 0) return "there are no tools: put the file of that one into tools, or take the rule out."
  const bare = tool.replaceAll(/[*?]/g, "")
  const near = tools.filter((name) => alike(bare, name) || (bare.length > 2 && name.includes(bare)))
  if (near.length > 0) return `did you mean ${near.join(" or ")}? Correct it, or take the rule out.`
  const some = tools.slice(0, 10).join(", ")
  return `there ${tools.length === 1 ? "is" : "are"} ${some}${tools.length > 10 ? ", …" : ""}: put one of these, or take the rule out.`
}
