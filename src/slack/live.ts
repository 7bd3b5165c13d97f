/**
 * Tells in a run's thread what is under way, in one message that is changed at Slack's pace: what the model says, and what tools
 * tell. It is a courtesy: nobody waits for it, nothing of it is stored but where it stands, and whatever fails is left out. The
 * show loop takes the message away when the run no longer works, whoever posted it.
 */
import type { KnownBlock } from "@slack/types"
import type { WebClient } from "@slack/web-api"
import { isWorking, wishOf, type Run } from "../core/run.ts"
import type { Store } from "../store/store.ts"
import { growth, idle, live, type UnderWay } from "./blocks/live.ts"
import type { Message } from "./blocks/limits.ts"
import type { Log } from "./client.ts"
import { limitsOfPost } from "./show/limits.ts"
import type { Pace } from "./show/pace.ts"
import { LIVE, readSlots, slotOf, type Slot } from "./show/record.ts"
import { appendStream, post, startStream, update, type Failure, type Place, type Sending } from "./show/send.ts"
import { hashOf, threadOf } from "./show/wanted.ts"

export interface LiveOptions {
  store: Store
  client: WebClient
  pace: Pace
  log: Log
  /** ms that a step may take before it is told of: most are over by then. */
  patience?: number
  /** ms from one look at what is new to the next. */
  every?: number
  /** Whether Slack's streams are tried: where there are none, that is found out. */
  streams?: boolean
}

export interface Telling {
  /** "" begins a turn. */
  said: (run: Run, delta: string) => void
  told: (run: Run, call: { id: string; tool: string }, text: string) => void
  /** The run is so by now: what it has left behind is told no more. */
  committed: (run: Run) => void
  stop: () => Promise<void>
}

const PATIENCE = 4000
const EVERY = 1000
/** How long a step may take until it has said a whole line, which is what a message can grow by, ms. */
const LINE_WITHIN = 8000
/** Characters of a turn's text that are looked at. */
const MOST = 60_000
/** How long nothing is tried in a run whose message Slack did not take, ms. */
const AGAIN = 60_000

interface Entry {
  run: Run
  text: string
  calls: Map<string, { tool: string; text: string }>
  /** When what is under way began; ms of a clock that only goes forward, as below. */
  since: number
  /** Something is new since it was shown. */
  isNew: boolean
  /** Not before this. */
  after: number
  /** Where it stands. */
  place?: Place | undefined
  hash?: string
  /** It is a message that only grows, and has this. */
  sent?: string | undefined
  busy?: Promise<void> | undefined
}

export function startLive(options: LiveOptions): Telling {
  const { patience = PATIENCE, every = EVERY } = options
  const entries = new Map<string, Entry>()
  let timer: NodeJS.Timeout | undefined
  let over = false

  const entryOf = (run: Run): Entry => {
    const known = entries.get(run.id)
    const now = performance.now()
    const entry = known ?? { run, text: "", calls: new Map(), since: now, isNew: false, after: 0 }
    entry.run = run
    entries.set(run.id, entry)
    timer ??= setTimeout(look, every).unref()
    return entry
  }

  function look(): void {
    timer = undefined
    const now = performance.now()
    for (const entry of entries.values()) {
      const isDue = entry.isNew && !entry.busy && now >= Math.max(entry.after, entry.since + patience)
      if (isDue) entry.busy = showing(options, entry).finally(() => (entry.busy = undefined))
    }
    if (!over && entries.size > 0) timer ??= setTimeout(look, every).unref()
  }

  return {
    said(run, delta) {
      const entry = entryOf(run)
      // What stood there was of the turn before, or of an attempt that failed.
      if (delta === "" && entry.text !== "") entry.isNew = true
      if (delta === "") Object.assign(entry, { text: "", since: entry.place ? entry.since : performance.now() })
      else if (entry.text.length < MOST) Object.assign(entry, { text: entry.text + delta, isNew: true })
    },
    told(run, { id, tool }, text) {
      const entry = entryOf(run)
      // Moved to the end: the latest are shown.
      entry.calls.delete(id)
      entry.calls.set(id, { tool, text })
      entry.isNew = true
    },
    committed(run) {
      const entry = entries.get(run.id)
      if (!entry) return
      if (!isWorking(run)) return void entries.delete(run.id)
      entry.run = run
      if (run.calls.length > 0 && entry.text !== "") Object.assign(entry, { text: "", isNew: true })
      for (const id of entry.calls.keys()) {
        const isOver = run.calls.every((call) => call.id !== id || call.state === "done")
        if (isOver) entry.isNew = entry.calls.delete(id)
      }
    },
    async stop() {
      over = true
      clearTimeout(timer)
      await Promise.all([...entries.values()].flatMap(({ busy }) => busy ?? []))
    },
  }
}

/** Shows what is new, if there is a turn for it. Never rejects. */
async function showing(options: LiveOptions, entry: Entry): Promise<void> {
  const { log } = options
  try {
    await shown(options, entry)
  } catch (error) {
    entry.after = performance.now() + AGAIN
    log.warn({ err: error, run: entry.run.id }, "what is under way could not be shown")
  }
}

async function shown(options: LiveOptions, entry: Entry): Promise<void> {
  const { store, pace } = options
  const { run } = entry
  const { thread, slot } = await standing(store, run)
  // Somebody else may have posted it before, or taken it away since.
  entry.place = slot.copies[0]
  if (thread === undefined) return
  if (await streamed(options, entry, { thread, slot })) return
  const limits = [...(entry.place ? ["chat.update"] : limitsOfPost(run.channel)), `live:${run.channel}`]
  const content = contentOf(entry)
  if (content === undefined || (entry.place && hashOf(content) === entry.hash)) return void (entry.isNew = false)
  const turn = await pace.take(limits, "audit")
  if (turn.at > turn.now) return void (entry.after = performance.now() + turn.at - turn.now)
  entry.isNew = false
  const about = { run: run.id, slot: LIVE, shows: hashOf(content) }
  const sending = entry.place
    ? await update(options.client, entry.place, content, about)
    : await begun(options, run, slot, () => post(options.client, { channel: run.channel, thread }, content, about))
  if (sending.kind !== "sent") return failed(options, entry, sending, limits)
  entry.hash = about.shows
}

/**
 * Slack's own way of showing what is being written: a message that grows. Where it isn't to be had, or what is to be shown can't
 * be had by adding to it, the message is changed as any other. True: there is nothing else to do now.
 */
async function streamed(options: LiveOptions, entry: Entry, at: { thread: string; slot: Slot }): Promise<boolean> {
  const grown = mayGrow(options, entry) ? growth(entry.text, entry.sent ?? "") : undefined
  if (!grown) {
    entry.sent = undefined
    return false
  }
  // A line is waited for, but not for long.
  if (grown.blocks.length === 0) return isGrowing(entry) || performance.now() < entry.since + LINE_WITHIN
  const { channel } = entry.run
  const method = isGrowing(entry) ? ["chat.appendStream"] : [...limitsOfPost(channel), "chat.startStream"]
  const limits = [...method, `live:${channel}`]
  const turn = await options.pace.take(limits, "audit")
  if (turn.at > turn.now) entry.after = performance.now() + turn.at - turn.now
  else await grow(options, entry, { ...at, grown, limits })
  return true
}

const isGrowing = ({ sent, place }: Entry): boolean => sent !== undefined && place !== undefined

/** What tools tell, and a turn that begins anew, is told by changing what stands. */
function mayGrow({ streams = true, client }: LiveOptions, entry: Entry): boolean {
  if (!streams || entry.calls.size > 0 || entry.text === "") return false
  return isGrowing(entry) || (entry.place === undefined && performance.now() >= (refused.get(client) ?? 0))
}

type Growth = NonNullable<ReturnType<typeof growth>>

async function grow(
  options: LiveOptions,
  entry: Entry,
  { thread, slot, grown, limits }: { thread: string; slot: Slot; grown: Growth; limits: string[] },
): Promise<void> {
  entry.isNew = false
  const { blocks, sent } = grown
  const sending = entry.place
    ? await appendStream(options.client, entry.place, blocks)
    : await begun(options, entry.run, slot, () => stream(options, entry.run, thread, blocks))
  if (sending.kind === "sent") entry.sent = sent
  else await unstreamable(options, entry, sending, limits)
}

/** Until when nobody tries to stream by a client: it isn't to be had there. */
const refused = new WeakMap<WebClient, number>()
const REFUSED = 3_600_000

function stream({ client }: LiveOptions, run: Run, thread: string, blocks: KnownBlock[]): Promise<Sending> {
  const { user, team } = wishOf(run).asker
  return startStream(client, { channel: run.channel, thread, user, team }, blocks)
}

async function unstreamable(options: LiveOptions, entry: Entry, failure: Failure, limits: string[]): Promise<void> {
  entry.sent = undefined
  if (failure.kind === "limited") return failed(options, entry, failure, limits)
  entry.isNew = true
  if (entry.place) return
  refused.set(options.client, performance.now() + REFUSED)
  const about = { run: entry.run.id, error: failure.error }
  options.log.info(about, "answers can't be streamed in Slack here; they are shown by changing a message")
}

const contentOf = (entry: Entry): Message | undefined => {
  const underWay: UnderWay = entry
  return live(entry.run, underWay) ?? (entry.place && idle(entry.run))
}

async function standing(store: Store, run: Run): Promise<{ thread: string | undefined; slot: Slot }> {
  const slots = readSlots(await store.show.shown(run.id), run.channel)
  return { thread: threadOf(run, slots).thread, slot: slotOf(slots, LIVE) }
}

/**
 * Noted before it is posted, that it may stand, and afterwards, where: then the show loop looks whether it still should. Both in
 * such a way that neither overwrites what the other notes.
 */
async function begun({ store }: LiveOptions, run: Run, slot: Slot, send: () => Promise<Sending>): Promise<Sending> {
  const tried = { ...slot.sent, tries: 1, since: await store.now() }
  await store.show.recordSent(run.id, LIVE, JSON.stringify(tried))
  const sending = await send()
  if (sending.kind === "sent") await store.show.addCopy(run.id, LIVE, sending.place.ts, sending.place.channel)
  return sending
}

async function failed({ pace, log }: LiveOptions, entry: Entry, failure: Failure, limits: string[]): Promise<void> {
  entry.isNew = true
  if (failure.kind === "limited") {
    entry.after = performance.now() + failure.retryAfter
    return pace.hold(limits[limits.length - 2] ?? "", failure.retryAfter)
  }
  // It was taken away: the next look finds that.
  entry.after = performance.now() + (failure.kind === "message" ? 1000 : AGAIN)
  log.info({ run: entry.run.id, error: failure.error }, "what is under way could not be shown")
}
