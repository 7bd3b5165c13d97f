/**
 * The `rich_text` block as a schema. Nothing in it is parsed or escaped: a text element is text, whatever it holds.
 * https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
import { z } from "zod"
import { LIMITS } from "./limits.ts"

const style = z
  .strictObject({
    bold: z.boolean().optional(),
    italic: z.boolean().optional(),
    strike: z.boolean().optional(),
    code: z.boolean().optional(),
    underline: z.boolean().optional(),
  })
  .optional()

const text = z.strictObject({ type: z.literal("text"), text: z.string().min(1), style })
const link = z.strictObject({
  type: z.literal("link"),
  url: z
    .string()
    .max(LIMITS.url)
    .regex(/^(?:https?|mailto|tel|slack):/),
  text: z.string().optional(),
  unsafe: z.boolean().optional(),
  style,
})

const inline = z.discriminatedUnion("type", [
  text,
  link,
  z.strictObject({ type: z.literal("user"), user_id: z.string().regex(/^[UW]\w+$/), style }),
  z.strictObject({ type: z.literal("usergroup"), usergroup_id: z.string().regex(/^S\w+$/), style }),
  z.strictObject({ type: z.literal("channel"), channel_id: z.string().regex(/^[CG]\w+$/), style }),
  z.strictObject({ type: z.literal("broadcast"), range: z.enum(["here", "channel", "everyone"]), style }),
  z.strictObject({ type: z.literal("emoji"), name: z.string().min(1), unicode: z.string().optional(), style }),
  z.strictObject({
    type: z.literal("date"),
    timestamp: z.int(),
    format: z.string().min(1),
    url: z.string().optional(),
    fallback: z.string().optional(),
    style,
  }),
  z.strictObject({ type: z.literal("color"), value: z.string(), style }),
  z.strictObject({ type: z.literal("team"), team_id: z.string(), style }),
])

const bordered = { border: z.union([z.literal(0), z.literal(1)]).optional() }
const part = z.strictObject({ type: z.literal("rich_text_section"), elements: z.array(inline) })

export const richText = z.strictObject({
  type: z.literal("rich_text"),
  block_id: z.string().min(1).max(LIMITS.blockId).optional(),
  elements: z
    .array(
      z.discriminatedUnion("type", [
        part,
        z.strictObject({ type: z.literal("rich_text_quote"), elements: z.array(inline), ...bordered }),
        z.strictObject({
          type: z.literal("rich_text_preformatted"),
          elements: z.array(z.discriminatedUnion("type", [text, link])),
          ...bordered,
        }),
        z.strictObject({
          type: z.literal("rich_text_list"),
          style: z.enum(["bullet", "ordered"]),
          elements: z.array(part).min(1),
          indent: z.int().min(0).max(8).optional(),
          ...bordered,
        }),
      ]),
    )
    .min(1),
})

export const tableCell = z.discriminatedUnion("type", [
  richText,
  z.strictObject({ type: z.literal("raw_text"), text: z.string().min(1) }),
  z.strictObject({ type: z.literal("raw_number"), value: z.number(), text: z.string().min(1) }),
])
