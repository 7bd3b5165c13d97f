/**
 * The composition objects and elements of Block Kit as schemas that validate and, in the same step, escape: the output is what
 * Slack stores. https://docs.slack.dev/reference/block-kit/block-elements
 */
import { z } from "zod"
import { escapeMrkdwn, escapePlain } from "./escape.ts"
import { LIMITS } from "./limits.ts"

const short = (max: number) => z.string().min(1).max(max)

export const plain = (max: number) =>
  z.strictObject({
    type: z.literal("plain_text"),
    text: z.string().transform(escapePlain).pipe(short(max)),
    emoji: z.boolean().optional(),
  })

export const mrkdwn = (max: number) =>
  z.strictObject({
    type: z.literal("mrkdwn"),
    text: z.string().transform(escapeMrkdwn).pipe(short(max)),
    verbatim: z.boolean().optional(),
  })

export const anyText = (max: number) => z.discriminatedUnion("type", [plain(max), mrkdwn(max)])

const confirm = z.strictObject({
  title: plain(LIMITS.confirmTitle).optional(),
  text: anyText(LIMITS.confirmText),
  confirm: plain(LIMITS.confirmButton).optional(),
  deny: plain(LIMITS.confirmButton).optional(),
  style: z.enum(["primary", "danger"]).optional(),
})

const option = z.strictObject({
  text: anyText(LIMITS.option),
  value: short(LIMITS.option).optional(),
  description: anyText(LIMITS.option).optional(),
  url: short(LIMITS.url).optional(),
})

/** Menus take plain text alone. */
const plainOption = option.extend({ text: plain(LIMITS.option), description: plain(LIMITS.option).optional() })

const optionGroup = z.strictObject({
  label: plain(LIMITS.option),
  options: z.array(plainOption).min(1).max(LIMITS.options),
})

interface Offer {
  options?: unknown[] | undefined
  option_groups?: { options: unknown[] }[] | undefined
  initial_option?: unknown
  initial_options?: unknown[] | undefined
}

/** What is chosen at first is exactly one of the options. */
function offersInitial({ options = [], option_groups = [], initial_option, initial_options = [] }: Offer): boolean {
  const offered = [...options, ...option_groups.flatMap((it) => it.options)].map((it) => JSON.stringify(it))
  const chosen = initial_option === undefined ? initial_options : [initial_option]
  return chosen.every((it) => offered.includes(JSON.stringify(it)))
}
const NOT_OFFERED = "an initial option must exactly match one of the options"

const actionable = { action_id: short(LIMITS.actionId).optional() }
const confirmable = { confirm: confirm.optional() }
const focusable = { focus_on_load: z.boolean().optional() }
const placeholdable = { placeholder: plain(LIMITS.placeholder).optional() }
const dispatchable = {
  dispatch_action_config: z
    .strictObject({
      trigger_actions_on: z.array(z.enum(["on_enter_pressed", "on_character_entered"])).optional(),
    })
    .optional(),
}
const menu = { ...actionable, ...confirmable, ...focusable, ...placeholdable }
const many = { max_selected_items: z.int().min(1).optional() }
const respondable = { response_url_enabled: z.boolean().optional() }

const button = z.strictObject({
  type: z.literal("button"),
  ...actionable,
  ...confirmable,
  text: plain(LIMITS.buttonText),
  value: short(LIMITS.buttonValue).optional(),
  url: short(LIMITS.url).optional(),
  style: z.enum(["primary", "danger"]).optional(),
  accessibility_label: short(LIMITS.accessibilityLabel).optional(),
})

export const image = z.strictObject({
  type: z.literal("image"),
  image_url: short(LIMITS.url).regex(/^https?:\/\//),
  alt_text: short(LIMITS.altText),
})

const overflow = z.strictObject({
  type: z.literal("overflow"),
  ...actionable,
  ...confirmable,
  options: z.array(option).min(1).max(LIMITS.overflowOptions),
})

const choices = z.array(option).min(1).max(LIMITS.choiceOptions)
const checkboxes = z
  .strictObject({
    type: z.literal("checkboxes"),
    ...actionable,
    ...confirmable,
    ...focusable,
    options: choices,
    initial_options: choices.optional(),
  })
  .refine(offersInitial, NOT_OFFERED)
const radio = z
  .strictObject({
    type: z.literal("radio_buttons"),
    ...actionable,
    ...confirmable,
    ...focusable,
    options: choices,
    initial_option: option.optional(),
  })
  .refine(offersInitial, NOT_OFFERED)

const listed = {
  options: z.array(plainOption).min(1).max(LIMITS.options).optional(),
  option_groups: z.array(optionGroup).min(1).max(LIMITS.options).optional(),
}
const selects = [
  z
    .strictObject({ type: z.literal("static_select"), ...menu, ...listed, initial_option: plainOption.optional() })
    .refine(offersInitial, NOT_OFFERED),
  z
    .strictObject({
      type: z.literal("multi_static_select"),
      ...menu,
      ...many,
      ...listed,
      initial_options: z.array(plainOption).min(1).optional(),
    })
    .refine(offersInitial, NOT_OFFERED),
  z.strictObject({ type: z.literal("users_select"), ...menu, initial_user: z.string().optional() }),
  z.strictObject({
    type: z.literal("multi_users_select"),
    ...menu,
    ...many,
    initial_users: z.array(z.string()).optional(),
  }),
  z.strictObject({
    type: z.literal("conversations_select"),
    ...menu,
    ...respondable,
    initial_conversation: z.string().optional(),
    default_to_current_conversation: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal("channels_select"),
    ...menu,
    ...respondable,
    initial_channel: z.string().optional(),
  }),
] as const

const pickers = [
  z.strictObject({ type: z.literal("datepicker"), ...menu, initial_date: z.iso.date().optional() }),
  z.strictObject({
    type: z.literal("timepicker"),
    ...menu,
    initial_time: z.string().optional(),
    timezone: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal("datetimepicker"),
    ...actionable,
    ...confirmable,
    ...focusable,
    initial_date_time: z.int().optional(),
  }),
] as const

const decimal = z.string().regex(/^-?\d+(\.\d+)?$/)
const inOrder = (least: unknown, most: unknown): boolean =>
  least === undefined || most === undefined || Number(least) <= Number(most)

const typed = { ...actionable, ...focusable, ...placeholdable, ...dispatchable }
const inputs = [
  z
    .strictObject({
      type: z.literal("plain_text_input"),
      ...typed,
      initial_value: z.string().max(LIMITS.input).optional(),
      multiline: z.boolean().optional(),
      min_length: z.int().min(0).max(LIMITS.input).optional(),
      max_length: z.int().min(1).max(LIMITS.input).optional(),
    })
    .refine((it) => inOrder(it.min_length, it.max_length), "min_length cannot be greater than max_length")
    .refine((it) => inOrder(it.initial_value?.length, it.max_length), "initial_value is longer than max_length"),
  z
    .strictObject({
      type: z.literal("number_input"),
      ...typed,
      is_decimal_allowed: z.boolean(),
      initial_value: decimal.optional(),
      min_value: decimal.optional(),
      max_value: decimal.optional(),
    })
    .refine((it) => inOrder(it.min_value, it.max_value), "min_value cannot be greater than max_value"),
  z.strictObject({ type: z.literal("email_text_input"), ...typed, initial_value: z.string().optional() }),
  z.strictObject({ type: z.literal("url_text_input"), ...typed, initial_value: z.string().optional() }),
] as const

/** What may stand in an `actions` block. */
export const actionElement = z.discriminatedUnion("type", [button, overflow, checkboxes, radio, ...selects, ...pickers])
/** What may stand beside the text of a `section`. */
export const accessory = z.discriminatedUnion("type", [
  button,
  image,
  overflow,
  checkboxes,
  radio,
  ...selects,
  ...pickers,
])
/** What an `input` block may hold. */
export const inputElement = z.discriminatedUnion("type", [checkboxes, radio, ...selects, ...pickers, ...inputs])
