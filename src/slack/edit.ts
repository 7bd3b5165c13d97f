/**
 * Changing the args of a call before anybody approves it: the form with what they are, and what is saved from it. Whether
 * the tool takes them, and under which rule they fall, is asked anew; who may change them is the rule's to say.
 */
import type { ModalView } from "@slack/types"
import { edit, type EditOutcome } from "../core/edit.ts"
import type { Person } from "../core/fact.ts"
import { editorsVote, mayDecide, mayEdit, type Right, type Who } from "../core/policy.ts"
import { decidersOf, ruleOf, wishOf, type Ask, type Run } from "../core/run.ts"
import { find, textsOf, type Found } from "./ask.ts"
import { short } from "./blocks/rich.ts"
import { editFields, readEdit } from "./blocks/fields/edit.ts"
import { editForm } from "./blocks/forms.ts"
import type { Carried } from "./blocks/intent.ts"
import { words, type Said } from "./blocks/words.ts"
import { attempt } from "./counted.ts"
import type { Came, Sent } from "./form.ts"
import { rightOf, type Front } from "./front.ts"
import { causeOf, wayOf } from "./press.ts"
import { unapplied } from "./replies.ts"
import type { Opening } from "./window.ts"

/** The form for this person, or why there is none. */
export async function fillEdit(
  front: Front,
  { version }: Opening,
  carried: Carried,
  person: Person,
  { loaded, ask, archived }: Found,
): Promise<ModalView | Said> {
  const { who, right } = await whoEdits(front, loaded.run, ask, person)
  const refused = refusal(ask, version, right)
  if (refused) return { about: "edit", outcome: refused }
  if (archived || ask.from !== "guard") return { about: "edit", outcome: { kind: "unknown" } }
  const schema = (await front.callsFor(loaded.run)).schemaOf(ask.tool)
  if (!schema) return { about: "uneditable", why: "its tool is not available any more" }
  const { args } = await textsOf(front, loaded.run.id, ask)
  const made = editFields(schema, JSON.parse(args) as Record<string, unknown>, ruleOf(ask).mask ?? [])
  if (!made.ok) return { about: "uneditable", why: made.why }
  const votes = editorsVote(ruleOf(ask)) && mayDecide(ruleOf(ask), wishOf(loaded.run), who, true).ok
  return editForm(carried, { tool: ask.tool, fingerprint: short(ask.digest), kept: made.kept, votes }, made.blocks)
}

function refusal(ask: Ask, version: number, right: Right): EditOutcome | undefined {
  if (ask.settled) return { kind: "settled", ask }
  if (!right.ok) return { kind: "denied", ask, why: right.why }
  return ask.version === version ? undefined : { kind: "changed", ask }
}

const whoEdits = ({ people }: Front, run: Run, ask: Ask, person: Person): Promise<{ who: Who; right: Right }> =>
  rightOf(people, person, decidersOf(ask), (who) => mayEdit(ruleOf(ask), wishOf(run), who))

/** Saves what was filled in, if the person may. Throws when it can't be read. */
export async function saveEdit(front: Front, intent: Sent, person: Person): Promise<Came> {
  const found = await find(front, intent)
  if (!found) return { said: { about: "stale" }, told: false }
  const { loaded, ask } = found
  const { who, right } = await whoEdits(front, loaded.run, ask, person)
  const given = await givenBy(front, intent, found)
  // Whoever may not change it, or comes too late, is told that and not which field is wrong.
  if ("errors" in given && !refusal(ask, intent.version, right)) return given
  if ("said" in given) return given
  const { press, version } = intent
  const cause = causeOf(press, ask.id)
  const tried = "errors" in given ? NOTHING : given
  const applied = await attempt<EditOutcome>(front, loaded.run.id, {
    transition: (run, now) => {
      const { step, outcome } = edit(run, { ask: ask.id, version, who, via: "form", cause, ...tried }, now)
      const isRefused = outcome.kind !== "edited" && outcome.kind !== "unchanged"
      return { step, outcome, ...(isRefused ? { refusal: words({ about: "edit", outcome }) } : {}) }
    },
    gone: { kind: "unknown" },
    word: wayOf(press),
    cause,
    known: loaded,
  })
  if (applied.kind !== "applied") return { said: unapplied(applied), told: false }
  const { outcome, told } = applied.outcome
  return { said: { about: "edit", outcome }, told: told && outcome.kind !== "unchanged" && outcome.kind !== "unknown" }
}

type Given = Pick<Parameters<typeof edit>[1], "args" | "digest" | "decision" | "request">

/** What a form says that is refused in any case. */
const NOTHING: Given = {
  args: "{}",
  digest: "",
  decision: { do: "deny", rule: "" },
  request: { id: "none", kind: "approval", prompt: "" },
}

/** The new args, as the tool and the rules see them; or what is wrong with them. */
async function givenBy(front: Front, intent: Sent, { loaded, ask }: Found): Promise<Given | Came> {
  const calls = await front.callsFor(loaded.run)
  const schema = calls.schemaOf(ask.tool)
  if (!schema) return { said: { about: "uneditable", why: "its tool is not available any more" }, told: false }
  const { args } = await textsOf(front, loaded.run.id, ask)
  const read = readEdit(schema, JSON.parse(args) as Record<string, unknown>, ruleOf(ask).mask ?? [], intent.values)
  if (!read.ok) return { errors: read.errors }
  const judged = calls.judge(ask.tool, read.args, loaded.run.agent)
  return judged.ok ? judged : { said: { about: "unfit args", why: judged.why }, told: false }
}
