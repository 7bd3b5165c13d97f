/**
 * The MCP servers that people sign in to, as far as they can be looked at without a person: the names of the tools by which they
 * do, and whether the servers say where anybody signs in.
 */
import type { Known } from "../config.ts"
import { signInNameOf } from "../tools/oauth/asks.ts"
import { personalOf } from "../tools/oauth/kits.ts"
import { discover, type Signing } from "../tools/oauth/provider.ts"
import { SignInFault } from "../tools/oauth/way.ts"
import { fault, plain, type Report, together, warning } from "./report.ts"

/** Two tools of one name: `names` are those of the configuration. */
export function checkSignInNames({ mcpServers }: Pick<Known, "mcpServers">, names: readonly string[] = []): Report {
  const taken = new Map(names.map((name) => [name, "a tool of the configuration"]))
  const faults = personalOf(mcpServers?.servers ?? []).flatMap(({ name: server }) => {
    const name = signInNameOf(server)
    const before = taken.get(name)
    taken.set(name, `the tool by which people sign in to ${plain(server)}`)
    const what = `The tool by which people sign in to the MCP server ${plain(server)} is called ${name}`
    return before === undefined ? [] : [`${what}, as is ${before}: give one of them another name.`]
  })
  return fault(...faults)
}

/** Whether each says where people sign in. None keeps the bot from starting. */
export async function checkSignIns(servers: readonly Signing[]): Promise<Report> {
  return together(...(await Promise.all(servers.map(found))))
}

async function found(server: Signing): Promise<Report> {
  try {
    await discover(server)
    return together()
  } catch (error) {
    const why = error instanceof SignInFault ? plain(error.message) : "something is wrong on our side"
    return warning(
      `Nobody can sign in to the MCP server ${plain(server.name)} now: ${why}. The bot starts and works without it.`,
    )
  }
}
