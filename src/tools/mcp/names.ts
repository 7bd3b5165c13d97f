/** What a server's tool is called here, and how it is matched by the server's own name. */
import { sha256 } from "../../core/digest.ts"
import { anyMatches } from "../../core/rules.ts"

const MOST = 64

/**
 * `<server>_<tool>` in the letters that providers take. One that is too long ends with eight digits of its own hash, always
 * the same.
 */
export function nameOf(server: string, tool: string): string {
  const plain = `${server}_${tool}`.replaceAll(/[^a-zA-Z0-9_-]/gu, "_")
  if (plain.length <= MOST) return plain
  const hash = sha256(JSON.stringify([server, tool])).slice(0, 8)
  return `${plain.slice(0, MOST - hash.length - 1)}_${hash}`
}

/** Which tool it is, whatever it is called here: a name may be another tool's once a server is gone, or back. */
export const originOf = (server: string, tool: string): string => sha256(JSON.stringify([server, tool])).slice(0, 12)

/** Whether the configuration lets the bot have it at all. */
export function isWanted(
  { allow, deny }: { allow?: readonly string[] | undefined; deny: readonly string[] },
  tool: string,
): boolean {
  return (allow === undefined || anyMatches(allow, tool)) && !anyMatches(deny, tool)
}
