/**
 * The app's home of one person: what waits for them, and their own runs.
 */
import { isRecord } from "../core/json.ts"
import { note, words } from "./blocks/words.ts"
import type { Front } from "./front.ts"
import { failed } from "./replies.ts"
import { listFor } from "./show-run.ts"

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
