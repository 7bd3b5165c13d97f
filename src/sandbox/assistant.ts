/**
 * The assistant.threads.* methods: what is shown around a conversation with the app. https://docs.slack.dev/reference/methods
 */
import { z } from "zod"
import { visible } from "./chat.ts"
import { type Args, fail, json, type Result, word } from "./content.ts"
import type { Site } from "./site.ts"

const prompts = z
  .array(z.strictObject({ title: z.string().min(1), message: z.string().min(1) }))
  .min(1)
  .max(4)

export function setSuggestedPrompts(site: Site, args: Args): Result {
  const channel = visible(site, word(args, "channel_id"))
  if (channel?.kind !== "dm") return fail("channel_not_found")
  const given = json(args, "prompts")
  const read = prompts.safeParse(given && "value" in given ? given.value : undefined)
  if (!read.success) return fail("invalid_arguments")
  // Where each message is a thread of its own, prompts of a thread are shown nowhere.
  if (word(args, "thread_ts") === undefined) site.workspace.beside.suggest(channel.id, read.data)
  return { ok: true }
}

export function setStatus(site: Site, args: Args): Result {
  const [channel, thread] = [visible(site, word(args, "channel_id")), word(args, "thread_ts")]
  if (!channel || thread === undefined) return fail("channel_not_found")
  if (!site.workspace.message(channel.id, thread)) return fail("thread_not_found")
  site.workspace.beside.setStatus(channel.id, thread, word(args, "status") ?? "")
  return { ok: true }
}
