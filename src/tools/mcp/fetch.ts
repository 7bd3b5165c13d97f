/**
 * The way to a remote server: what it sends is bounded, whatever it is packed in, and a stream may be silent as long as its
 * call may take. Tells which calls lost the connection that their answer was to come by.
 */
import { Agent, fetch as send } from "undici"
import { isRecord } from "../../core/json.ts"
import type { Fetch } from "./access.ts"

/** Bytes of one answer, or of one event of a stream. */
const MAX_BYTES = 10 * 1024 * 1024
const CONNECT_WITHIN = 10_000
/** ms from the end of a stream until its answer, if there is one, must have been read. */
const READ_WITHIN = 200

/** Under this name in a call's `_meta` stands what `onCut` is told. */
export const MARK = "countersign/attempt"

export function boundedFetch(onCut: (mark: string) => void): Fetch {
  // How long a call may take is counted elsewhere.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_WITHIN } })
  return async (url, init) => {
    const mark = markOf(init?.body)
    // The same standard, told in other words by each of the two packages.
    const answer = await send(url, { ...init, dispatcher } as unknown as Parameters<typeof send>[1])
    const { status, statusText, body } = answer
    const headers = new Headers([...answer.headers])
    if (body === null || [101, 204, 205, 304].includes(status))
      return new Response(null, { status, statusText, headers })
    const stream = headers.get("content-type")?.includes("text/event-stream") === true
    const cut = mark === undefined ? undefined : () => setTimeout(() => onCut(mark), READ_WITHIN)
    const read = (body as unknown as ReadableStream<Uint8Array>).pipeThrough(stream ? events(cut) : whole())
    return new Response(read, { status, statusText, headers })
  }
}

function markOf(body: unknown): string | undefined {
  if (typeof body !== "string" || !body.includes(MARK)) return undefined
  const message: unknown = JSON.parse(body)
  const params = isRecord(message) ? message["params"] : undefined
  const meta = isRecord(params) ? params["_meta"] : undefined
  const mark = isRecord(meta) ? meta[MARK] : undefined
  return typeof mark === "string" ? mark : undefined
}

const tooLong = (): Error => new Error(`it sent more than ${MAX_BYTES} bytes at once, which exceeded maximum size`)

function whole(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) controller.error(tooLong())
      else controller.enqueue(chunk)
    },
  })
}

/** `cut`: it ended, and nobody can take it up again, for no event had an id. */
function events(cut: (() => void) | undefined): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let tail = ""
  let resumable = false
  return new TransformStream({
    transform(chunk, controller) {
      const text = tail + Buffer.from(chunk).toString("latin1")
      const blank = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"), text.lastIndexOf("\r\r"))
      bytes = blank < 0 ? bytes + chunk.length : text.length - blank
      resumable ||= /(?:^|[\r\n])id:/.test(text)
      tail = text.slice(-4)
      if (bytes > MAX_BYTES) controller.error(tooLong())
      else controller.enqueue(chunk)
    },
    flush() {
      if (!resumable) cut?.()
    },
  })
}
