/**
 * Has Slack itself judge one message of every kind that the bot sends (blocks.validate). Nothing is posted.
 */
import type { WebClient } from "@slack/web-api"
import { samples } from "../slack/blocks/samples.ts"
import type { Message } from "../slack/blocks/limits.ts"
import { ask, type Answered } from "./ask.ts"
import { fault, type Report, together, warning } from "./report.ts"

/** Slack names no pace for this method; what it asks for is waited, up to this many seconds each time. */
const LONGEST_WAIT = 90

export async function checkLive(client: WebClient, messages = samples()): Promise<Report> {
  const reports: Report[] = []
  for (const [name, message] of messages) {
    const answer = await validate(client, message)
    if (answer.ok) continue
    if (!REFUSALS.has(answer.code)) {
      return together(...reports, warning(`Slack didn't validate the messages: ${answer.why}.`))
    }
    const details = answer.details?.length ? answer.details.join("; ") : answer.why
    reports.push(fault(`The message "${name}" would be refused by Slack: ${details}.`))
  }
  return together(...reports)
}

/** https://docs.slack.dev/reference/methods/blocks.validate */
const REFUSALS = new Set(["invalid_blocks", "invalid_message", "invalid_blocks_format"])

async function validate(client: WebClient, { blocks }: Message): Promise<Answered<unknown>> {
  for (;;) {
    const answer = await ask(() => client.blocks.validate({ blocks }))
    const wait = answer.ok ? undefined : answer.retryAfter
    if (wait === undefined || wait > LONGEST_WAIT) return answer
    await new Promise((resolve) => setTimeout(resolve, wait * 1000))
  }
}
