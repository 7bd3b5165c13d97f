/**
 * The form in which the args of a call are changed before anybody approves them: a field for each value that they hold,
 * and the new args read back. Values that are masked are not offered and stay; args that a form can't show exactly get
 * none. Whether the new args fit the tool, and who may run them, is decided elsewhere.
 */
import type { InputBlock } from "@slack/types"
import { validateAnswerData } from "../../../core/answer-schema.ts"
import { jsonCopy } from "../../../core/json.ts"
import { faultWords } from "../fields.ts"
import { blocksOf, saidIn, unsent, type Unfit } from "./control.ts"
import { leavesOf, type Args, type Leaf } from "./leaves.ts"

/** `kept` names, with dots, the values that are not offered and stay. */
export type EditBlocks = { ok: true; blocks: InputBlock[]; kept: string[] } | Unfit

/** The args with what was changed, or what is wrong by block_id, as the modal's `errors` want it. */
export type ReadEdit = { ok: true; args: Args } | { ok: false; errors: Record<string, string> }

/**
 * An input block for each value of the args, and for each further one that the schema names plainly. `masked` are paths
 * as a rule's `mask` has them ("args.headers.*"). `why` is a clause for a person.
 */
export function editFields(schema: Args, args: Args, masked: readonly string[] = []): EditBlocks {
  const plan = planOf(schema, args, masked)
  return plan.ok ? { ok: true, blocks: plan.blocks, kept: plan.kept } : plan
}

/**
 * The args from the `state.values` of a modal with the blocks of `editFields(schema, args, masked)`, made of the same
 * three. What was left as it was is what it was: the result equals `args` when nothing was changed.
 */
export function readEdit(schema: Args, args: Args, masked: readonly string[], values: unknown): ReadEdit {
  const plan = planOf(schema, args, masked)
  if (!plan.ok) return { ok: false, errors: unsent(values, plan.why) }
  const { said, errors } = saidIn(
    values,
    plan.leaves.map(({ control }) => control),
  )
  const changes: Change[] = []
  for (const [index, leaf] of plan.leaves.entries()) {
    const value = said[index]
    const id = plan.blocks[index]?.block_id ?? ""
    if (errors[id] !== undefined || Object.is(value, leaf.value)) continue
    const fault = faultOf(leaf, value)
    if (fault === undefined) changes.push({ leaf, value })
    else errors[id] = faultWords(fault)
  }
  return Object.keys(errors).length > 0 ? { ok: false, errors } : { ok: true, args: changed(args, changes) }
}

function planOf(schema: Args, args: Args, masked: readonly string[]) {
  const found = leavesOf(schema, args, masked)
  if (!found.ok) return found
  const made = blocksOf(found.leaves.map(({ control }) => control))
  return made.ok ? { ...found, blocks: made.blocks } : made
}

/** What the schema says of this one value. Formats are notes here, as they are when args are checked. */
function faultOf({ known, required, control: { input } }: Leaf, value: unknown): string | undefined {
  if (value === undefined) return required ? "is required" : undefined
  if (value === null || input.kind === "choice") return undefined
  const type = input.kind === "number" ? (input.whole ? "integer" : "number") : "string"
  const field = { ...known.schema, type, format: undefined }
  const valid = validateAnswerData({ properties: { value: field } }, { value })
  return valid.ok ? undefined : valid.errors[0]?.message
}

interface Change {
  leaf: Leaf
  value: unknown
}

function changed(args: Args, changes: readonly Change[]): Args {
  const copied = jsonCopy(args)
  if (!copied.ok) throw new TypeError(`readEdit: ${copied.error}`)
  const next = copied.value as Args
  for (const { leaf, value } of changes) {
    const key = leaf.path.at(-1) ?? ""
    let parent = next
    for (const name of leaf.path.slice(0, -1)) parent = parent[name] as Args
    if (value === undefined) delete parent[key]
    // Not an assignment: a key named `__proto__` stays a key.
    else Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true })
  }
  return next
}
