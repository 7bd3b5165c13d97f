/**
 * Whether the MCP servers of the configuration answer, and what of their tools can't be used. A server that is away keeps
 * nothing from starting, so all that is found is a warning.
 */
import type { Config } from "../config.ts"
import { createLog } from "../log.ts"
import { Servers, START_WITHIN } from "../tools/mcp/servers.ts"
import { plain, type Report, together, warning } from "./report.ts"

/** The most that is said of one server. */
const MOST = 20

/**
 * Starts each, reads its list, and ends it again. `names`: of all their tools; undefined where some server is away. `taken`
 * are the names of other tools.
 */
export async function checkServers(
  { mcpServers }: Config,
  { taken, secrets }: { taken: readonly string[]; secrets: readonly string[] },
): Promise<{ report: Report; names: string[] | undefined }> {
  const log = createLog({ level: "silent", secrets: [], mask: (text) => text })
  const servers = new Servers({ servers: mcpServers.servers, taken, secrets, log })
  try {
    await servers.start(START_WITHIN)
    const standing = servers.standing().filter(({ state }) => state.kind !== "disabled")
    const whole = standing.every(({ state }) => state.kind === "ready")
    return {
      report: together(...standing.map(found)),
      names: whole ? servers.tools().map(({ name }) => name) : undefined,
    }
  } finally {
    await servers.stop(5000)
  }
}

function found({ name, state, notes }: ReturnType<Servers["standing"]>[number]): Report {
  const server = `The MCP server ${plain(name)}`
  if (state.kind !== "ready") {
    const why = state.kind === "away" ? plain(state.why) : `it did not answer within ${START_WITHIN / 1000} s`
    return warning(`${server} is away: ${why}. The bot starts and works without it, and tries again.`)
  }
  const told = notes.slice(0, MOST).map((note) => `${server}: ${plain(note)}.`)
  const rest = notes.length - MOST
  return warning(...told, ...(rest > 0 ? [`${server}: ${rest} more like it.`] : []))
}
