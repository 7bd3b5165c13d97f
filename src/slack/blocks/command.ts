/**
 * What somebody typed behind the slash command means. Knows no run: an id is only told from a word.
 */

export type Command =
  | { kind: "help" | "list" | "agents" | "grants" }
  | { kind: "pause" | "resume" }
  /** `agent`: whose, in small letters. */
  | { kind: "tools"; agent?: string }
  /** `run` and `grant` are empty when none was named. */
  | { kind: "cancel" | "show" | "why"; run: string }
  | { kind: "revoke"; grant: string }
  /** `server` is empty when none was named. */
  | { kind: "sign-out"; server: string }
  | { kind: "start"; prompt: string }

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" }

/** How an id or the beginning of one looks. A digit must be in it, so that “show replicas” is something to do. */
const ID = /^(?:r|g)(?=[a-z-]*\d)[0-9a-z.-]{1,60}$/i

/**
 * What the text behind the command means. Slack escapes `&`, `<` and `>` in it; the person's own words come out. A word
 * that takes an id is one only with nothing but an id behind it: “why is web slow” is a prompt.
 */
export function commandOf(raw: string): Command {
  const said = raw.replaceAll(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity).trim()
  if (said === "") return { kind: "help" }
  const server = /^sign-out(?:\s+(?:["“](?<quoted>[^"“”]{1,50})["”]|(?<plain>\S{1,50})))?$/i.exec(said)
  if (server) return { kind: "sign-out", server: server.groups?.["quoted"] ?? server.groups?.["plain"] ?? "" }
  const [, word = "", rest] = /^([a-z]+)(?:\s+(\S+))?$/i.exec(said) ?? []
  return commandNamed(word.toLowerCase(), rest) ?? { kind: "start", prompt: said }
}

/** Words that are a command by themselves, and with nothing behind them. */
const BARE = ["help", "list", "agents", "grants", "pause", "resume"] as const

function toolsOf(rest: string | undefined): Command | undefined {
  if (rest === undefined) return { kind: "tools" }
  const [, agent] = /^@([\w-]{1,80})$/.exec(rest) ?? []
  return agent === undefined ? undefined : { kind: "tools", agent: agent.toLowerCase() }
}

function commandNamed(word: string, rest: string | undefined): Command | undefined {
  const bare = BARE.find((one) => one === word)
  if (bare) return rest === undefined ? { kind: bare } : undefined
  return word === "tools" ? toolsOf(rest) : withId(word, (rest ?? "").replaceAll(/^[`'"“‘]+|[`'"”’]+$/g, ""))
}

function withId(word: string, id: string): Command | undefined {
  if (word === "cancel") return { kind: word, run: id }
  if (id !== "" && !ID.test(id)) return undefined
  if (word === "revoke") return { kind: word, grant: id }
  return word === "show" || word === "why" ? { kind: word, run: id } : undefined
}
