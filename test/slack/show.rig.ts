/**
 * Runs that wait to be shown: a real Redis, the local Slack, a real client and the show loop; what a worker and a click
 * would commit is committed by hand.
 */
import { randomUUID } from "node:crypto"
import { Redis } from "ioredis"
import { expect, onTestFinished } from "vitest"
import { cancelled, expire } from "../../src/core/ask.ts"
import { settle } from "../../src/core/settle.ts"
import { canonical, sha256 } from "../../src/core/digest.ts"
import type { Person } from "../../src/core/fact.ts"
import type { Rule } from "../../src/core/policy.ts"
import type { Run, Step } from "../../src/core/run.ts"
import { begin, took } from "../../src/core/turn.ts"
import { ADA, OPS, ROBIN } from "../../src/sandbox/seed.ts"
import { startSlack, type SandboxSlack, type SlackOptions } from "../../src/sandbox/slack.ts"
import type { Message } from "../../src/sandbox/workspace.ts"
import { slackClient } from "../../src/slack/client.ts"
import { startShow, type Show, type ShowOptions } from "../../src/slack/show.ts"
import { wordData } from "../../src/slack/word.ts"
import { runIdOf, shardKeys } from "../../src/store/keys.ts"
import { Store, type StoreOptions } from "../../src/store/store.ts"
import { freshPrefix, redisUrl } from "../redis.ts"

const ROBIN_PERSON: Person = { team: "T1", user: ROBIN, name: "Robin" }
export const ADA_PERSON: Person = { team: "T1", user: ADA, name: "Ada" }

/** Fast enough for a test; the real rates are a matter of numbers. */
const RATES = {
  "chat.postMessage": { every: 5, burst: 3 },
  "chat.update": { every: 5, burst: 3 },
  "chat.postEphemeral": { every: 5, burst: 3 },
}

const RULE: Rule = { approvers: [ADA], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }

export interface Rig {
  slack: SandboxSlack
  store: Store
  show: Show
  /** What was logged: level and words. */
  logged: string[]
  /** Another show loop, as another process has it. */
  another(options?: Partial<ShowOptions>): Show
  /** One with a connection of its own to Redis, which dies in the middle of whatever it does; then its leases lapse. */
  mortal(): Promise<{ die(id: string): Promise<void> }>
  begin(how?: { channel?: string; prompt?: string; link?: string }): Promise<string>
  /** A turn of the model; each call is asked about under the rule given. Returns the Requests' ids. */
  ask(
    id: string,
    calls: { tool?: string; args?: unknown; rule?: Partial<Rule>; request?: string }[],
    said?: string,
  ): Promise<string[]>
  answer(id: string, text: string): Promise<void>
  decide(id: string, ask: string, ok: boolean, note?: string): Promise<void>
  expire(id: string): Promise<void>
  cancel(id: string): Promise<void>
  change(id: string, next: (run: Run, now: number) => Step | undefined): Promise<void>
  run(id: string): Promise<Run>
  /** What was sent of it, and was not answered, can be carried out no more: as if the time for that were over. */
  passed(id: string): Promise<void>
  /** No look at Redis any more, as between two pulses. */
  quiet(): void
  /** Resolves when nothing is left to be shown. */
  settled(id: string, timeout?: number): Promise<void>
  /** The messages of a channel whose blocks or text hold the words. */
  messages(channel?: string, words?: string): Message[]
  cards(channel?: string): Message[]
}

export async function rig(
  options: {
    slack?: SlackOptions
    show?: Partial<ShowOptions>
    idle?: boolean
    redis?: string
    outbox?: boolean
    onCommit?: StoreOptions["onCommit"]
    /** ms that a call of Slack may take. */
    timeout?: number
  } = {},
): Promise<Rig> {
  const slack = await startSlack(options.slack)
  const prefix = freshPrefix()
  const shows: Show[] = []
  const wake = (): void => shows.forEach((show) => show.wake())
  const url = options.redis ?? redisUrl()
  const outbox = options.outbox ?? false
  const onCommit: StoreOptions["onCommit"] = (...committed) => {
    wake()
    options.onCommit?.(...committed)
  }
  const open = (): Promise<Store> => Store.open({ url, prefix, shards: 1, confirm: 0, outbox, onCommit })
  const store = await open()
  const logged: string[] = []
  const say = (level: string) => (about: object, words: string) => {
    const error = "err" in about && about.err instanceof Error ? ` (${about.err.stack})` : ""
    logged.push(`${level} ${words} ${JSON.stringify(about)}${error}`)
  }
  const another = (more: Partial<ShowOptions> = {}): Show => {
    const show = startShow({
      store,
      client: slackClient({ token: slack.botToken, apiUrl: slack.apiUrl, timeout: options.timeout ?? 2000 }),
      log: { info: say("info"), warn: say("warn"), error: say("error") },
      owner: randomUUID(),
      rates: RATES,
      tellAfter: 0,
      rests: { root: 0, card: 0, refused: 60_000 },
      ...options.show,
      ...more,
    })
    shows.push(show)
    return show
  }
  const show = options.idle ? { wake() {}, tick() {}, stop: () => Promise.resolve() } : another()
  const pulse = setInterval(() => {
    store.peek().then(
      (peeked) => shows.forEach((each) => each.tick(peeked)),
      () => undefined,
    )
  }, 25)
  onTestFinished(async () => {
    clearInterval(pulse)
    slack.workspace.behave()
    await Promise.all(shows.map((each) => each.stop()))
    await store.close()
    await slack.close()
  })

  const change: Rig["change"] = async (id, next) => {
    const done = await store.apply(id, (run, now) => {
      const step = run && next(run, now)
      return { outcome: undefined, ...(step ? { step } : {}) }
    })
    expect(done.kind).toBe("applied")
  }
  const run = async (id: string): Promise<Run> => {
    const loaded = await store.load(id)
    if (!loaded) throw new Error(`no run ${id}`)
    return loaded.run
  }
  const messages: Rig["messages"] = (channel = OPS, words = "") =>
    slack.workspace.messages(channel).filter((message) => JSON.stringify(message).includes(words))

  return {
    slack,
    store,
    quiet: () => clearInterval(pulse),
    show,
    logged,
    another,
    async mortal() {
      const own = await open()
      const show = another({ store: own, log: { info() {}, warn() {}, error() {} } })
      return {
        async die(id) {
          await own.close()
          void show.stop()
          const redis = new Redis(url)
          await redis.del(`${shardKeys(prefix, 0).lease}show`)
          await redis.quit()
          await store.show.showLater(id, "cards", 0)
        },
      }
    },
    change,
    run,
    messages,
    cards: (channel = OPS) => messages(channel).filter(isCard),
    async begin({ channel = OPS, prompt = "restart the web server", link } = {}) {
      const trigger = randomUUID()
      const id = runIdOf("T1", trigger, 1)
      const data = wordData({ user: ROBIN, channel, text: "", ...(link === undefined ? {} : { responseUrl: link }) })
      const done = await store.apply(id, (_, now) => ({
        outcome: undefined,
        step: begin(
          {
            id,
            cause: trigger,
            requester: ROBIN_PERSON,
            channel,
            prompt,
            keep: 86_400_000,
            rooted: false,
            via: "command",
            transcript: [JSON.stringify({ role: "user", content: prompt })],
            slots: [{ name: "link", data }],
          },
          now,
        ),
      }))
      expect(done.kind).toBe("applied")
      return id
    },
    async ask(id, calls, said = "") {
      const requests = calls.map(({ request }) => request ?? `pnd-${randomUUID()}`)
      await change(id, (before, now) =>
        took(
          before,
          {
            message: JSON.stringify({ role: "assistant", content: said }),
            text: said,
            usage: { prompt: 1, completion: 1 },
            planned: calls.map(({ tool = "restart", args = { service: "web" }, rule }, index) => ({
              ref: `call_${index}`,
              tool,
              effects: "once",
              args: canonical(args),
              digest: sha256(canonical(args)),
              next: {
                do: "ask",
                request: { id: requests[index] ?? "", kind: "approval", prompt: `Run ${tool}?` },
                rule: { ...RULE, ...rule },
              },
            })),
          },
          now,
        ),
      )
      return requests
    },
    answer: (id, text) =>
      change(id, (before, now) =>
        took(before, { message: "{}", text, usage: { prompt: 1, completion: 1 }, planned: [] }, now),
      ),
    decide: (id, ask, ok, note) =>
      change(
        id,
        (before, now) =>
          settle(
            before,
            {
              ask,
              version: 1,
              ok,
              who: { person: ADA_PERSON, standing: "member", member: {} },
              via: "click",
              cause: randomUUID(),
              ...(note === undefined ? {} : { note }),
            },
            now,
          ).step,
      ),
    expire: (id) =>
      change(id, (before, now) => {
        const asks = before.asks.map((ask) => (ask.settled ? ask : { ...ask, expiresAt: now }))
        return expire({ ...before, asks }, now)
      }),
    cancel: (id) =>
      change(id, (before, now) => cancelled(before, { by: ROBIN_PERSON, via: "click", cause: randomUUID() }, now)),
    async passed(id) {
      const now = await store.now()
      for (const [slot, text] of (await store.show.shown(id)).sent) {
        const sent = JSON.parse(text) as { late?: object }
        if (!sent.late) continue
        await store.show.recordSent(id, slot, JSON.stringify({ ...sent, late: { ...sent.late, until: now } }))
      }
      const redis = new Redis(url)
      await redis.zadd(shardKeys(prefix, 0).late, "XX", now, id)
      await redis.quit()
    },
    async settled(id, timeout = 15_000) {
      const runs = await run(id)
      expect(runs.id).toBe(id)
      await expect
        .poll(
          async () => [
            await store.peek().then(({ cards, rest }) => [cards, rest]),
            logged.filter((line) => line.startsWith("error")),
          ],
          {
            timeout,
            interval: 20,
          },
        )
        .toEqual([[undefined, undefined], []])
    },
  }
}

export const isCard = (message: Message): boolean => JSON.stringify(message.blocks ?? []).includes("Fingerprint")

/** The action ids of a message's buttons, but for the one that every card that waits has: Details. */
export const buttonsOf = (message: Message | undefined): string[] =>
  (message?.blocks ?? [])
    .filter((block) => block.type === "actions")
    .flatMap((block) => (block["elements"] as { action_id: string }[]).map(({ action_id }) => action_id))
    .filter((action) => action !== "details")
