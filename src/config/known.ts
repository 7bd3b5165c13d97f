/**
 * What of the settings could be read, whatever else is wrong with the file: so much can be looked at. Nothing here stands
 * in for what couldn't be read, or a default would be taken for what was meant.
 */
import { z } from "zod"
import { alike } from "./forms.ts"
import type { settings } from "./settings.ts"
import type { YamlFile } from "./yaml.ts"

type Schema = ReturnType<typeof settings>
type Settings = z.output<Schema>
type Rule = Settings["approvals"][number]

/** A list, as far as it could be read. */
export interface Part<T> {
  items: readonly T[]
  /** Whether these are all of it. */
  whole: boolean
}

export interface KnownRule {
  /** Its place in the file's list. */
  index: number
  tool: string | undefined
  /** Whether it is about every call of these tools; else it says, or may say, of which. */
  always: boolean
  do: Rule["do"] | undefined
  selfApproval: Rule["selfApproval"]
  /** Undefined: it has none of its own, or they are not known. */
  approvers: Part<string> | undefined
  /** The rule, when all of it could be read. */
  rule: Rule | undefined
}

export interface KnownAgent {
  name: string
  /** The agent, when all of it could be read. */
  agent: Settings["agents"][string] | undefined
}

/** What is undefined isn't known. */
export interface KnownSettings {
  tools: Part<string>
  httpTools: Part<Settings["httpTools"][number]>
  mcpServers: Settings["mcpServers"] | undefined
  /** "none": the file has none. */
  signIn: "none" | Settings["signIn"]
  command: string | undefined
  starters: Part<string>
  channels: Part<string>
  approvers: Part<string>
  admins: Part<string>
  selfApproval: Settings["selfApproval"] | undefined
  quorum: Settings["quorum"]
  edit: Settings["edit"]
  cards: Settings["cards"]
  escalate: Settings["escalate"]
  approvals: Part<KnownRule>
  agents: Part<KnownAgent>
  doors: Settings["doors"] | undefined
  /** "none": the file has none. */
  audit: "none" | Partial<NonNullable<Settings["audit"]>> | undefined
  redis: Partial<Settings["redis"]>
}

type Source = Pick<YamlFile, "data" | "unread" | "whole">

const NOTHING: Source = { data: {}, unread: new Set(), whole: false }

/** `source` is undefined when nothing of the file could be read. */
export function knownOf({ shape }: Schema, source: Source = NOTHING): KnownSettings {
  const list = <T extends z.ZodType>(key: keyof typeof shape, schema: { unwrap(): z.ZodArray<T> }): Part<z.output<T>> =>
    isTold(shape, source, key) ? partOf(schema.unwrap().element, source.data[key] ?? []) : { items: [], whole: false }
  return {
    tools: list("tools", shape.tools),
    httpTools: list("httpTools", shape.httpTools),
    mcpServers: valueOf(shape, source, "mcpServers"),
    signIn: isTold(shape, source, "signIn")
      ? source.data["signIn"] === undefined
        ? "none"
        : valueOf(shape, source, "signIn")
      : undefined,
    command: valueOf(shape, source, "command"),
    starters: list("starters", shape.starters),
    channels: list("channels", shape.channels),
    approvers: list("approvers", shape.approvers),
    admins: list("admins", shape.admins),
    selfApproval: valueOf(shape, source, "selfApproval"),
    quorum: valueOf(shape, source, "quorum"),
    edit: valueOf(shape, source, "edit"),
    cards: valueOf(shape, source, "cards"),
    escalate: valueOf(shape, source, "escalate"),
    approvals: isTold(shape, source, "approvals")
      ? rulesOf(shape.approvals.unwrap().element, source.data["approvals"] ?? [])
      : { items: [], whole: false },
    agents: isTold(shape, source, "agents")
      ? agentsOf(shape.agents.unwrap().valueType, source.data["agents"] ?? {})
      : { items: [], whole: false },
    doors: valueOf(shape, source, "doors"),
    audit: auditOf(shape, source),
    redis: isTold(shape, source, "redis") ? fieldsOf(shape.redis.unwrap().shape, source.data["redis"] ?? {}) : {},
  }
}

/**
 * Whether it is known what the file says under a key, or that it says nothing. A key that there isn't may have been meant
 * as any that is missing and is written alike, or may hold such a value.
 */
function isTold(shape: z.ZodRawShape, { data, unread, whole }: Source, key: string): boolean {
  if (Object.hasOwn(data, key)) return true
  if (unread.has(key) || !whole) return false
  const strangers = [...Object.keys(data), ...unread].filter((one) => !Object.hasOwn(shape, one))
  return !strangers.some((one) => alike(one, key) || (Object.hasOwn(data, one) && valid(shape[key], data[one])))
}

const valid = (schema: z.core.$ZodType | undefined, value: unknown): boolean =>
  schema !== undefined && z.safeParse(schema, value).success

function valueOf<Shape extends z.ZodRawShape, Key extends keyof Shape & string>(
  shape: Shape,
  source: Source,
  key: Key,
): z.output<Shape[Key]> | undefined {
  const schema: Shape[Key] = shape[key]
  return isTold(shape, source, key) ? z.safeParse(schema, source.data[key]).data : undefined
}

/** The fields of a mapping, each by itself. */
function fieldsOf<Shape extends z.ZodRawShape>(
  shape: Shape,
  value: unknown,
): Partial<{ [Key in keyof Shape]: z.output<Shape[Key]> }> {
  const source = sourceOf(value)
  const known = Object.keys(shape).map((key) => [key, valueOf(shape, source, key)])
  return Object.fromEntries(known.filter(([, one]) => one !== undefined)) as ReturnType<typeof fieldsOf<Shape>>
}

function sourceOf(value: unknown): Source {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return NOTHING
  return { data: { ...value }, unread: new Set(), whole: true }
}

/** The items of a list, each by itself. */
function partOf<T extends z.ZodType>(item: T, value: unknown): Part<z.output<T>> {
  if (!Array.isArray(value)) return { items: [], whole: false }
  const items = value.flatMap((one) => {
    const read = item.safeParse(one)
    return read.success ? [read.data] : []
  })
  return { items, whole: items.length === value.length }
}

type RuleSchema = ReturnType<Schema["shape"]["approvals"]["unwrap"]>["element"]

function rulesOf(schema: RuleSchema, value: unknown): Part<KnownRule> {
  if (!Array.isArray(value)) return { items: [], whole: false }
  const items = value.map((one: unknown, index) => {
    const { tool, do: does, selfApproval } = fieldsOf(schema.shape, one)
    const approvers = sourceOf(one).data["approvers"]
    return {
      index,
      tool,
      always: Object.keys(sourceOf(one).data).every((key) => key !== "when" && Object.hasOwn(schema.shape, key)),
      do: does,
      selfApproval,
      approvers: approvers === undefined ? undefined : partOf(schema.shape.approvers.unwrap().element, approvers),
      rule: schema.safeParse(one).data,
    }
  })
  return { items, whole: items.every(({ rule }) => rule !== undefined) }
}

function agentsOf(
  schema: Schema["shape"]["agents"] extends z.ZodDefault<infer R extends z.ZodRecord> ? R["valueType"] : never,
  value: unknown,
): Part<KnownAgent> {
  const { data, whole } = sourceOf(value)
  const items = Object.entries(data).map(([name, one]) => ({ name, agent: schema.safeParse(one).data }))
  return { items, whole: whole && items.every(({ agent }) => agent !== undefined) }
}

function auditOf(shape: Schema["shape"], source: Source): KnownSettings["audit"] {
  if (!isTold(shape, source, "audit")) return undefined
  const audit = source.data["audit"]
  return audit === undefined ? "none" : fieldsOf(shape.audit.unwrap().shape, audit)
}
