// The minimal loop: no rule, no person, no fact; nothing but the bytes in four scripts.
import { plainLoop } from "../plain.mjs"

export async function open({ url, sizes }) {
  return plainLoop(url, sizes)
}
