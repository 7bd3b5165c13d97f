/**
 * Lives one life: people act, bots die as somebody decides at each border, others take over, and when everything has come to
 * rest what is left is judged.
 */
import type { Ask } from "../../src/core/run.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { nodes, wordsOf } from "../promises/seen.ts"
import { kindOf, Numbering, type Border, type Fate } from "./border.ts"
import { APP1, APP2, AUDIT, Cell, OPS, REQ, type Bot, type CellOptions } from "./cell.ts"
import { judge, type Evidence } from "./judge.ts"
import type { Life } from "./lives.ts"
import { Doing, Doubts, isOpen, type Deed, type Place } from "./person.ts"
import type { Word } from "./truth.ts"

export interface Living extends Pick<CellOptions, "fleet" | "redisUrl" | "folder"> {
  life: Life
  /** Names of Redis' commands and scripts that change nothing, as `readersOf` finds them. */
  readers: ReadonlySet<string>
  /** Whether a second bot is alive all the time: then nobody starts another when one dies. */
  pair: boolean
  /** What becomes of whatever passes; undefined for a border that has passed by that name before. */
  fate: (label: string | undefined, border: Border, cell: Cell) => Fate | Promise<Fate>
  /** How often something else than a bot broke by now: people look again after that, as after a death. */
  upsets?: () => number
  /** Something may hold up calls of Slack for as long as in earnest; else bots trust sooner that none comes late. */
  holdsUp?: boolean
  /** ms that the life may take once its first bot is there. */
  within?: number
}

export interface Lived {
  /** The borders that were passed, in order. */
  labels: string[]
  /** How many bots died. */
  deaths: number
  /** Whatever is wrong, as sentences; none: every promise was kept. */
  findings: string[]
  seconds: number
  evidence: Evidence
  deeds: readonly Deed[]
}

const WITHIN = 300_000
/** What nobody holds up comes at once, ms. */
const LATE_FOR = 500

export async function lived(living: Living): Promise<Lived> {
  const began = performance.now()
  const { life, pair, fate, holdsUp = false, within = WITHIN } = living
  const labels: string[] = []
  /** Before the life that is looked at, where that begins with a death. */
  const before = new Numbering(living.readers)
  const numbering = new Numbering(living.readers)
  let counting = false
  let deaths = 0
  let successor: Promise<unknown> = Promise.resolve()

  let pass: () => void = () => undefined
  const passed = new Promise<void>((resolve) => {
    pass = resolve
  })

  const died = (bot: Bot): void => {
    bot.kill()
    deaths += 1
    // Of a pair the other one goes on; when both are dead, somebody starts one.
    if (!counting || !pair || alive().length === 0) successor = successor.then(begin)
  }

  const onBorder = (bot: Bot, border: Border): Fate | Promise<Fate> => {
    if (life.after !== undefined && deaths === 0)
      return settled(bot, before.label(border) === life.after ? "dead" : "pass")
    const label = counting ? numbering.label(border) : undefined
    if (label !== undefined) labels.push(label)
    const given = counting ? fate(label, border, cell) : "pass"
    if (life.slow && label !== undefined && kindOf(label) === life.slow.until && border.side === "after")
      setTimeout(pass, life.slow.more ?? 0)
    if (label !== undefined && label === life.slow?.at) return passed.then(() => given).then((one) => settled(bot, one))
    return given instanceof Promise ? given.then((one) => settled(bot, one)) : settled(bot, given)
  }

  const settled = (bot: Bot, given: Fate): Fate => {
    if (given === "dead" && !bot.isDead) died(bot)
    return given
  }

  const { turns, config = {}, desk = false, lookEvery } = life
  const cell = await Cell.start({
    ...living,
    turns,
    config,
    desk,
    onBorder,
    ...(lookEvery === undefined ? {} : { lookEvery }),
    ...(holdsUp ? {} : { lateFor: LATE_FOR }),
  })
  /** Starts whoever is to be alive from here on. */
  const begin = async (): Promise<void> => {
    const looked = life.after === undefined || deaths > 0
    await Promise.all(looked && pair && !counting ? [cell.bot(), cell.bot()] : [cell.bot()])
    counting ||= looked
  }

  const alive = (): Bot[] => cell.bots.filter((bot) => !bot.isDead && bot.pid > 0)
  const deeds: Deed[] = []
  const { workspace } = cell.slack
  let stands: readonly Message[] | undefined
  workspace.on("change", () => (stands = undefined))
  const place: Place = {
    workspace,
    messages: () => (stands ??= workspace.messages(OPS)),
    deeds,
    told: (who) => told(cell, who).map(({ text }) => text),
    deaths: () => deaths + (living.upsets?.() ?? 0),
    isHeard: () => alive().length > 0 && workspace.sockets.count > 0,
    // While Redis does not answer nobody knows.
    isAtRest: () => cell.isAtRest().catch(() => false),
    hasEnded: () => hasEnded(cell).catch(() => false),
  }
  try {
    await begin()
    const stuck = await driven(life, place, () => successor, performance.now() + within)
    await successor
    const evidence = await left(cell)
    const ends = await judgedLife(life, evidence)
    const findings = [
      ...stuck,
      ...(life.deleted ? await deletedLife(cell, evidence, ends, performance.now() + within) : ends),
    ]
    await successor
    return { labels, deaths, findings, seconds: (performance.now() - began) / 1000, evidence, deeds }
  } finally {
    await successor.catch(() => undefined)
    await cell.close()
  }
}

/** Everybody does what they do, until everything has come to rest. Returns what they waited for in vain. */
async function driven(life: Life, place: Place, starting: () => Promise<unknown>, until: number): Promise<string[]> {
  const doubts = new Doubts(place, life.doubt ?? "done")
  const doing = life.steps.map((step) => new Doing(step, place))
  let failed: unknown
  let next = 0
  for (;;) {
    starting().catch((error: unknown) => (failed = error))
    if (failed !== undefined) throw failed
    if (performance.now() > until) return [stuckAt(doing[0], place)]
    await doubts.answer()
    if (await doing[0]?.isOver()) doing.shift()
    else await new Promise((resolve) => setTimeout(resolve, 100))
    if (performance.now() < next) continue
    next = performance.now() + LOOKS
    const waits = place.messages().some(isOpen)
    const isOver = (doing.length === 0 || isOverAlready(place)) && !waits
    if ((isOver || (await place.hasEnded())) && (await place.isAtRest())) return []
  }
}

/** ms from one look whether all is over to the next: it asks Redis a lot. */
const LOOKS = 500

/** Also where Slack could not be told. */
async function hasEnded(cell: Cell): Promise<boolean> {
  const runs = await cell.list()
  return runs.length > 0 && runs.every(({ ended }) => ended !== undefined)
}

/** A run that has ended leaves nothing to do, also when it ended otherwise than the steps think. */
function isOverAlready({ messages }: Place): boolean {
  const roots = messages().filter(({ thread_ts, ts }) => thread_ts === undefined || thread_ts === ts)
  const cancel = roots.some(({ blocks }) => nodes(blocks).some(({ action_id }) => action_id === "cancel"))
  return roots.length > 0 && !cancel
}

function stuckAt(doing: Doing | undefined, { messages, deeds }: Place): string {
  const waited = doing ? `“${JSON.stringify(doing.step)}”` : "rest"
  const stands = messages().map(({ text }) => text)
  return `rest: waited in vain for ${waited}; done so far ${JSON.stringify(deeds)}; there stands ${JSON.stringify(stands)}`
}

async function left(cell: Cell): Promise<Evidence> {
  const { workspace } = cell.slack
  const kept = await cell.runs()
  const archived = kept.map(async ({ run, facts }) => {
    const ids = facts.flatMap(({ what, ask }) => (what === "asked" && ask !== undefined ? [`ask:${ask}`] : []))
    const texts = await cell.store.texts(run.id, ids)
    return texts.flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as Ask]))
  })
  return {
    kept,
    executions: cell.executions(),
    messages: workspace.messages(OPS),
    audit: workspace.messages(AUDIT).flatMap((message) => wordsOf(message).split("\n").filter(Boolean)),
    words: [REQ, APP1, APP2].flatMap((who) => told(cell, who)),
    archived: (await Promise.all(archived)).flat(),
  }
}

/** All that one person was told alone: in private, in the ack of a command, and in a window. */
function told({ slack: { workspace } }: Cell, who: string): Word[] {
  const direct = [...workspace.channels.values()].filter(({ kind, members }) => kind === "dm" && members.includes(who))
  const all = [...workspace.ephemerals(who), ...direct.flatMap(({ id }) => workspace.messages(id))]
  return all.filter(({ is_bot }) => is_bot).map(({ text }) => ({ who, text }))
}

/** What is wrong with it once it is deleted, if it was not before anybody could look. */
async function deletedLife(cell: Cell, evidence: Evidence, ends: string[], until: number): Promise<string[]> {
  const { workspace } = cell.slack
  const told = /\brun (r\w+)/.exec(workspace.messages(OPS).map(wordsOf).join("\n"))?.[1]
  const id = evidence.kept[0]?.run.id ?? told
  if (id === undefined) return ["deleted: nobody knows which run"]
  for (let left = await cell.remains(id); left.length > 0; left = await cell.remains(id)) {
    if (performance.now() > until) return [...ends, `deleted: there is left of it ${left.join(", ")}`]
    await new Promise((resolve) => setTimeout(resolve, LOOKS))
  }
  return evidence.kept.length > 0 ? ends : []
}

async function judgedLife({ ends }: Life, evidence: Evidence): Promise<string[]> {
  const ended = evidence.kept.map(({ run }) => run.ended?.how ?? "open")
  const right = ended.length === 1 && ended[0] === ends
  return [
    ...(right ? [] : [`end: expected one run that is ${ends}, found ${ended.join(", ") || "none"}`]),
    ...judge(evidence),
  ]
}
