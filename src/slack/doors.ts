/**
 * Which doors are open, and whether somebody may come by one: as whoever may start runs in that place, and by the door's own list,
 * if it has one. Looks people up as every other door does.
 */
import type { Person } from "../core/fact.ts"
import { listed, mayStart, type Right, type Who } from "../core/policy.ts"
import { mayUse, principalsFor } from "./agents.ts"
import { rightOf, type Front } from "./front.ts"

/** What the configuration says of each. */
export interface Doors {
  command: Door
  mention: Door
  reply: Door
  /** Direct messages: what is asked in them stands in the channel `cards`, where those who decide see it. */
  message: false | { cards: string; starters?: readonly string[] | undefined; prompts: readonly string[] }
}

export type Door = boolean | { starters?: readonly string[] | undefined }

export type DoorName = keyof Doors

export const isOpen = (doors: Doors, name: DoorName): boolean => doors[name] !== false

/** The lists that hold where they are: a direct message is in no channel that could be listed, its door says that runs may be there. */
export const placesBy = ({ lists }: Pick<Front, "lists">, door: DoorName, channel: string): Front["lists"] =>
  door === "message" ? { ...lists, channels: [channel] } : lists

/** The lists that hold in a place, by whichever door people speak to the agent there. */
export const placesIn = (front: Pick<Front, "lists" | "doors">, channel: string): Front["lists"] =>
  placesBy(front, channel.startsWith("D") && isOpen(front.doors, "message") ? "message" : "command", channel)

/** Whether the person may come by an open door, in the place where they are; to a run of an agent, if they may use that. */
export function mayEnter(
  front: Pick<Front, "people" | "lists" | "doors" | "agents">,
  name: DoorName,
  person: Person,
  channel: string,
  named?: string,
): Promise<{ who: Who; right: Right }> {
  const door = front.doors[name]
  const own = typeof door === "object" ? (door.starters ?? []) : []
  const places = placesBy(front, name, channel)
  const agents = front.agents.filter((one) => one.name === named)
  return rightOf(front.people, person, [...principalsFor(places, agents), ...own], (who) => {
    const rights = [mayStart(places, who, channel), ...agents.map((agent) => mayUse(places, agent, who, channel))]
    if (own.length > 0) rights.push(listed(own, who))
    return rights.find(({ ok }) => !ok) ?? { ok: true }
  })
}
