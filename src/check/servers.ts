/**
 * Whether the MCP servers of the configuration answer, and what of their tools can't be used. A server that is away keeps
 * nothing from starting, so all that is found is a warning.
 */
import type { Config } from "../config.ts"
import { createLog } from "../log.ts"
import type { McpServer } from "../tools/mcp/connect.ts"
import { whyAway } from "../tools/mcp/server.ts"
import { Servers, START_WITHIN } from "../tools/mcp/servers.ts"
import { personalOf, sharedOf } from "../tools/oauth/kits.ts"
import { plain, type Report, together, warning } from "./report.ts"
import { checkSignIns } from "./sign-ins.ts"

/** The most that is said of one server. */
const MOST = 20
/** ms that ending them may take. */
const STOP_WITHIN = 5000

interface Around {
  /** Names of other tools. */
  taken: readonly string[]
  secrets: readonly string[]
}

/** Starts each, has `look` read what they list, and ends them again. */
export async function withServers<T>(
  list: readonly McpServer[],
  { taken, secrets }: Around,
  look: (servers: Servers) => T,
): Promise<T> {
  const log = createLog({ level: "silent", secrets: [], mask: (text) => text })
  const servers = new Servers({ servers: list, taken, secrets, log })
  try {
    await servers.start()
    return look(servers)
  } finally {
    await servers.stop(STOP_WITHIN)
  }
}

/**
 * What each answers; of those that people sign in to, where they do. `names`: of all their tools; undefined where some server is
 * away, or shows them to whoever has signed in alone.
 */
export async function checkServers(
  { mcpServers }: Pick<Config, "mcpServers">,
  around: Around,
): Promise<{ report: Report; names: string[] | undefined }> {
  const { servers } = mcpServers
  const personal = personalOf(servers)
  const [{ report, names }, signIns] = await Promise.all([
    withServers(sharedOf(servers), around, listed),
    checkSignIns(personal),
  ])
  return { report: together(report, signIns), names: personal.length === 0 ? names : undefined }
}

function listed(servers: Servers): { report: Report; names: string[] | undefined } {
  const standing = servers.standing().filter(({ state }) => state.kind !== "disabled")
  const whole = standing.every(({ state }) => state.kind === "ready")
  return {
    report: together(...standing.map(found)),
    names: whole ? servers.tools().map(({ name }) => name) : undefined,
  }
}

function found({ name, state, notes }: ReturnType<Servers["standing"]>[number]): Report {
  const server = `The MCP server ${plain(name)}`
  if (state.kind !== "ready") {
    const why = whyAway(state) ?? `it did not answer within ${START_WITHIN / 1000} s`
    return warning(
      `${server} is away: ${plain(why)}. The bot starts and works without it, and tries again; until then rules for tools that there aren't go unnoticed.`,
    )
  }
  const told = notes.slice(0, MOST).map((note) => `${server}: ${plain(note)}.`)
  const rest = notes.length - MOST
  return warning(...told, ...(rest > 0 ? [`${server}: ${rest} more like it.`] : []))
}
