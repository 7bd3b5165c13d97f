/**
 * Which values of a call's args a form offers, each with its control: what is masked stays out, and what a form can't
 * show exactly rules the form out. Reads no answer.
 */
import { credentialWord } from "../../../core/credential.ts"
import { canonical } from "../../../core/digest.ts"
import { isRecord } from "../../../core/json.ts"
import { mask } from "../../../core/mask.ts"
import { reaches, segmentsOf } from "../../../core/mask/paths.ts"
import { inputOf, rulesOf } from "../fields.ts"
import { blocksOf, quoted, type Control, type Unfit } from "./control.ts"
import { unshowable } from "./exact.ts"
import { fieldOf, isSimple, knownOf, type Known } from "./tool-schema.ts"

export type Args = Record<string, unknown>
export type Path = readonly string[]

export interface Leaf {
  path: Path
  /** Undefined when the args don't have it. */
  value: unknown
  known: Known
  required: boolean
  control: Control
}

/** `kept` names what is not offered and stays; a name that is a secret itself is masked. */
export type Leaves = { ok: true; leaves: Leaf[]; kept: string[] } | Unfit

/** How deep objects may stand in objects: further down a dotted name says little. */
const DEEPEST = 4

/** The values of `args` in the schema's order, then those that it doesn't name. `masked` are paths as a rule's `mask` has them. */
export function leavesOf(schema: Args, args: Args, masked: readonly string[]): Leaves {
  const shown = shownOf(args)
  if (shown === undefined) return { ok: false, why: "a masked value can't be told from what stands around it" }
  const call = { root: schema, patterns: masked.map(segmentsOf) }
  const found = inObject(call, { schema, value: args, shown, path: [] })
  return found.ok && found.leaves.length === 0
    ? { ok: false, why: "there is nothing in it that can be edited here" }
    : found
}

/** The args with what is masked in them; undefined when the masked text is no JSON any more. */
function shownOf(args: Args): unknown {
  try {
    return JSON.parse(mask(inTexts(args)).text)
  } catch {
    return undefined
  }
}

/** Canonical JSON in which every plain value is a text, so that a mask in its place leaves it JSON. */
const inTexts = (value: unknown): string =>
  canonical(
    JSON.parse(canonical(value), (_, one: unknown) =>
      typeof one === "number" || typeof one === "boolean" ? String(one) : one,
    ),
  )

interface Call {
  root: Args
  patterns: readonly Path[]
}
interface Place {
  schema: unknown
  value: unknown
  shown: unknown
  path: Path
  required: boolean
}

const none = (...kept: Path[]): Leaves => ({
  ok: true,
  leaves: [],
  kept: kept.map((path) => mask(path.join(".")).text),
})
const nameOf = (path: Path): string => quoted(path.join("."))
const own = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined

function inObject(call: Call, { schema, value, shown, path }: Omit<Place, "required">): Leaves {
  if (path.length > DEEPEST) return { ok: false, why: `${nameOf(path)} is nested too deep for a form` }
  const { properties, required } = knownOf(schema, call.root).schema
  const names = [properties, value].flatMap((one) => (isRecord(one) ? Object.keys(one) : []))
  const leaves: Leaf[] = []
  const kept: string[] = []
  for (const key of new Set(names)) {
    const found = at(call, {
      schema: own(properties, key),
      value: own(value, key),
      shown: own(shown, key),
      path: [...path, key],
      required: Array.isArray(required) && required.includes(key),
    })
    if (!found.ok) return found
    leaves.push(...found.leaves)
    kept.push(...found.kept)
  }
  return { ok: true, leaves, kept }
}

function at(call: Call, place: Place): Leaves {
  const { path, value, shown } = place
  if (isMasked(call.patterns, path, value)) return value === undefined ? none() : none(path)
  if (value === undefined) return further(call, place)
  if (shown === undefined) return none(path)
  return isRecord(value) ? inObject(call, place) : present(call, place)
}

/** A value that the args have. */
function present(call: Call, { schema, value, shown, path, required }: Place): Leaves {
  const known = knownOf(schema, call.root)
  const masked = inTexts([value]) !== canonical([shown])
  // Of a constant nothing else could be made.
  if (masked || isSecret(known, path, false) || Object.hasOwn(known.schema, "const")) return none(path)
  const fit = inputFor(known, value)
  if (!fit.ok) return { ok: false, why: `${nameOf(path)} ${fit.why}` }
  return { ok: true, leaves: [leafOf({ path, value, known, required }, fit.input)], kept: [] }
}

/** A value that the args could have as well: offered where the schema says plainly what it may be, and it is no secret. */
function further(call: Call, { schema, path, required }: Place): Leaves {
  const known = knownOf(schema, call.root)
  if (!isSimple(known) || isSecret(known, path, true) || Object.hasOwn(known.schema, "const")) return none()
  const leaf = leafOf({ path, value: undefined, known, required }, inputOf(fieldOf(known), undefined))
  // What isn't there need not be offered.
  return blocksOf([leaf.control]).ok ? { ok: true, leaves: [leaf], kept: [] } : none()
}

/** Choices and yes/no can't carry a secret; everything that is typed can, and must never be typed into a form. */
function isSecret({ type, choices, schema }: Known, path: Path, described: boolean): boolean {
  if (type === "boolean" || choices !== undefined) return false
  const texts = [path.at(-1), ...(described ? [schema["title"], schema["description"]] : [])]
  const numeric = type === "number" || type === "integer"
  const words = texts.flatMap((text) => (typeof text === "string" ? [credentialWord(text)] : []))
  return schema["format"] === "password" || words.some((word) => word !== undefined && !(numeric && word === "token"))
}

type Fit = { ok: true; input: Control["input"] } | Unfit

function inputFor(known: Known, value: unknown): Fit {
  if (Array.isArray(value)) return severalFor(known, value)
  if (value === null) return nothingFor(known)
  const { choices, type, schema } = known
  if (choices?.some((choice) => choice.value === value) === true && type !== "array") {
    return { ok: true, input: { kind: "choice", choices, several: false, initial: [value] } }
  }
  const fault = typeof value === "string" ? unshowable(value) : undefined
  if (fault !== undefined) return { ok: false, why: `has ${fault}` }
  const kind = typeof value === "number" && type === "integer" ? type : typeof value
  return { ok: true, input: slim(inputOf(fieldOf({ schema, nullable: false, type: kind }), value)) }
}

/** A line of text gets one line, whatever longer texts the tool would take. */
const slim = (input: Control["input"]): Control["input"] =>
  input.kind === "text" && (input.initial ?? "").length <= LINE && !/[\r\n]/.test(input.initial ?? "")
    ? { ...input, multiline: false }
    : input
const LINE = 60

function nothingFor(known: Known): Fit {
  const why = "has no value, and the tool doesn't say plainly which it could have"
  return isSimple(known) ? { ok: true, input: inputOf(fieldOf(known), undefined) } : { ok: false, why }
}

function severalFor({ choices, schema }: Known, value: unknown[]): Fit {
  const known = choices?.map((choice): unknown => choice.value) ?? []
  const simple = value.every((one) => known.includes(one)) && new Set(value).size === value.length
  if (choices === undefined || !simple) return { ok: false, why: "is a list, which a form can't hold" }
  const max = typeof schema["maxItems"] === "number" ? schema["maxItems"] : undefined
  return { ok: true, input: { kind: "choice", choices, several: true, max, initial: value } }
}

function leafOf(leaf: Omit<Leaf, "control">, input: Control["input"]): Leaf {
  const { path, value, known, required } = leaf
  const { title, description } = known.schema
  const name = path.join(".")
  const said = [title === path.at(-1) ? undefined : title, description].filter((text) => typeof text === "string")
  const empty = emptyOf(known, value)
  const control: Control = {
    label: name.trim() === name && name !== "" ? name : JSON.stringify(name),
    hint: [...said, ...rulesOf(fieldOf(known)), ...blanks(value)].join(" "),
    optional: !required || empty !== undefined,
    empty,
    input,
  }
  return { ...leaf, control }
}

/** What an empty field stands for: what it was when it was empty, null where that may be, else that there is no value. */
function emptyOf({ nullable }: Known, value: unknown): unknown {
  if (value === undefined) return undefined
  if (value === null || (typeof value === "string" && value.trim() === "")) return value
  if (Array.isArray(value)) return value.length === 0 ? value : []
  return nullable ? null : undefined
}

const blanks = (value: unknown): string[] =>
  typeof value === "string" && value.trim() !== value
    ? ["The blanks and line breaks at its ends stay, unless something else in it is changed."]
    : []

/** Whether a rule masks the value, or what it stands in, or of a list anything in it; by the card's own reading of paths. */
const isMasked = (patterns: readonly Path[], path: Path, value: unknown): boolean =>
  patterns.some((pattern) => covers(pattern, path, Array.isArray(value)))

function covers(pattern: Path, [key, ...rest]: Path, list: boolean): boolean {
  if (pattern.length === 0) return true
  if (key === undefined) return list
  return reaches(pattern, 0, key.toLowerCase()).some((far) => covers(pattern.slice(far), rest, list))
}
