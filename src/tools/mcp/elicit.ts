/**
 * What a server asks a person in the middle of a call (MCP's elicitation): put to people by the call that it belongs to, and
 * answered with what they say. While somebody is asked, the call's own time stands still. Knows no Slack and no run.
 */
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js"
import type { ClientNotification, ClientRequest, ElicitRequest, ElicitResult } from "@modelcontextprotocol/sdk/types.js"
import { type Elicitation, type ElicitationReply, replyOfAnswer, requestOfElicitation } from "../../core/elicitation.ts"
import { isRecord } from "../../core/json.ts"
import type { Log } from "../../log.ts"
import type { Underway } from "./call.ts"
import { cleanWithin } from "../echo.ts"
import { messageOf, oneLine } from "./result.ts"

/** What an MCP client says that it can. */
export const CAPABILITIES = { elicitation: { form: {}, url: {} } }

export interface Eliciting {
  /** As the configuration calls it. */
  server: string
  /** Calls under way, by their mark. */
  underway: ReadonlyMap<string, Underway>
  /** Takes our own secrets out. */
  clean: (text: string) => string
  log: Log
}

type Extra = Pick<RequestHandlerExtra<ClientRequest, ClientNotification>, "signal" | "sendNotification">

/** How often a server that wants to know is told that somebody is still being asked, ms; its patience is a minute as a rule. */
const ALIVE_EVERY = 10_000
/** How long it may be open to which of several calls a question belongs, ms, and how often that is looked at. */
const FIND_WITHIN = 30_000
const FIND_EVERY = 100
/** Characters of a question; who asks more is not read to the end. */
const LONGEST = 3000

const CANCEL: ElicitResult = { action: "cancel" }

/** Handles `elicitation/create`. Never rejects: a server learns of a fault as little as a person's mind. */
export function elicitor({ server, underway, clean, log }: Eliciting, keepAlive = ALIVE_EVERY) {
  return async ({ params }: ElicitRequest, { signal, sendNotification }: Extra): Promise<ElicitResult> => {
    const call = await ownerOf(underway, signal)
    if (!call?.ctx.hold) {
      log.warn(
        { server },
        "an MCP server asked a person, but it can't be told for which call: it is told that nobody answers",
      )
      return CANCEL
    }
    const message = clean(params.message.slice(0, LONGEST).toWellFormed())
    const elicitation = { ...cleanWithin(params, clean), message } as Elicitation
    const asked = requestIn(elicitation)
    if ("fault" in asked) {
      log.warn({ server, why: clean(oneLine(asked.fault, 300)) }, "an MCP server asked what no person may be asked")
      return { action: "decline" }
    }
    const goOn = call.patience.hold()
    const beating = beat(params["_meta"]?.progressToken, sendNotification, keepAlive)
    call.holding = true
    try {
      return resultOf(replyOfAnswer(await call.ctx.hold(asked.request, signal)), elicitation)
    } catch (error) {
      log.warn({ server, err: error }, "a question of an MCP server could not be put to anybody")
      return CANCEL
    } finally {
      call.holding = false
      clearInterval(beating)
      goOn()
    }
  }
}

function requestIn(elicitation: Elicitation): { request: ReturnType<typeof requestOfElicitation> } | { fault: string } {
  try {
    return { request: requestOfElicitation(elicitation) }
  } catch (error) {
    return { fault: messageOf(error) }
  }
}

/**
 * The call that a question belongs to. The protocol does not say so, and the wrong one might show it to the wrong person: of
 * several calls it is the one that is left when the others, which wait for nobody, are over.
 */
async function ownerOf(underway: ReadonlyMap<string, Underway>, signal: AbortSignal): Promise<Underway | undefined> {
  const began = performance.now()
  const before = new Set(underway.values())
  while (!signal.aborted && performance.now() - began < FIND_WITHIN) {
    const left = [...underway.values()].filter((call) => before.has(call) && !call.holding)
    if (left.length < 2) return left[0]
    await new Promise((resolve) => setTimeout(resolve, FIND_EVERY))
  }
  return undefined
}

/** What is said of an answer is what was asked for, and nothing that came along. */
function resultOf({ action, content }: ElicitationReply, { mode, requestedSchema }: Elicitation): ElicitResult {
  if (action !== "accept" || mode === "url") return { action }
  const { properties } = requestedSchema ?? {}
  const wanted = Object.entries(content ?? {}).filter(
    ([name]) => isRecord(properties) && Object.hasOwn(properties, name),
  )
  return { action, content: Object.fromEntries(wanted) as NonNullable<ElicitResult["content"]> }
}

/** Tells the server, if it wants to be told, that it is still worth waiting. */
function beat(
  progressToken: string | number | undefined,
  send: (notification: ClientNotification) => Promise<void>,
  every: number,
): NodeJS.Timeout | undefined {
  if (progressToken === undefined) return undefined
  let progress = 0
  return setInterval(() => {
    progress += 1
    send({ method: "notifications/progress", params: { progressToken, progress } }).catch(() => undefined)
  }, every).unref()
}
