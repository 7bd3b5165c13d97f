/**
 * Reads our own messages back from Slack, where the history scopes are granted: told by our bot and our metadata, whatever
 * they say. Knows no run and no pace; what is found is for the caller to judge.
 */
import type { WebClient } from "@slack/web-api"
import { isRecord } from "../../core/json.ts"
import { printOf } from "./print.ts"
import { EVENT, failureOf, type Place } from "./send.ts"

/** A message of ours as it stands in Slack. */
export interface Own extends Place {
  slot: string
  /** Of what it was last made to show; undefined on messages of an older release. */
  shows?: string
  /** What it says now. */
  print: string
  /** It says what it was made to say. */
  whole: boolean
}

/** `blind`: we may not read there (the scopes are optional) · `later`: not now, ms · `unknown`: no proper answer. */
export type Looked =
  | { kind: "seen"; own: Own[] }
  | { kind: "blind"; error: string }
  | { kind: "later"; ms: number }
  | { kind: "unknown"; error: string }

/** How many messages of a conversation are read with one call. */
const PAGE = 100
/** The most calls for one thread. */
const PAGES = 10

export class Sight {
  readonly #client: WebClient
  #bot: Promise<string | undefined> | undefined

  constructor(client: WebClient) {
    this.#client = client
  }

  /** Our messages about a run that were posted to a channel, or a thread, since then (ms). One call, `turn` is waited for before. */
  async since(
    to: { channel: string; thread?: string },
    run: string,
    since: number,
    turn: () => Promise<void> = () => Promise.resolve(),
  ): Promise<Looked> {
    const from = { oldest: String(Math.floor(since / 1000) - 60), limit: PAGE }
    return this.#looked(async () => {
      await turn()
      const { own } = await this.#page(run, to, from)
      return own
    })
  }

  /** All our messages of a thread, its first among them. `turn` is waited for before each call. */
  async thread({ channel, ts }: Place, run: string, turn: () => Promise<void>): Promise<Looked> {
    return this.#looked(async () => {
      const all: Own[] = []
      let cursor: string | undefined
      for (let n = 0; n < PAGES; n++) {
        await turn()
        const { own, next } = await this.#page(run, { channel, thread: ts }, { limit: PAGE, cursor })
        all.push(...own)
        if (!next) return all
        cursor = next
      }
      // What is missing in a part of it may stand in the rest.
      throw new Error(`a thread of more than ${PAGE * PAGES} messages is not read`)
    })
  }

  async #page(
    run: string,
    { channel, thread }: { channel: string; thread?: string },
    { cursor, ...part }: { oldest?: string; limit: number; cursor?: string | undefined },
  ): Promise<{ own: Own[]; next: string | undefined }> {
    const bot = await this.#self()
    const which = { channel, ...part, ...(cursor === undefined ? {} : { cursor }), include_all_metadata: true }
    const { conversations } = this.#client
    const { messages = [], response_metadata } =
      thread === undefined
        ? await conversations.history(which)
        : await conversations.replies({ ...which, ts: thread }).catch(noneIfGone)
    const own = messages.flatMap((message) => {
      const found = ownOf(message, run)
      return found && message.bot_id === bot ? [{ channel, ...found }] : []
    })
    return { own, next: response_metadata?.next_cursor || undefined }
  }

  /** The bot's own id, asked once. */
  async #self(): Promise<string | undefined> {
    this.#bot ??= this.#client.auth.test().then(({ bot_id }) => bot_id)
    try {
      return await this.#bot
    } catch (error) {
      this.#bot = undefined
      throw error
    }
  }

  async #looked(look: () => Promise<Own[]>): Promise<Looked> {
    try {
      return { kind: "seen", own: await look() }
    } catch (error) {
      const failure = failureOf(error)
      if (failure.kind === "limited") return { kind: "later", ms: failure.retryAfter }
      return { kind: failure.kind === "bot" ? "blind" : "unknown", error: failure.error }
    }
  }
}

/** A thread whose first message was deleted, and that nobody had replied to. */
function noneIfGone(error: unknown): { messages: never[]; response_metadata: undefined } {
  if (failureOf(error).kind === "thread") return { messages: [], response_metadata: undefined }
  throw error
}

interface Read {
  ts?: string
  blocks?: unknown
  metadata?: { event_type?: string; event_payload?: object }
}

function ownOf({ ts, blocks, metadata }: Read, run: string): Omit<Own, "channel"> | undefined {
  const about: unknown = metadata?.event_type === EVENT ? metadata.event_payload : undefined
  if (ts === undefined || !isRecord(about) || about["run"] !== run) return undefined
  const { slot, shows, print } = about
  if (typeof slot !== "string") return undefined
  const now = printOf(blocks)
  return {
    ts,
    slot,
    ...(typeof shows === "string" ? { shows } : {}),
    print: now,
    whole: typeof print !== "string" || print === now,
  }
}
