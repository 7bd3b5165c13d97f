/**
 * What becomes of words that an app says in answer to an interaction: through a response URL, or in the ack of a command.
 * https://docs.slack.dev/interactivity/handling-user-interaction
 */
import { type Args, fail, type Failure, flag, posted, readContent, type Result, word } from "./content.ts"
import type { Origin } from "./handles.ts"
import { BOT } from "./seed.ts"
import type { Site } from "./site.ts"
import type { Message, Workspace } from "./workspace.ts"

/** One use of a response URL. */
export function respond({ workspace, handles }: Site, id: string, args: Args): Result {
  const origin = handles.useReply(id)
  if ("error" in origin) return fail(origin.error)
  if (flag(args, "delete_original")) {
    replaceOriginal(workspace, origin)
    return { ok: true }
  }
  const said = say(workspace, origin, args)
  return "ok" in said ? said : { ok: true }
}

/** Says something where the interaction was: to the person alone unless `response_type` is "in_channel". */
export function say(workspace: Workspace, origin: Origin, args: Args): Message | Failure {
  const read = readContent(args)
  if (!read.ok) return read
  const content = posted(read.content)
  if (flag(args, "replace_original") && origin.message) return replaceOriginal(workspace, origin, content)
  const thread_ts = word(args, "thread_ts")
  const draft = { channel: origin.channel, user: BOT, ...content, ...(thread_ts === undefined ? {} : { thread_ts }) }
  return args["response_type"] === "in_channel" ? workspace.post(draft) : workspace.whisper(origin.user, draft)
}

/** Changes the message whose button was pressed, or takes it away. */
function replaceOriginal(
  workspace: Workspace,
  { user, channel, message }: Origin,
  content?: Pick<Message, "text" | "blocks" | "metadata">,
): Message | Failure {
  if (!message) return fail("no_original")
  const { ts, ephemeral } = message
  if (ephemeral) workspace.rewhisper(user, ts, content)
  else if (content) workspace.edit(channel, ts, content)
  else workspace.remove(channel, ts)
  return (ephemeral ? workspace.ephemeral(user, ts) : workspace.message(channel, ts)) ?? fail("message_not_found")
}
