/**
 * What concerns one person: runs that wait for them, and their own. For the `list` command and the app's home. Knows what
 * waits for somebody by asking the policy about each run.
 */
import type { Person } from "../core/fact.ts"
import { isRecord } from "../core/json.ts"
import { mayDecide, type Who } from "../core/policy.ts"
import { openAsks, type Run } from "../core/run.ts"
import type { Message } from "./blocks/limits.ts"
import { list } from "./blocks/messages.ts"
import { rich, section } from "./blocks/rich.ts"
import { note, words } from "./blocks/words.ts"
import type { Front } from "./front.ts"
import { failed } from "./replies.ts"

/** Runs that are read for one list. */
const MANY = 30

export async function listFor(front: Front, person: Person): Promise<Message> {
  const { store, people, lists } = front
  const who = await people.who(person, lists.deciders)
  const groups = Object.entries(who.member)
  const inside = groups.flatMap(([group, member]) => (member === "yes" ? [group] : []))
  const { team, user } = who.person
  const [waiting, mine] = await Promise.all([
    store.list(
      [user, ...inside].map((principal) => `waits:${principal}`),
      MANY,
    ),
    store.list([`requester:${team}:${user}`], MANY),
  ])
  // Their own run may wait for nobody but them; it is in no approver's list.
  const found = new Map([...waiting, ...mine].map((loaded) => [loaded.run.id, loaded]))
  const message = list({ waiting: [...found.values()].filter(({ run, now }) => waitsFor(who, run, now)), mine })
  const unsure = who.standing === "unknown" || groups.some(([, member]) => member === "unknown")
  return unsure ? { ...message, blocks: [...message.blocks, rich(section(UNSURE))] } : message
}

const UNSURE = "I can't look up your groups now, so something that waits for you may be missing here."

const waitsFor = (who: Who, run: Run, now: number): boolean =>
  openAsks(run).some((ask) => ask.expiresAt > now && mayDecide(ask.rule, run.requester, who, true).ok)

/** Shows somebody their list in the app's home. */
export async function onHome(front: Front, body: object): Promise<void> {
  const event = "event" in body && isRecord(body.event) ? body.event : {}
  const user = event["user"]
  if (event["type"] !== "app_home_opened" || event["tab"] !== "home" || typeof user !== "string") return
  const team = "team_id" in body && typeof body.team_id === "string" ? body.team_id : front.home.team
  const message = await listFor(front, { team, user }).catch((error: unknown) => {
    front.log.error({ err: error }, "a home could not be read")
    return note(words(failed(error)))
  })
  await front.client.views.publish({ user_id: user, view: { type: "home", blocks: message.blocks } })
}
