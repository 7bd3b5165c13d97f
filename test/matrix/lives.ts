/**
 * The lives of a run, as data: what the model says, what the configuration says, and what people do. A new one is a new entry.
 */
import type { WireTurn } from "../fakes/provider.ts"
import { APP1, APP2, REQ } from "./cell.ts"
import type { DoubtAnswer, Step } from "./person.ts"

export interface Life {
  name: string
  turns: readonly WireTurn[]
  config?: Record<string, unknown>
  steps: readonly Step[]
  /** What people say about an outcome that nobody knows; `done` unless said. */
  doubt?: DoubtAnswer
  /** The bots have the MCP server `desk`, which is a process of each one's own. */
  desk?: true
  /** A border at which the first bot dies in any case: the life that is looked at is that of the next one. */
  after?: string
  /** Something that takes long: what passes there is held up until one of the other kind has been carried out, and for so many ms more. */
  slow?: { at: string; until: string; more?: number }
  /** ms from one comparison of a run with Slack to the next; ten minutes unless said. */
  lookEvery?: number
  /** In the end the run is deleted, and nothing is left of it. */
  deleted?: true
  /** How the run ends, whatever died: undefined when any end may be. */
  ends: "done" | "cancelled"
}

const LAST: WireTurn = { text: "That is all." }
const wanting = (name: string, args: Record<string, string> = { service: "web" }): WireTurn[] => [
  { text: "It helps.", calls: [{ id: "c1", name, args }] },
  LAST,
]

const start: Step = { do: "type", who: REQ, text: "help the web tier" }
const approve: Step = { do: "press", who: APP1, action: "approve" }

/** A life in which nobody knows whether the call was executed: the bot dies when it was, and before it says so. */
const inDoubt = (doubt: DoubtAnswer): Life => ({
  name: `doubt ${doubt === "wait" ? "expired" : doubt}`,
  turns: wanting("restart"),
  config: { approvals: [{ tool: "restart", do: "ask", expiresIn: doubt === "wait" ? "8s" : "1h" }] },
  steps: [start, approve],
  doubt,
  after: "tool restart end 1 before",
  ends: "done",
})

export const LIVES: readonly Life[] = [
  { name: "approve", turns: wanting("restart"), steps: [start, approve], ends: "done" },
  {
    name: "decline",
    turns: wanting("restart"),
    steps: [start, { do: "press", who: APP1, action: "decline" }],
    ends: "done",
  },
  {
    name: "expire",
    turns: wanting("restart"),
    config: { expiresIn: "4s" },
    steps: [start, { do: "wait" }],
    ends: "done",
  },
  {
    name: "cancel",
    turns: wanting("restart"),
    steps: [start, { do: "see", action: "approve" }, { do: "press", who: REQ, action: "cancel" }],
    ends: "cancelled",
  },
  {
    name: "two cards",
    turns: [
      {
        text: "Both help.",
        calls: [
          { id: "c1", name: "read" },
          { id: "c2", name: "restart", args: { service: "web" } },
          { id: "c3", name: "scale", args: { service: "api" } },
        ],
      },
      LAST,
    ],
    steps: [
      start,
      { do: "press", who: APP1, action: "approve", tool: "scale" },
      { do: "press", who: APP2, action: "decline", tool: "restart" },
    ],
    // So long that its holder renews the lease.
    slow: { at: "tool scale end 1 before", until: "redis renew" },
    ends: "done",
  },
  {
    name: "quorum with an edit",
    turns: wanting("restart"),
    config: { approvals: [{ tool: "restart", do: "ask", quorum: 2, edit: { by: "approvers", votes: true } }] },
    steps: [
      start,
      { do: "fill", who: APP1, action: "edit", given: { service: "api" } },
      { do: "press", who: APP2, action: "approve", stays: true },
      { do: "press", who: APP1, action: "approve" },
    ],
    ends: "done",
  },
  {
    name: "input by modal",
    turns: wanting("choose", {}),
    config: { approvals: [{ tool: "choose", do: "allow" }] },
    steps: [start, { do: "fill", who: REQ, action: "answer", given: { "Your answer": "in eu-west" } }],
    ends: "done",
  },
  {
    name: "input in mid-call",
    turns: wanting("desk_hand_over"),
    desk: true,
    steps: [start, approve, { do: "fill", who: REQ, action: "answer", given: { "Who takes over": "the night shift" } }],
    ends: "done",
  },
  {
    name: "paused",
    turns: [{ text: "First a look.", calls: [{ id: "c0", name: "read" }] }, ...wanting("restart")],
    config: { admins: [APP2] },
    steps: [
      start,
      { do: "type", who: APP2, text: "pause", heard: /^(Paused:|It is paused already)/ },
      { do: "type", who: REQ, text: "list", heard: /waiting for you, 1 run of yours$/ },
      { do: "type", who: APP2, text: "resume", heard: /^(Resumed:|Nothing to resume)/ },
      approve,
    ],
    // Whoever holds the run knows of the pause by then, and does not ask the model.
    slow: { at: "tool read end 1 before", until: "redis showAll", more: 3500 },
    ends: "done",
  },
  {
    name: "deleted",
    turns: wanting("restart"),
    // Long enough for everything to be shown while the card is open: then it is compared with Slack.
    config: { expiresIn: "8s", redis: { keepEnded: "15s" } },
    steps: [start, { do: "wait" }],
    lookEvery: 1000,
    deleted: true,
    ends: "done",
  },
  inDoubt("again"),
  inDoubt("done"),
  inDoubt("failed"),
  inDoubt("wait"),
  {
    name: "long answer",
    turns: [{ text: Array.from({ length: 400 }, (_, n) => `${n + 1}. The web tier was looked at.`).join("\n") }],
    steps: [start],
    ends: "done",
  },
]

export function lifeOf(name: string): Life {
  const found = LIVES.find((life) => life.name === name)
  if (!found) throw new Error(`there is no life “${name}”: ${LIVES.map((life) => life.name).join(", ")}`)
  return found
}
