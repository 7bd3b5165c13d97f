/**
 * The borders of a bot's life: each point at which something of it reaches the world or it hears of something, as the wires
 * around it see them. A border is named by what passes and how often that has passed, so no list of them is written by hand.
 */

/** What passes: a command or script of Redis, a call of Slack's Web API, an envelope and its ack, a model turn, a tool. */
export type Wire = "redis" | "slack" | "envelope" | "ack" | "model" | "tool"

/** before: it is on its way and nothing came of it yet · after: it was carried out, and the bot does not know of it. */
export type Side = "before" | "after"

export interface Border {
  wire: Wire
  /** A script's or command's name, a method, a kind of envelope, a tool. */
  name: string
  side: Side
  /** What passes, for whoever looks closer: what the bot says or is told and, on the way back, the answer. */
  said: string
  answer?: Buffer
  /** The same before and after: tells which of several alike it is. */
  passage: object
}

/**
 * What becomes of it. pass: nothing else · dead: this bot is cut off from everything, as by SIGKILL · cut: this connection
 * alone is closed · answer: this is what the bot gets in its place (bytes of RESP, or a reply of HTTP).
 */
export type Fate = "pass" | "dead" | "cut" | { answer: Buffer | HttpAnswer }

/** A reply of HTTP in place of the true one. */
export interface HttpAnswer {
  status: number
  headers?: Record<string, string>
  body: string
}

/** Asked at each border. A promise holds up what passes, and what comes behind it on that connection. */
export type Gate = (border: Border) => Fate | Promise<Fate>

export const nameOf = ({ wire, name }: Pick<Border, "wire" | "name">): string =>
  wire === "model" ? wire : `${wire} ${name}`

/**
 * Counts what passes and names each border: `redis commit 3 after`. What was said before word for word, and nothing has
 * changed since (a bot at rest looks for work each second), is no further border, so that the names do not hang on how long
 * something took. What loops ask of Redis is counted from the last thing that passes so often only as there is a reason for
 * it (`redis pace 2 since model 1 before`): how often they went around by then is another number each time.
 */
export class Numbering {
  /** Names of Redis' commands and scripts that change nothing. */
  readonly #readers: ReadonlySet<string>
  readonly #counts = new Map<string, number>()
  /** By what passes: its kind and number. */
  readonly #names = new WeakMap<object, string>()
  /** What passed last that is no loop's. */
  #last: string | undefined
  /** What was said since something last changed. */
  readonly #said = new Set<string>()

  constructor(readers: ReadonlySet<string>) {
    this.#readers = readers
  }

  /** The border's name; undefined for what was said before, and for what began before anybody counted. */
  label({ wire, name, side, said, passage }: Border): string | undefined {
    const kind = nameOf({ wire, name })
    if (side === "before") this.#count(passage, kind, `${kind} ${said}`, wire === "redis" && this.#readers.has(name))
    const known = this.#names.get(passage)
    return known === undefined ? undefined : `${known} ${side}`
  }

  #count(passage: object, kind: string, words: string, isReader: boolean): void {
    if (this.#said.has(words)) return
    if (!isReader) this.#said.clear()
    this.#said.add(words)
    const isLoop = kind.startsWith("redis ") && !REASONED.includes(kind)
    const since = isLoop && this.#last !== undefined ? ` since ${this.#last}` : ""
    const number = (this.#counts.get(kind + since) ?? 0) + 1
    this.#counts.set(kind + since, number)
    this.#names.set(passage, `${kind} ${number}${since}`)
    if (!isLoop) this.#last = `${kind} ${number}`
  }
}

/** Of Redis, what is done because something happened, and not because a loop went around. */
const REASONED = ["redis commit", "redis admit", "redis remove"]

/** Whether it is one of a loop's. */
export const loops = (label: string): boolean => label.includes(" since ")

/** `redis commit`, of `redis commit 3 after`: what it is one of. */
export const kindOf = (label: string): string => label.replace(/ \d+( since .+)? (before|after)$/u, "")

export const sideOf = (label: string): Side => (label.endsWith("after") ? "after" : "before")
