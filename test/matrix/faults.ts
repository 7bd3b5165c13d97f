/**
 * What else than a bot can break, as data: Redis, Slack, and the way between. Each fault befalls a life at one border, as the
 * wires around the bot see it, and passes. It knows no life; what must hold all the same is judged elsewhere.
 */
import { BOT } from "../../src/sandbox/seed.ts"
import type { Border, Fate } from "./border.ts"
import { OPS, type Cell } from "./cell.ts"
import type { OwnRedis } from "./own-redis.ts"

/** What it befalls. */
export interface Scene {
  cell: Cell
  redis: OwnRedis | undefined
}

/** Asked of each border from the beginning; `hit`: this is the one. */
export type Befalling = (border: Border, hit: boolean) => Fate | Promise<Fate>

export interface Fault {
  name: string
  /** Where it may befall a life: a border's name. */
  at: RegExp
  /** kind: once a life for each kind of border (each script, each method) · life: once a life · any: in any one life. */
  per: "kind" | "life" | "any"
  /** Whether the life needs a Redis of its own. */
  own?: true
  begin: (scene: Scene) => Befalling
  /** It holds up calls of Slack, which are carried out later. */
  holdsUp?: true
  /** It lasts for longer than a short test may. */
  slow?: true
  /** Findings that it makes true, or that nobody could avoid. */
  excuses?: readonly RegExp[]
}

/** Once, at the border itself. */
const once =
  (fate: Fate | ((scene: Scene) => Fate | Promise<Fate>)) =>
  (scene: Scene): Befalling =>
  (_, hit) =>
    hit ? (typeof fate === "function" ? fate(scene) : fate) : "pass"

/** From the border on, for so many ms, whatever `test` holds of. */
const during = (ms: number, test: (border: Border) => boolean, fate: () => Fate | Promise<Fate>) => (): Befalling => {
  let until = 0
  return (border, hit) => {
    if (hit) until = performance.now() + ms
    return performance.now() < until && test(border) ? fate() : "pass"
  }
}

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const reply = (words: string): Fate => ({ answer: Buffer.from(`-${words}\r\n`) })
const slack = (status: number, error: string, headers: Record<string, string> = {}): Fate => ({
  answer: { status, headers, body: JSON.stringify({ ok: false, error }) },
})

const ANY_REDIS = /^redis \w+ \d+( since .+)? before$/
const ANY_SLACK = /^slack [\w.]+ \d+ before$/
const ANY = /^(redis|slack|envelope) [\w.]+ \d+( since .+)? before$/

/** Breaks a Redis of one's own and mends it after a while; what passes then goes on its way. */
const breaking =
  (how: (redis: OwnRedis) => Promise<void>) =>
  ({ redis }: Scene): Befalling =>
  async (_, hit): Promise<Fate> => {
    if (hit && redis) await how(redis)
    return "pass"
  }

const REDIS: Fault[] = [
  { name: "Redis: reply lost", at: /^redis \w+ \d+( since .+)? after$/, per: "kind", begin: once("cut") },
  { name: "Redis: cut off before", at: ANY_REDIS, per: "kind", begin: once("cut") },
  {
    name: "Redis: loading",
    at: ANY_REDIS,
    per: "life",
    begin: during(
      2000,
      ({ wire, side }) => wire === "redis" && side === "before",
      () => reply("LOADING Redis is loading the dataset in memory"),
    ),
  },
  {
    name: "Redis: killed",
    at: ANY_REDIS,
    per: "life",
    own: true,
    begin: breaking(async (redis) => {
      await redis.kill()
      void redis.start()
    }),
  },
  {
    name: "Redis: paused for 30 s",
    slow: true,
    at: ANY_REDIS,
    per: "life",
    own: true,
    begin: breaking(async (redis) => {
      redis.pause()
      void after(30_000).then(() => redis.resume())
    }),
  },
  {
    name: "Redis: only reads",
    at: ANY_REDIS,
    per: "life",
    own: true,
    begin: breaking(async (redis) => {
      await redis.do("REPLICAOF", "127.0.0.1", "1")
      void after(3000).then(() => redis.do("REPLICAOF", "NO", "ONE"))
    }),
  },
  {
    name: "Redis: full",
    at: ANY_REDIS,
    per: "life",
    own: true,
    begin: breaking(async (redis) => {
      await redis.do("CONFIG", "SET", "maxmemory", "500kb")
      void after(3000).then(() => redis.do("CONFIG", "SET", "maxmemory", "0"))
    }),
  },
]

/** Where a run can't be seen any more it ends, and says so where it can. */
const UNSEEN = [/^end: /, /^cards: /, /^reaction: /]

/** Something that befalls the workspace while the life goes on. */
const befalls = (what: (workspace: Cell["slack"]["workspace"]) => void) =>
  once(({ cell }) => {
    what(cell.slack.workspace)
    return "pass"
  })

const SLACK: Fault[] = [
  { name: "Slack: reply lost", at: /^slack [\w.]+ \d+ after$/, per: "kind", begin: once("cut") },
  { name: "Slack: 429", at: ANY_SLACK, per: "kind", begin: once(slack(429, "ratelimited", { "retry-after": "1" })) },
  { name: "Slack: 500", at: ANY_SLACK, per: "kind", begin: once(slack(500, "internal_error")) },
  {
    name: "Slack: 503 without JSON",
    at: ANY_SLACK,
    per: "kind",
    begin: once({ answer: { status: 503, body: "<html>" } }),
  },
  {
    name: "Slack: hangs for a minute",
    slow: true,
    holdsUp: true,
    at: ANY_SLACK,
    per: "life",
    begin: () => {
      let freed: Promise<void> | undefined
      return async ({ wire }, hit): Promise<Fate> => {
        if (hit) freed ??= after(60_000)
        if (wire === "slack") await freed
        return "pass"
      }
    },
  },
  {
    name: "Slack: sockets dropped",
    at: ANY,
    per: "life",
    begin: befalls(({ sockets }) => sockets.drop()),
  },
  {
    name: "Slack: sockets refreshed",
    at: ANY,
    per: "life",
    begin: befalls(({ sockets }) => sockets.refresh()),
  },
  {
    name: "Slack: every envelope twice",
    at: /^envelope [\w.]+ 1 before$/,
    per: "life",
    begin: ({ cell }) => {
      cell.slack.workspace.misbehave({ do: "repeat" })
      return () => "pass"
    },
  },
  {
    name: "Slack: channel archived",
    // Changes of what stands there are tried for four minutes.
    slow: true,
    at: ANY,
    per: "life",
    begin: befalls((workspace) => workspace.alterChannel(OPS, { is_archived: true })),
    excuses: UNSEEN,
  },
  {
    name: "Slack: bot removed",
    // Changes of what stands there are tried for four minutes.
    slow: true,
    at: ANY,
    per: "life",
    begin: befalls((workspace) => workspace.leave(OPS, BOT)),
    excuses: UNSEEN,
  },
]

/** https://docs.slack.dev/reference/methods/chat.postMessage and chat.update, "Errors" */
const REFUSALS: Record<"chat.postMessage" | "chat.update", readonly string[]> = {
  "chat.postMessage": [
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "restricted_action",
    "restricted_action_read_only_channel",
    "restricted_action_thread_only_channel",
    "restricted_action_non_threadable_channel",
    "restricted_action_thread_locked",
    "no_text",
    "invalid_blocks",
    "invalid_blocks_format",
    "msg_blocks_too_long",
    "missing_scope",
    "token_expired",
    "token_revoked",
    "account_inactive",
    "messages_tab_disabled",
    "team_access_not_granted",
    "ekm_access_denied",
    "metadata_too_large",
    "ratelimited",
    "rate_limited",
    "internal_error",
    "fatal_error",
  ],
  "chat.update": [
    "msg_too_long",
    "cant_update_message",
    "edit_window_closed",
    "is_inactive",
    "message_not_found",
    "channel_not_found",
    "not_in_channel",
    "invalid_blocks",
    "streaming_state_conflict",
    "ratelimited",
    "internal_error",
    "token_revoked",
  ],
}

/** What can't be changed any more keeps what it showed. */
const STAYS = [/^cards: /, /^reaction: /]

const refusal = (method: keyof typeof REFUSALS, error: string): Fault => ({
  name: `${method}: ${error}`,
  at: new RegExp(`^slack ${method.replace(".", "\\.")} \\d+ before$`),
  per: "any",
  begin: once(slack(200, error)),
  excuses: method === "chat.update" ? STAYS : UNSEEN,
})

export const FAULTS: readonly Fault[] = [
  ...REDIS,
  ...SLACK,
  ...REFUSALS["chat.postMessage"].map((error) => refusal("chat.postMessage", error)),
  ...REFUSALS["chat.update"].map((error) => refusal("chat.update", error)),
]

export function faultOf(name: string): Fault {
  const found = FAULTS.find((fault) => fault.name === name)
  if (!found) throw new Error(`there is no fault “${name}”: ${FAULTS.map((fault) => fault.name).join(", ")}`)
  return found
}
