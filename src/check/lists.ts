/**
 * The lists of the configuration that name somebody or some place, and what is to be said of their entries when it is known
 * how each stands. It asks nobody.
 */
import type { Known } from "../config.ts"
import type { Part } from "../config/known.ts"
import { type Report, together } from "./report.ts"

export interface List {
  /** Where it stands in the file. */
  name: string
  ids: readonly string[]
  /** Whether these are all of it. */
  whole: boolean
  /** What follows when no entry of it counts, a sentence; undefined: nothing that stops the bot. */
  otherwise?: string
}

export type Finding =
  /** `users`: whom the entry stands for, where that is a question. */
  | { kind: "counts"; users: ReadonlySet<string> }
  /** There is no such thing. `words` complete a sentence that begins with the id, and hold the remedy. */
  | { kind: "absent"; words: string }
  /** It is there and has no effect. That can come about by itself, at any time. */
  | { kind: "idle"; words: string }
  /** It couldn't be looked up, because of `why`. */
  | { kind: "unknown"; why: string }

const list = (name: string, { items, whole }: Part<string>, otherwise?: string): List => ({
  name,
  ids: items,
  whole,
  ...(otherwise === undefined ? {} : { otherwise }),
})

const whole = (items: readonly string[]): Part<string> => ({ items, whole: true })

/** What asks say where, the word of the file, and of each agent, for all of them included. */
const askings = ({ approvals, agents, cards, escalate }: Known) => [
  { where: "", cards, escalate },
  ...approvals.items.map(({ index, rule }) => ({ where: `approvals[${index}].`, ...rule })),
  ...agents.items.flatMap(({ name, agent }) =>
    agent === undefined
      ? []
      : [
          { where: `agents.${name}.`, ...agent },
          ...agent.approvals.map((rule, index) => ({ where: `agents.${name}.approvals[${index}].`, ...rule })),
        ],
  ),
]

/** Those of the agents that say something of this kind. */
const ofAgents = ({ agents }: Known, key: "starters" | "approvers" | "channels", otherwise?: string): List[] =>
  agents.items.flatMap(({ name, agent }) => {
    const ids = agent?.[key]
    return ids === undefined ? [] : [list(`agents.${name}.${key}`, whole(ids), otherwise)]
  })

/** The rules of the agents that name approvers of their own. */
const agentsRules = ({ agents }: Known): List[] =>
  agents.items.flatMap(({ name, agent }) =>
    (agent?.approvals ?? []).flatMap(({ tool, approvers }, index) =>
      approvers === undefined
        ? []
        : [list(`agents.${name}.approvals[${index}].approvers`, whole(approvers), `Nobody may approve ${tool} then.`)],
    ),
  )

/** Doors that are for some of the starters alone. */
const doorsLists = ({ doors }: Known): List[] =>
  Object.entries(doors ?? {}).flatMap(([name, door]) =>
    typeof door === "object" && door.starters !== undefined
      ? [list(`doors.${name}.starters`, whole(door.starters), "Nobody may come by that door then.")]
      : [],
  )

/** Who may start, decide and cancel. */
export function listsOf(known: Known): List[] {
  const { starters, approvers, admins, approvals } = known
  return [
    list("starters", starters, "Nobody may start a run then."),
    list("approvers", approvers, "Nobody may approve then."),
    list("admins", admins),
    ...approvals.items.flatMap(({ index, tool, approvers: own }) => {
      if (own === undefined) return []
      return [list(`approvals[${index}].approvers`, own, tool && `Nobody may approve ${tool} then.`)]
    }),
    ...doorsLists(known),
    ...ofAgents(known, "starters", "Nobody may use that agent then."),
    ...ofAgents(known, "approvers", "Nobody may approve what that agent asks then."),
    ...agentsRules(known),
    ...askings(known).flatMap(({ where, escalate }) =>
      escalate ? [list(`${where}escalate.to`, whole(escalate.to), "Nobody would be brought in then.")] : [],
    ),
  ]
}

/** Where a run may be started, where cards stand besides, and where the audit goes. */
export function placesOf(known: Known): List[] {
  const { channels, audit, doors } = known
  const ofAudit = typeof audit === "object" && audit.channel !== undefined ? [audit.channel] : []
  return [
    list("channels", channels, "A run can be started nowhere then."),
    ...ofAgents(known, "channels", "That agent can be used nowhere then."),
    ...askings(known).flatMap(({ where, cards, escalate }) => [
      list(`${where}cards.channel`, whole(cards === undefined ? [] : [cards])),
      list(`${where}escalate.channel`, whole(escalate?.channel === undefined ? [] : [escalate.channel])),
    ]),
    list("doors.message.cards", whole(doors?.message ? [doors.message.cards] : [])),
    list("audit.channel", whole(ofAudit), "The audit can't be written then."),
  ]
}

/**
 * An id that doesn't exist is a fault: it was mistyped. One that is there without effect is a warning, because it may have
 * come about by itself and must not keep a bot from starting that is of use to others; a fault when it leaves its list without effect.
 */
export function judge(lists: readonly List[], findings: ReadonlyMap<string, Finding>): Report {
  const dead = lists.filter(
    ({ ids, whole }) =>
      whole && ids.length > 0 && ids.every((id) => ["absent", "idle"].includes(findings.get(id)?.kind ?? "unknown")),
  )
  const report = together()
  const unknown = new Map<string, string[]>()
  for (const [id, finding] of findings) {
    const inLists = lists.filter(({ ids }) => ids.includes(id))
    if (inLists.length === 0 || finding.kind === "counts") continue
    if (finding.kind === "unknown") {
      unknown.set(finding.why, [...(unknown.get(finding.why) ?? []), id])
      continue
    }
    const follows = inLists.flatMap((list) => (dead.includes(list) && list.otherwise ? [list.otherwise] : []))
    const where = inLists.map(({ name }) => name).join(", ")
    const words = [`${where}: ${id} ${finding.words}.`, ...follows].join(" ")
    if (finding.kind === "absent" || follows.length > 0) report.faults.push(words)
    else report.warnings.push(words)
  }
  for (const [why, ids] of unknown) report.warnings.push(`${ids.join(", ")} couldn't be checked: ${why}.`)
  return report
}
