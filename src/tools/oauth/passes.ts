/**
 * Passes: what people got by signing in, each for one server and one person, sealed. A pass that has run out is renewed by one
 * process at a time, since what it is renewed with is good for once. Knows neither runs nor how anybody signs in.
 */
import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import { z } from "zod"
import { canonicalOwn, sha256 } from "../../core/digest.ts"
import type { Person } from "../../core/fact.ts"
import type { Log } from "../../log.ts"
import type { Drawer } from "../../store/drawer.ts"
import { standingSchema, type Given, type Standing } from "./provider.ts"
import { SignInFault } from "./way.ts"
import type { Place, Seal } from "./seal.ts"

/** Whose pass, and for what. */
export interface Whose {
  /** As the configuration calls the server. */
  server: string
  url: string
  person: Pick<Person, "team" | "user">
}

export interface Pass extends Given, Standing {
  /** Another one with each sign-in. */
  id: string
}

/** gone: nobody is signed in (any more) · failed: it may go later; `why` ends a sentence. */
export type Renewal = { kind: "renewed" } | { kind: "gone" } | { kind: "failed"; why: string }

/** What nobody used for so long is forgotten, ms: half a year. */
const KEPT = 180 * 86_400_000
/** One renewal takes 10 s at most, and its writing 6. */
const LOCK = 30_000
const LOOK_EVERY = 100

const schema = z.object({ id: z.string(), access: z.string(), refresh: z.string().optional(), ...standingSchema.shape })

const placeOf = ({ server, url, person }: Whose): Place => ["pass", server, url, person.team, person.user]
const nameOf = (whose: Whose): string => `pass:${sha256(canonicalOwn([...placeOf(whose)]))}`

export class Passes {
  readonly #drawer: Drawer
  readonly #seal: Seal
  readonly #log: Log
  /** Those that could not be opened: one line each. */
  readonly #told = new Set<string>()

  constructor({ drawer, seal, log }: { drawer: Drawer; seal: Seal; log: Log }) {
    this.#drawer = drawer
    this.#seal = seal
    this.#log = log
  }

  /** Rejects when Redis doesn't answer. */
  async read(whose: Whose): Promise<Pass | undefined> {
    return (await this.#look(whose))?.pass
  }

  async keep(whose: Whose, pass: Pass): Promise<void> {
    await this.#drawer.put(nameOf(whose), this.#seal.close(placeOf(whose), pass), KEPT)
  }

  /** Takes it away, and returns it if there was one. */
  async forget(whose: Whose): Promise<Pass | undefined> {
    const taken = await this.#drawer.take(nameOf(whose))
    return taken === undefined ? undefined : this.#opened(whose, taken)
  }

  /** Takes away just this one: somebody may have signed in anew meanwhile. */
  async drop(whose: Whose, { id, access }: Pick<Pass, "id" | "access">): Promise<void> {
    const seen = await this.#look(whose)
    if (seen?.pass.id === id && seen.pass.access === access) await this.#swap(whose, seen.sealed, undefined)
  }

  /**
   * Has a pass renewed that was refused as it was used (`used`). Whoever comes while another process does so waits for that and
   * has the new one, too.
   */
  async renew(whose: Whose, used: Pick<Pass, "id" | "access">, ask: (pass: Pass) => Promise<Given>): Promise<Renewal> {
    const lock = `lock:${nameOf(whose)}`
    for (let waited = 0; waited < LOCK; waited += LOOK_EVERY) {
      const before = await this.#refused(whose, used)
      if ("kind" in before) return before
      const mine = randomUUID()
      if (!(await this.#drawer.swap(lock, undefined, mine, LOCK))) {
        await delay(LOOK_EVERY)
        continue
      }
      try {
        const seen = await this.#refused(whose, used)
        return "kind" in seen ? seen : await this.#renewed(whose, seen, ask)
      } finally {
        // A lock that could not be let go of lapses.
        await this.#drawer.swap(lock, mine, undefined).catch(() => undefined)
      }
    }
    return { kind: "failed", why: "another process has been renewing it for too long" }
  }

  /** The pass that was refused, if it is still that one; else what became of it. */
  async #refused(whose: Whose, { id, access }: Pick<Pass, "id" | "access">): Promise<Seen | Renewal> {
    const seen = await this.#look(whose)
    if (!seen || seen.pass.id !== id) return { kind: "gone" }
    return seen.pass.access === access ? seen : { kind: "renewed" }
  }

  async #renewed(whose: Whose, { sealed, pass }: Seen, ask: (pass: Pass) => Promise<Given>): Promise<Renewal> {
    if (pass.refresh === undefined) {
      await this.#swap(whose, sealed, undefined)
      return { kind: "gone" }
    }
    try {
      const next = { ...pass, ...(await ask(pass)) }
      // Who signed out meanwhile stays signed out.
      const isKept = await this.#swap(whose, sealed, this.#seal.close(placeOf(whose), next))
      return { kind: isKept ? "renewed" : "gone" }
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error
      if (error.refused !== "sign-in") return { kind: "failed", why: error.message }
      this.#log.info(
        { server: whose.server, user: whose.person.user },
        "a sign-in has run out: the person is asked anew",
      )
      await this.#swap(whose, sealed, undefined)
      return { kind: "gone" }
    }
  }

  #swap(whose: Whose, from: string, to: string | undefined): Promise<boolean> {
    return this.#drawer.swap(nameOf(whose), from, to, KEPT)
  }

  async #look(whose: Whose): Promise<Seen | undefined> {
    const sealed = await this.#drawer.read(nameOf(whose), KEPT)
    const pass = sealed === undefined ? undefined : this.#opened(whose, sealed)
    return sealed === undefined || !pass ? undefined : { sealed, pass }
  }

  /** What can't be opened was sealed under another key, or put there by somebody else: it is as if it were not there. */
  #opened(whose: Whose, sealed: string): Pass | undefined {
    const read = schema.safeParse(this.#seal.open(placeOf(whose), sealed))
    if (read.success) return read.data
    const name = nameOf(whose)
    if (!this.#told.has(name) && this.#told.size < 1000) {
      this.#told.add(name)
      const about = { server: whose.server, user: whose.person.user }
      this.#log.warn(
        about,
        "what somebody got by signing in can't be opened: COUNTERSIGN_KEY is another one by now, or somebody changed it in Redis; they are asked to sign in anew",
      )
    }
    return undefined
  }
}

interface Seen {
  sealed: string
  pass: Pass
}
