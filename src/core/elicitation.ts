/**
 * How an MCP server's elicitation and the suspension contract read each other (SPEC §10).
 * Pure translation; knows no connection and decides nothing.
 */
import type { Answer, Request } from "./suspension.ts"
import { answerOf, pending, pendingOf } from "./suspension.ts"

export interface Elicitation {
  mode?: string
  message?: string
  requestedSchema?: Record<string, unknown>
  url?: string
}

export interface ElicitationReply {
  action: "accept" | "decline" | "cancel"
  content?: Record<string, unknown>
}

/**
 * The Request that puts an elicitation to a person: a form is `input` with its schema in `data.schema`, a url is
 * `authorization`. The id is fresh.
 * @throws TypeError when no person may be asked this (a nested schema, a credential in a form): decline it then.
 */
export function requestOfElicitation(elicitation: Elicitation): Request {
  const prompt = elicitation.message ?? ""
  const asked =
    elicitation.mode === "url"
      ? pending({ kind: "authorization", prompt, url: elicitation.url ?? "" })
      : pending({ kind: "input", prompt, data: { schema: elicitation.requestedSchema } })
  const request = pendingOf(asked)
  if (request === undefined) throw new TypeError("elicitation: the Request was lost")
  return request
}

/** What the MCP server is told: yes is accept; an explicit "declined" is decline; any other or no reason is cancel. */
export function replyOfAnswer(answer: Answer): ElicitationReply {
  const read = answerOf(answer)
  if (read.ok && read.answer.ok) return { action: "accept", content: read.answer.data ?? {} }
  return { action: answer.reason === "declined" ? "decline" : "cancel" }
}
