/**
 * Showing what is masked to one person who may see it, after the fact of it. Settles nothing.
 */
import { about } from "../core/ask.ts"
import type { Person } from "../core/fact.ts"
import { mayDecide, type Denial, type Rule } from "../core/policy.ts"
import { decidersOf, ruleOf, step, wishOf } from "../core/run.ts"
import { find, textsOf } from "./ask.ts"
import type { Press, Ref } from "./blocks/intent.ts"
import { visibleJson } from "./blocks/text.ts"
import { words } from "./blocks/words.ts"
import { attempt } from "./counted.ts"
import type { Reaction } from "./decide.ts"
import { rightOf, type Front } from "./front.ts"
import { causeOf, wayOf } from "./press.ts"
import { unapplied } from "./replies.ts"

/** The args (and for a tool's own ask its Request) as they are, once the fact of showing them is recorded. */
export async function reveal(
  front: Front,
  ref: Ref,
  press: Press,
  person: Person,
): Promise<{ text: string } | Reaction> {
  const found = await find(front, ref)
  if (!found) return { said: { about: "stale" }, told: false }
  const { loaded, ask } = found
  // Whoever asked for the run may not say yes to it, but if listed is one of those who decide all the same.
  const rule = ruleOf(ask)
  const sees: Rule = { ...rule, selfApproval: rule.selfApproval || true }
  const { who, right } = await rightOf(front.people, person, decidersOf(ask), (who) =>
    mayDecide(sees, wishOf(loaded.run), who, true),
  )
  const why: Denial | undefined = right.ok ? undefined : right.why
  const cause = causeOf(press, ref.ask)
  const entry = { via: "click", by: who.person, cause } as const
  const applied = await attempt<"shown" | "refused" | "gone">(front, loaded.run.id, {
    transition: (run, now) => {
      if (why === undefined) {
        return { step: step(run, now, [about(ask, { what: "revealed", ...entry })], { show: "" }), outcome: "shown" }
      }
      const refusal = about(ask, { what: "refused", ...entry, outcome: `reveal: ${why}` })
      const refused = step(run, now, [refusal], { show: "" })
      return { step: refused, outcome: "refused", refusal: words({ about: "reveal", why }) }
    },
    gone: "gone",
    word: wayOf(press),
    cause,
    known: loaded,
  })
  if (applied.kind !== "applied") return { said: unapplied(applied), told: false }
  const { outcome, told } = applied.outcome
  if (outcome === "gone") return { said: { about: "stale" }, told: false }
  if (why !== undefined) return { said: { about: "reveal", why }, told }
  const { request, args } = await textsOf(front, ref.run, ask)
  // Where to sign in is for whoever asked for the run alone, in a window of its own.
  const { url, ...rest } = request
  const shown = ask.kind === "authorization" || url === undefined ? rest : request
  const asked = ask.from === "tool" ? `\n\nThe tool's request:\n${visibleJson(JSON.stringify(shown))}` : ""
  return { text: `${visibleJson(args)}${asked}` }
}
