/**
 * Makes one missing thing so: the Slack call, then the record of what came of it. Tells failures apart; knows no
 * order and no pace among acts.
 */
import type { WebClient } from "@slack/web-api"
import { shown } from "../../core/ask.ts"
import type { Run } from "../../core/run.ts"
import { adrift, rooted } from "../../core/thread.ts"
import type { Store } from "../../store/store.ts"
import { note } from "../blocks/words.ts"
import type { Log } from "../client.ts"
import type { Act } from "./acts.ts"
import { doorOf } from "./doors.ts"
import { change, givenUp } from "./giveup.ts"
import { limitsOf } from "./limits.ts"
import type { Sight } from "./look.ts"
import type { Names } from "./names.ts"
import { slotOf, withCopy, withLate, type Copy, type Sent, type Slot, type Slots } from "./record.ts"
import { permalink, post, remove, respond, update, whisper, type Failure, type Sending } from "./send.ts"
import { threadOf } from "./wanted.ts"
import { linkMessage } from "./words.ts"

/** What delivering works with. */
export interface Desk {
  store: Store
  client: WebClient
  sight: Sight
  names: Pick<Names, "of">
  log: Log
  /** Holds this kind of call for `ms`: Slack said 429. */
  hold: (act: Act, ms: number) => Promise<void>
  /** How long after it was sent a call that was not answered may be carried out, ms. */
  lateFor: number
}

/** The run as it was rendered. */
export interface Seen {
  run: Run
  slots: Slots
  now: number
}

/** Tries while Slack gives no proper answer, about a day of them: buttons and words must outlast an outage. */
const OUTAGE = 300
/** After that many changes that failed in a row, no more is tried; posts are tried for as long as the run lives. */
const PATIENCE = { unknown: OUTAGE, channel: 8, thread: 8, bot: Infinity }
/** Tries of one way to a person before the next way. */
const AT_A_DOOR = 3
const BOT_WRONG = 60_000
/** How long the n-th repetition waits, ms: 1 s, doubling, at most 5 min. */
const backOff = (n: number): number => Math.min(1000 * 2 ** Math.max(n - 1, 0), 300_000)

export function deliver(seen: Seen, act: Act, desk: Desk): Promise<void> {
  switch (act.do) {
    case "post":
      return deliverPost(seen, act, desk)
    case "update":
      return deliverUpdate(seen, act, desk)
    case "remove":
      return deliverRemoval(seen, act, desk)
    case "seek":
      return deliverSearch(seen, act, desk)
    case "tell":
      return deliverWord(seen, act, desk)
    case "link":
      return deliverLink(seen, act, desk)
    case "mark":
      return mark(seen.run.id, act.mark, desk)
  }
}

/** Writes down that slots stand as they always will. */
export async function close(seen: Seen, slots: readonly Slot[], { store }: Desk): Promise<void> {
  for (const slot of slots) await record(seen, slot, { ...slot.sent, done: true }, store)
}

const record = (seen: Seen, slot: Slot, sent: Sent, store: Store): Promise<unknown> =>
  store.show.recordSent(seen.run.id, slot.name, JSON.stringify(sent), sent.late?.until)

/** As the failure leaves it: Slack may yet do what it did not answer. */
const unsure = ({ now }: Seen, sent: Sent, failure: Failure, { lateFor }: Desk): Sent =>
  failure.kind === "unknown" && !failure.answered ? withLate(sent, now + lateFor, sent.since) : sent

// --- posts

type Post = Extract<Act, { do: "post" }>

async function deliverPost(seen: Seen, act: Post, desk: Desk): Promise<void> {
  const { slot, content, hash, to } = act
  const { store, client } = desk
  const about = { run: seen.run.id, slot: slot.name, shows: hash }
  const since = slot.sent.since ?? seen.now
  if (slot.sent.tries !== undefined) {
    const found = await foundBefore(seen, act, since, desk)
    if (found) return void (await record(seen, slot, found, store))
  }
  // Written before the call: whoever comes after a crash knows that this message may stand already.
  const tried: Sent = { ...slot.sent, tries: (slot.sent.tries ?? 0) + 1, since }
  await record(seen, slot, tried, store)
  const sending = await post(client, to, content, about)
  if (sending.kind !== "sent") return postFailed(seen, act, tried, sending, desk)
  const { spared } = act
  const sent = withCopy(taken(slot, act), { ...sending.place, hash })
  await record(seen, slot, spared.length === 0 ? sent : { ...sent, spared: [...spared] }, store)
  const stood = markOf(slot, sending.place.ts)
  // The next look would find it missing too; this way nobody waits for that.
  if (stood !== undefined && !seen.run.ended) await mark(seen.run.id, stood, desk)
}

/** It may stand already, the reply to its post was lost: what is to be noted then; undefined when it is to be posted (again). */
async function foundBefore(
  seen: Seen,
  { slot, to }: Pick<Post, "slot" | "to">,
  since: number,
  { sight }: Desk,
): Promise<Sent | undefined> {
  const looked = await sight.since(to, seen.run.id, since)
  if (looked.kind === "later") return { ...slot.sent, after: seen.now + looked.ms }
  const fails = (slot.sent.fails ?? 0) + 1
  // Twice is worse than late; but not for long.
  if (looked.kind === "unknown" && fails <= AT_A_DOOR) return { ...slot.sent, fails, after: seen.now + backOff(fails) }
  const own = looked.kind === "seen" ? looked.own.filter((one) => one.slot === slot.name) : []
  if (own.length === 0) return undefined
  const copies = own.map(({ channel, ts, shows = "", whole }): Copy => ({ channel, ts, hash: whole ? shows : "" }))
  const { late, ...rest } = slot.sent
  // Where it was posted once, this is that one, and no other comes.
  const before = slot.sent.tries === 1 && copies.length === 1 ? rest : { ...rest, ...(late ? { late } : {}) }
  return copies.reduce((sent, copy) => withCopy({ ...slot, sent }, copy), before)
}

async function postFailed(seen: Seen, act: Post, tried: Sent, failure: Failure, desk: Desk): Promise<void> {
  const { slot } = act
  const { store } = desk
  if (failure.kind === "limited") {
    await desk.hold(act, failure.retryAfter)
    return void (await record(seen, slot, slot.sent, store))
  }
  complain(seen, slot, failure, desk)
  switch (failure.kind) {
    case "unknown":
    case "bot":
      return void (await record(
        seen,
        slot,
        unsure(seen, postponed(seen, slot, tried, failure.kind), failure, desk),
        store,
      ))
    case "thread":
      return lostThread(seen, slot, act.to.thread, desk)
    case "channel":
      return giveUp(seen, slot, failure.error, desk, "channel")
    case "content":
    case "message":
      if (act.least) return giveUp(seen, slot, failure.error, desk, "content")
      return void (await record(seen, slot, refused(seen, act), store))
  }
}

/** The full form was refused: the least goes next. */
function refused({ now }: Seen, { slot, hash }: Pick<Post, "slot" | "hash">): Sent {
  const before = slot.sent.refused
  return { ...slot.sent, refused: { hash, times: before?.hash === hash ? before.times + 1 : 1, at: now } }
}

/** Slack takes it in full. */
function taken(slot: Slot, { least }: Pick<Post, "least">): Slot {
  const { refused: _, ...sent } = slot.sent
  return least ? slot : { ...slot, sent }
}

const postponed = ({ now }: Seen, slot: Slot, tried: Sent, why: "unknown" | "bot"): Sent =>
  why === "bot" ? { ...slot.sent, after: now + BOT_WRONG } : { ...tried, after: now + backOff(tried.tries ?? 1) }

/** It will not be posted. `content`: it is this message alone that Slack refuses. */
async function giveUp(seen: Seen, slot: Slot, error: string, desk: Desk, what: "channel" | "content"): Promise<void> {
  await givenUp(seen, slot, { error, what }, desk)
  await record(seen, slot, { ...slot.sent, over: error }, desk.store)
}

/** The message was deleted below which it belongs: that is posted anew, and the thread goes on there. */
async function lostThread(seen: Seen, slot: Slot, thread: string | undefined, { store }: Desk): Promise<void> {
  if (seen.run.below && seen.run.thread === thread) await change(store, seen.run.id, adrift)
  const firsts = [...seen.slots.values()].filter(({ copies }) => copies.some(({ ts }) => ts === thread))
  for (const first of firsts) {
    const copies = first.copies.map((copy) => ({ ...copy, dead: true as const }))
    await record(seen, first, { copies, ...(first.sent.late ? { late: first.sent.late } : {}) }, store)
  }
  await record(seen, slot, { ...slot.sent, after: seen.now + 1000 }, store)
}

// --- changes

async function deliverUpdate(seen: Seen, act: Extract<Act, { do: "update" }>, desk: Desk): Promise<void> {
  const { slot, copy, content, hash } = act
  const { store } = desk
  const sending = await update(desk.client, copy, content, { run: seen.run.id, slot: slot.name, shows: hash })
  if (sending.kind === "sent") {
    return void (await record(seen, slot, withCopy(taken(slot, act), { ...copy, hash }), store))
  }
  if (sending.kind === "limited") return desk.hold(act, sending.retryAfter)
  complain(seen, slot, sending, desk)
  const dead = withCopy(slot, { ...copy, dead: true })
  const fails = (slot.sent.fails ?? 0) + 1
  if (sending.kind === "message") return void (await record(seen, slot, dead, store))
  if (sending.kind === "content") {
    return void (await record(seen, slot, act.least ? dead : refused(seen, act), store))
  }
  if (fails > PATIENCE[sending.kind]) return void (await record(seen, slot, dead, store))
  const wait = sending.kind === "bot" ? BOT_WRONG : backOff(fails)
  await record(seen, slot, unsure(seen, { ...slot.sent, fails, after: seen.now + wait }, sending, desk), store)
}

// --- removals

async function deliverRemoval(seen: Seen, act: Extract<Act, { do: "remove" }>, desk: Desk): Promise<void> {
  const { slot, copy } = act
  const sending = await remove(desk.client, copy)
  if (sending.kind === "limited") return desk.hold(act, sending.retryAfter)
  const fails = (slot.sent.fails ?? 0) + 1
  if (sending.kind !== "sent") complain(seen, slot, sending, desk)
  if (sending.kind === "unknown" && fails <= AT_A_DOOR) {
    return void (await record(seen, slot, { ...slot.sent, fails, after: seen.now + backOff(fails) }, desk.store))
  }
  await record(seen, slot, withCopy(slot, { ...copy, dead: true }), desk.store)
}

/** What may have been posted is looked for once; where nobody may look, it is given up. */
async function deliverSearch(seen: Seen, { slot }: Extract<Act, { do: "seek" }>, desk: Desk): Promise<void> {
  const { tries: _tries, since = seen.now, ...rest } = slot.sent
  const found = await foundBefore(seen, { slot, to: threadOf(seen.run, seen.slots) }, since, desk)
  await record(seen, slot, found ?? withLate(rest, seen.now + desk.lateFor, since), desk.store)
}

async function deliverLink(seen: Seen, { slot, copy }: Extract<Act, { do: "link" }>, desk: Desk): Promise<void> {
  const link = (await permalink(desk.client, copy)) ?? ""
  await record(seen, slot, { ...slot.sent, link }, desk.store)
}

// --- words to one person

async function deliverWord(seen: Seen, act: Extract<Act, { do: "tell" }>, desk: Desk): Promise<void> {
  const { slot, word } = act
  const { store } = desk
  const sending = await tell(seen, act, desk)
  if (sending.kind === "sent") return void (await record(seen, slot, { done: true }, store))
  if (sending.kind === "limited") {
    if (limitsOf(act).length > 0) return desk.hold(act, sending.retryAfter)
    return void (await record(seen, slot, { ...slot.sent, after: seen.now + sending.retryAfter }, store))
  }
  complain(seen, slot, sending, desk)
  const fails = (slot.sent.fails ?? 0) + 1
  const { fails: _fails, after: _after, ...rest } = slot.sent
  const next: Sent = { ...rest, door: (slot.sent.door ?? 0) + 1 }
  const more = doorOf(word, { ...slot, sent: next }) !== undefined
  if (sending.kind === "unknown" && fails < (more ? AT_A_DOOR : OUTAGE)) {
    return void (await record(seen, slot, { ...slot.sent, fails, after: seen.now + backOff(fails) }, store))
  }
  await record(seen, slot, more ? next : { over: sending.error }, store)
}

async function tell(seen: Seen, { slot, word }: Extract<Act, { do: "tell" }>, desk: Desk): Promise<Sending> {
  const root = slotOf(seen.slots, "root").copies[0]
  const link = slot.name === "link" && root ? await permalink(desk.client, root) : undefined
  const message = slot.name === "link" ? linkMessage(seen.run, link) : note(word.text)
  const { responseUrl, channel, thread, user } = word
  switch (doorOf(word, slot)) {
    case "url":
      return respond({ url: responseUrl ?? "", thread }, message)
    case "whisper":
      return whisper(
        desk.client,
        { channel: channel ?? "", user, ...(thread === undefined ? {} : { thread }) },
        message,
      )
    default:
      return post(desk.client, { channel: user }, message)
  }
}

// --- what the run learns

function markOf({ name }: Slot, ts: string): Mark | undefined {
  const [kind, ...rest] = name.split(":")
  if (kind === "root") return { rooted: ts }
  return kind === "card" ? { shown: rest.join(":") } : undefined
}

type Mark = Extract<Act, { do: "mark" }>["mark"]

async function mark(id: string, what: Mark, { store }: Desk): Promise<void> {
  await change(store, id, (run, now) =>
    "rooted" in what ? rooted(run, what.rooted, now) : shown(run, what.shown, now),
  )
}

function complain({ run }: Seen, slot: Slot, failure: Exclude<Failure, { kind: "limited" }>, { log }: Desk): void {
  const fields = { run: run.id, slot: slot.name, error: failure.error, kind: failure.kind }
  if (failure.kind === "bot") log.error(fields, "Slack refuses the bot: check its token and scopes")
  else log.warn(fields, "a message was not delivered")
}
