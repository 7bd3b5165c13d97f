/**
 * By which doors people come to the agent beside the command: a mention, a reply in a run's thread, a direct message; and for whom
 * each is open. Knows the form of each, and nobody who comes.
 */
import { z } from "zod"
import { prompts } from "./agents.ts"
import { ids, mapping, orMapping, said } from "./forms.ts"

// A door can only be narrower than the file: who may not start runs may do so by no door.
const starters = ids(["U", "S"], "users (U…) and user groups (S…)").min(1, {
  error: "is empty: put false to close the door, or leave the list out and whoever may start runs may come by it",
})
const OPEN = "true, false, or { starters: [ U0123 ] }"
const door = orMapping(z.boolean({ error: said(OPEN) }), mapping({ starters }, "{ starters: [ U0123 ] }")).default(true)

const DIRECT =
  "false, or { cards: C0APPROVALS }: the channel where those who decide see what is asked in direct messages"
const direct = orMapping(
  z.literal(false, { error: said(DIRECT) }),
  mapping({ cards: ids.one(["C"]), starters: starters.optional(), prompts: prompts.default([]) }),
)
  // Nobody sees there what goes on, so it is for whoever writes the file to want.
  .default(false)

export const doors = mapping(
  { command: door, mention: door, reply: door, message: direct },
  "{ mention: false }",
).prefault({})
