/**
 * What Slack shows around the conversation with the app: what people might ask, and that something is under way. All of it a
 * courtesy: where the app may not (the scope assistant:write, for suggestions), nothing is lost.
 */
import { isRecord } from "../core/json.ts"
import type { Front } from "./front.ts"

type Courteous = Pick<Front, "client" | "log">

/** Somebody opened the app's messages: what they might ask is offered there. */
export async function offerPrompts(front: Front, body: object): Promise<void> {
  const event = "event" in body && isRecord(body.event) ? body.event : {}
  const { message } = front.doors
  const channel = event["channel"]
  if (event["type"] !== "app_home_opened" || event["tab"] !== "messages") return
  if (message === false || message.prompts.length === 0 || typeof channel !== "string") return
  const [first, ...rest] = message.prompts.map((prompt) => ({ title: prompt, message: prompt }))
  if (!first) return
  // Without a thread: with one Slack shows none where messages are threads of their own.
  await courtesy(front, () =>
    front.client.apiCall("assistant.threads.setSuggestedPrompts", { channel_id: channel, prompts: [first, ...rest] }),
  )
}

/** Says in a direct message that it was taken up, until the bot writes there. */
export function working(front: Courteous, { channel, thread }: { channel: string; thread: string }): void {
  void courtesy(front, () =>
    front.client.apiCall("assistant.threads.setStatus", {
      channel_id: channel,
      thread_ts: thread,
      status: "is working on it…",
    }),
  )
}

async function courtesy({ log }: Courteous, call: () => Promise<unknown>): Promise<void> {
  try {
    await call()
  } catch (error) {
    log.info({ err: error }, "Slack does not show what it might beside a conversation")
  }
}
