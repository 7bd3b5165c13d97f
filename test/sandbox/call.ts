/**
 * A bare Web API call, without a client that would mend or retry anything.
 */
import type { SandboxSlack } from "../../src/sandbox/slack.ts"

export interface Answered {
  ok: boolean
  error?: string
  [key: string]: unknown
}

/** Sends arguments as a form, nested ones as JSON, the way Slack's own client does. */
export async function call(
  slack: SandboxSlack,
  method: string,
  args: Record<string, unknown> = {},
  token = slack.botToken,
): Promise<Answered> {
  const form = new URLSearchParams()
  for (const [key, value] of Object.entries(args)) {
    form.set(key, typeof value === "string" ? value : JSON.stringify(value))
  }
  const response = await fetch(slack.apiUrl + method, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  return (await response.json()) as Answered
}

export const text = (words: string) => ({ type: "plain_text", text: words })
export const mrkdwn = (words: string, verbatim?: boolean) => ({
  type: "mrkdwn",
  text: words,
  ...(verbatim === undefined ? {} : { verbatim }),
})
export const section = (words: string) => ({ type: "section", text: text(words) })
export const button = (action_id: string, more: Record<string, unknown> = {}) => ({
  type: "button",
  action_id,
  text: text("Go"),
  ...more,
})
export const actions = (...elements: unknown[]) => ({ type: "actions", elements })
