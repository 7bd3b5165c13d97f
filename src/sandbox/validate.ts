/**
 * Blocks, views and metadata as Slack takes them: each either comes back as Slack would store it, or with every fault and where
 * it is. It covers the blocks that Countersign may use; any other type is refused as unsupported.
 * https://docs.slack.dev/reference/block-kit/blocks
 */
import { z } from "zod"
import { accessory, actionElement, anyText, image, inputElement, mrkdwn, plain } from "./elements.ts"
import { LIMITS } from "./limits.ts"
import { richText, tableCell } from "./rich-text.ts"
import type { Block, TextObject } from "./workspace.ts"

/** What is wrong, and where, as a JSON pointer from the argument's own name. */
export interface Fault {
  message: string
  pointer: string
}
export type Checked<T> = { ok: true; value: T } | { ok: false; faults: Fault[] }

const identified = { block_id: z.string().min(1).max(LIMITS.blockId).optional() }

const section = z
  .strictObject({
    type: z.literal("section"),
    ...identified,
    text: anyText(LIMITS.section).optional(),
    fields: z.array(anyText(LIMITS.field)).min(1).max(LIMITS.fields).optional(),
    accessory: accessory.optional(),
    expand: z.boolean().optional(),
  })
  .refine((block) => block.text !== undefined || block.fields !== undefined, "either text or fields must be given")

const context = z.strictObject({
  type: z.literal("context"),
  ...identified,
  elements: z
    .array(z.discriminatedUnion("type", [image, plain(LIMITS.textObject), mrkdwn(LIMITS.textObject)]))
    .min(1)
    .max(LIMITS.contextElements),
})

const common = [
  section,
  context,
  richText,
  z.strictObject({
    type: z.literal("actions"),
    ...identified,
    elements: z.array(actionElement).min(1).max(LIMITS.actionsElements),
  }),
  z.strictObject({ type: z.literal("divider"), ...identified }),
  z.strictObject({ type: z.literal("header"), ...identified, text: plain(LIMITS.header) }),
  image.extend({ ...identified, title: plain(LIMITS.imageTitle).optional() }),
  z.strictObject({
    type: z.literal("input"),
    ...identified,
    label: plain(LIMITS.label),
    element: inputElement,
    hint: plain(LIMITS.hint).optional(),
    optional: z.boolean().optional(),
    dispatch_action: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal("markdown"),
    ...identified,
    text: z.string().min(1).max(LIMITS.markdownText),
  }),
  z.strictObject({
    type: z.literal("table"),
    ...identified,
    rows: z.array(z.array(tableCell).min(1).max(LIMITS.tableCells)).min(1).max(LIMITS.tableRows),
    column_settings: z
      .array(
        z.strictObject({
          align: z.enum(["left", "center", "right"]).optional(),
          is_wrapped: z.boolean().optional(),
        }),
      )
      .max(LIMITS.tableCells)
      .optional(),
  }),
] as const

const alert = z.strictObject({
  type: z.literal("alert"),
  ...identified,
  text: anyText(LIMITS.alert),
  level: z.enum(["default", "info", "warning", "error", "success"]).optional(),
})

const messageBlocks = z.array(z.discriminatedUnion("type", common)).max(LIMITS.messageBlocks)
const homeBlocks = z.array(z.discriminatedUnion("type", common)).max(LIMITS.viewBlocks)
const modalBlocks = z.array(z.discriminatedUnion("type", [...common, alert])).max(LIMITS.viewBlocks)

const anyView = {
  private_metadata: z.string().max(LIMITS.privateMetadata).default(""),
  callback_id: z.string().max(LIMITS.callbackId).default(""),
  external_id: z.string().max(LIMITS.externalId).default(""),
}
const view = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("home"), blocks: homeBlocks, ...anyView }),
  z.strictObject({
    type: z.literal("modal"),
    blocks: modalBlocks,
    ...anyView,
    title: plain(LIMITS.viewTitle),
    submit: plain(LIMITS.viewTitle).optional(),
    close: plain(LIMITS.viewTitle).optional(),
    notify_on_close: z.boolean().default(false),
    clear_on_close: z.boolean().default(false),
  }),
])

const metadata = z.strictObject({
  event_type: z.string().min(1).max(LIMITS.eventType),
  event_payload: z.record(z.string(), z.unknown()),
})

export interface CheckedView {
  type: "modal" | "home"
  blocks: Block[]
  private_metadata: string
  callback_id: string
  external_id: string
  title?: TextObject
  submit?: TextObject
  close?: TextObject
  notify_on_close?: boolean
  clear_on_close?: boolean
}

/** Checks the blocks of a message. `under` is where they stand in the call, for the pointers. */
export function checkBlocks(blocks: unknown, under = "/blocks"): Checked<Block[]> {
  const checked = parse(messageBlocks, blocks, under)
  return checked.ok ? among(checked.value as Block[], under) : checked
}

export function checkView(value: unknown, under = "/view"): Checked<CheckedView> {
  const checked = parse(view, value, under)
  if (!checked.ok) return checked
  const found = checked.value as CheckedView
  const blocks = among(found.blocks, `${under}/blocks`)
  if (!blocks.ok) return blocks
  if (found.type === "modal" && !found.submit && blocks.value.some((block) => block.type === "input")) {
    return { ok: false, faults: [{ message: "missing required field: submit", pointer: `${under}/submit` }] }
  }
  return { ok: true, value: { ...found, blocks: blocks.value } }
}

export function checkMetadata(value: unknown): Checked<{ event_type: string; event_payload: Record<string, unknown> }> {
  return parse(metadata, value, "/metadata")
}

/** How much text blocks hold in all, which Slack limits although no page says so. */
export function blocksText(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, it) => sum + blocksText(it), 0)
  if (typeof value !== "object" || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [key, it]) => sum + (key === "text" && typeof it === "string" ? it.length : blocksText(it)),
    0,
  )
}

function parse<T>(schema: z.ZodType<T>, value: unknown, under: string): Checked<T> {
  const result = schema.safeParse(value)
  if (result.success) return { ok: true, value: result.data }
  const faults = result.error.issues.map((issue) => ({
    message: words(issue),
    pointer: [under, ...issue.path.map(String)].join("/"),
  }))
  return { ok: false, faults }
}

/** What is wrong, in Slack's words where they are known. */
function words(issue: z.core.$ZodIssue): string {
  if (issue.code === "too_big") return outside(issue.origin, "more", Number(issue.maximum))
  if (issue.code === "too_small") return outside(issue.origin, "less", Number(issue.minimum))
  if (issue.code === "unrecognized_keys") return `invalid additional property: ${issue.keys.join(", ")}`
  if (issue.code === "invalid_union") return "unsupported type"
  return issue.code === "invalid_type" ? `must provide a ${issue.expected}` : issue.message
}

function outside(origin: string, by: "more" | "less", bound: number): string {
  if (origin === "array") return `no ${by} than ${bound} items allowed`
  if (origin === "string") {
    return by === "more" ? `must be less than ${bound + 1} characters` : `must be more than ${bound - 1} characters`
  }
  return `must be no ${by} than ${bound}`
}

/** What Slack checks across blocks, and the ids that it gives to blocks and elements which have none. */
function among(blocks: Block[], under: string): Checked<Block[]> {
  const faults: Fault[] = []
  const seen = new Set<string>()
  blocks.forEach((block, index) => {
    const pointer = `${under}/${index}`
    if (block.block_id !== undefined && seen.has(block.block_id)) {
      faults.push({ message: `"block_id" already exists: ${block.block_id}`, pointer: `${pointer}/block_id` })
    }
    if (block.block_id !== undefined) seen.add(block.block_id)
    faults.push(...repeatedActions(block, pointer))
  })
  const markdown = blocksText(blocks.filter((block) => block.type === "markdown"))
  if (markdown > LIMITS.markdownText) faults.push({ message: "markdown blocks are too long together", pointer: under })
  if (blocks.filter((block) => block.type === "table").length > 1) {
    faults.push({ message: "only one table block allowed", pointer: under })
  }
  if (faults.length > 0) return { ok: false, faults }
  return { ok: true, value: blocks.map((block) => named(block, seen)) }
}

/** The interactive elements of a block. */
export function elementsOf(block: Block): Record<string, unknown>[] {
  const nested = block.type === "actions" ? block["elements"] : [block["accessory"], block["element"]]
  return (Array.isArray(nested) ? nested : []).filter(
    (it): it is Record<string, unknown> => typeof it === "object" && it !== null && it["type"] !== "image",
  )
}

function repeatedActions(block: Block, pointer: string): Fault[] {
  const ids = elementsOf(block).map((element) => element["action_id"])
  return ids.flatMap((id, index) =>
    id !== undefined && ids.indexOf(id) < index
      ? [
          {
            message: `"action_id" already exists: ${JSON.stringify(id)}`,
            pointer: `${pointer}/elements/${index}/action_id`,
          },
        ]
      : [],
  )
}

function named(block: Block, taken: Set<string>): Block {
  for (const [index, element] of elementsOf(block).entries()) element["action_id"] ??= `action-${index + 1}`
  if (block.block_id !== undefined) return block
  let number = taken.size + 1
  while (taken.has(`block-${number}`)) number += 1
  taken.add(`block-${number}`)
  return { ...block, block_id: `block-${number}` }
}
