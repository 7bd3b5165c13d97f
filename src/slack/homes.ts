/**
 * The homes that people have open: published when opened and when something was pressed there, and brought up to date while
 * recently open. Kept in memory: whoever opens theirs after a restart gets it anew. Knows no rule.
 */
import { canonical, sha256 } from "../core/digest.ts"
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { decidersOf, type Run } from "../core/run.ts"
import { FIRST, homePressOf, homeSaying, pagesOf, type HomePress, type Pages } from "./blocks/home.ts"
import { intentOf, pressOf, type Press } from "./blocks/intent.ts"
import { NO_GRANT } from "./blocks/lists.ts"
import { note, words } from "./blocks/words.ts"
import { isPress, react } from "./clicks.ts"
import { findGrant } from "./find-run.ts"
import { tell, type Front } from "./front.ts"
import { revokeGrant } from "./grants.ts"
import { homeOf, type Made } from "./home.ts"
import { personOf } from "./press.ts"
import { failed, type Ack } from "./replies.ts"

/** All in ms. */
export interface HomeTimes {
  /** How long after it was opened or pressed in a home is kept up to date. */
  watched: number
  /** The least between two publications that nobody asked for, to one person. */
  apart: number
  /** How often it is looked whether other processes changed something. */
  looked: number
}

const TIMES: HomeTimes = { watched: 600_000, apart: 3000, looked: 15_000 }
/** After a commit, so that what follows it at once is shown together with it. */
const SOON = 300

interface Watched {
  person: Person
  until: number
  pages: Pages
  /** What came of the last press. */
  said?: string
  publishedAt: number
  /** Of what was published. */
  hash: string
  made?: Made
  timer?: NodeJS.Timeout | undefined
  /** One publication after another: the last one made must be the last one shown. */
  work: Promise<boolean>
}

/** Whether a press was made in somebody's home. */
export const isHomePress = (body: object): boolean =>
  "view" in body && isRecord(body.view) && body.view["type"] === "home"

export class Homes {
  readonly #front: Front
  readonly #times: HomeTimes
  readonly #open = new Map<string, Watched>()
  readonly #look: NodeJS.Timeout

  constructor(front: Front, times: Partial<HomeTimes> = {}) {
    this.#front = front
    this.#times = { ...TIMES, ...times }
    this.#look = setInterval(() => this.#lookAtAll(), this.#times.looked).unref()
  }

  stop(): void {
    clearInterval(this.#look)
    for (const { timer } of this.#open.values()) clearTimeout(timer)
    this.#open.clear()
  }

  /** A run is as it is now: the homes that show it follow. */
  committed(run: Run): void {
    for (const watched of this.#open.values()) if (concerns(run, watched)) this.#later(watched, SOON)
  }

  /** Somebody opened theirs. */
  async onEvent(body: object): Promise<void> {
    const event = "event" in body && isRecord(body.event) ? body.event : {}
    const user = event["user"]
    if (event["type"] !== "app_home_opened" || event["tab"] !== "home" || typeof user !== "string") return
    const team = "team_id" in body && typeof body.team_id === "string" ? body.team_id : this.#front.home.team
    await this.#publish(this.#watch({ team, user }, FIRST))
  }

  /** Somebody pressed something there. */
  async onPress(body: object, ack: Ack): Promise<void> {
    const { log } = this.#front
    const acked = ack().catch((error: unknown) => log.warn({ err: error }, "an ack of a click did not get through"))
    const action = actionOf(body)
    const press = pressOf({ ...body }, `${String(action["action_id"])}:${String(action["action_ts"])}`)
    if (press) await this.#answer(body, press, homePressOf(action))
    await acked
  }

  /** What came of a press stands in the home as well; where that fails, it is a direct message. */
  async #answer(body: object, press: Press, own: HomePress | undefined): Promise<void> {
    const watched = this.#watch(personOf(press), pagesAfter(body, own))
    const said = own ? await this.#done(own, press) : await this.#pressed(body)
    if (said !== undefined) watched.said = said
    // A window shows it.
    else if (own?.kind !== "page") return
    if (await this.#publish(watched)) return
    await tell(this.#front, { user: press.user }, note(said ?? words({ about: "not recorded" })))
  }

  /** What a press comes to that could have been made on a card; undefined when a window shows it. */
  async #pressed(body: object): Promise<string | undefined> {
    const intent = intentOf(body)
    if (intent.kind === "link") return undefined
    if (!isPress(intent)) return words({ about: "stale" })
    const reaction = await react(this.#front, intent)
    return reaction && words(reaction.said)
  }

  /** What a press comes to that is only here. */
  async #done(own: HomePress, press: Press): Promise<string | undefined> {
    const { store, log } = this.#front
    try {
      switch (own.kind) {
        case "page":
          return undefined
        case "quiet":
          await store.setQuiet(press.user, own.quiet)
          return own.quiet ? "I won't ping you any more." : "I ping you again."
        case "revoke":
          return await this.#revoke(own.grant, press)
      }
    } catch (error) {
      log.error({ err: error, press: own.kind }, "a press in a home could not be dealt with")
      return words(failed(error))
    }
  }

  async #revoke(ref: string, press: Press): Promise<string> {
    const person = personOf(press)
    const found = await findGrant(this.#front, ref, person)
    if (found.kind !== "one") return NO_GRANT
    return words(await revokeGrant(this.#front, { ...found, person, via: "click", cause: press.cause }))
  }

  #watch(person: Person, pages: Pages): Watched {
    const until = performance.now() + this.#times.watched
    const before = this.#open.get(person.user)
    const fresh = { person, until, pages, publishedAt: -Infinity, hash: "", work: Promise.resolve(true) }
    const watched: Watched = Object.assign(before ?? fresh, { person, until, pages })
    // What came of an earlier press is read by now.
    delete watched.said
    this.#open.set(person.user, watched)
    return watched
  }

  #lookAtAll(): void {
    const now = performance.now()
    for (const [user, watched] of this.#open) {
      if (watched.until > now) this.#later(watched, 0)
      else {
        clearTimeout(watched.timer)
        this.#open.delete(user)
      }
    }
  }

  #later(watched: Watched, soonest: number): void {
    if (watched.timer) return
    const wait = Math.max(soonest, watched.publishedAt + this.#times.apart - performance.now())
    watched.timer = setTimeout(() => {
      watched.timer = undefined
      void this.#publish(watched, { changed: true })
    }, wait).unref()
  }

  /** False when Slack did not take it. `changed`: only if it is another than what stands. */
  #publish(watched: Watched, { changed = false } = {}): Promise<boolean> {
    const { log } = this.#front
    watched.work = watched.work
      .then(() => this.#publishNow(watched, changed))
      .catch((error: unknown) => {
        log.warn({ err: error, user: watched.person.user }, "a home could not be published")
        return false
      })
    return watched.work
  }

  async #publishNow(watched: Watched, changed: boolean): Promise<boolean> {
    const { client } = this.#front
    const { person, pages, said } = watched
    const made = await this.#made(watched, pages, said)
    const view = made?.view ?? homeSaying(words({ about: "not recorded" }))
    const hash = sha256(canonical(view))
    if (changed && (!made || hash === watched.hash)) return true
    watched.publishedAt = performance.now()
    await client.views.publish({ user_id: person.user, view })
    watched.hash = hash
    return true
  }

  async #made(watched: Watched, pages: Pages, said: string | undefined): Promise<Made | undefined> {
    try {
      watched.made = await homeOf(this.#front, watched.person, pages, said)
      return watched.made
    } catch (error) {
      this.#front.log.error({ err: error }, "a home could not be read")
      return undefined
    }
  }
}

/** Whether the run stands in the home, or should. */
function concerns(run: Run, { person, made }: Watched): boolean {
  if (!made) return false
  if (run.requester.user === person.user || made.runs.has(run.id)) return true
  const { principals } = made.concern
  return run.asks.some((ask) => !ask.settled && decidersOf(ask).some((one) => principals.includes(one)))
}

/** The pages that were shown, and the one that is wanted. */
function pagesAfter(body: object, own: HomePress | undefined): Pages {
  const view = "view" in body && isRecord(body.view) ? body.view : {}
  const pages = pagesOf(view["private_metadata"])
  return own?.kind === "page" ? { ...pages, [own.list]: own.page } : pages
}

function actionOf(body: object): Record<string, unknown> {
  const list: unknown = "actions" in body ? body.actions : undefined
  const [first] = Array.isArray(list) ? (list as unknown[]) : []
  return isRecord(first) ? first : {}
}
