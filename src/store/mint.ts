/** Names for what this process does in Redis, by which it knows its own again. Knows nothing of what they stand for. */
import { randomBytes } from "node:crypto"

/** Tokens that no other commit or claim has: this process' own random beginning, and a counter. */
export function minter(): () => string {
  const beginning = randomBytes(9).toString("base64url")
  let count = 0
  return () => `${beginning}${(count++).toString(36)}`
}
