/** The tray of notifications: who would have been pinged, when, why and with which text. */
import { button, el, fill, type Kept } from "../dom.ts"
import { clock, dayName } from "../text/dates.ts"
import { drawSpans, type Names } from "../text/draw.ts"
import { readMrkdwn } from "../text/mrkdwn.ts"
import type { Notification, State } from "../wire.ts"
import { isBot, placeName } from "../scene.ts"
import { avatar } from "./avatar.ts"

const reasons: Record<Exclude<Notification["why"], "dm">, string> = {
  mention: "is mentioned",
  group: "is in a mentioned group",
  here: "is here",
  channel: "is in the channel",
  everyone: "is in the workspace",
  thread: "follows the thread",
}

/** Why somebody was pinged, and where. */
function because({ why, place }: Notification): string {
  if (why === "dm") return `has a direct message from ${place.name}`
  return `${reasons[why]} in ${place.kind === "dm" ? `a direct message from ${place.name}` : placeName(place)}`
}

/** A notification as one line: it has no formatting, only words. */
const line = (text: string, names: Names): (Node | string)[] =>
  readMrkdwn(text, { links: false, mentions: false }).flatMap((passage) =>
    "spans" in passage
      ? drawSpans(
          passage.spans.map((span) => ({ ...span, style: {} })),
          names,
        )
      : [],
  )

export interface Tray {
  names: Names
  /** Goes to the message as the person who was pinged. */
  open: (notification: Notification) => void
}

function row(state: State, notification: Notification, tray: Tray): Kept {
  const name = state.people.find(({ id }) => id === notification.user)?.name ?? notification.user
  const { seen, gone } = notification
  const at = new Date(notification.at)
  return {
    key: String(notification.id),
    version: JSON.stringify([notification, name]),
    build: () =>
      el(
        "li",
        { class: gone ? "notice deleted" : seen ? "notice" : "notice fresh" },
        button(
          [
            avatar(notification.user, name, false),
            el(
              "span",
              { class: "what" },
              el("span", { class: "who" }, el("strong", {}, name), ` ${because(notification)}`),
              el("span", { class: "words", dir: "auto" }, ...line(notification.text, tray.names)),
              el(
                "time",
                { datetime: at.toISOString() },
                `${dayName(at, new Date())}, ${clock(at)}`,
                gone && " · deleted since",
              ),
            ),
          ],
          { "data-control": String(notification.id), title: `Open it as ${name}` },
          () => tray.open(notification),
        ),
      ),
  }
}

export function makeTray() {
  const list = el("ul", { "aria-label": "Notifications" })
  const empty = el("p", { class: "empty" }, "Nobody was notified yet.")
  const only = el("select", { class: "input", "aria-label": "Whose notifications" })
  const node = el("div", { class: "tray" }, only, empty, list)
  let again: (() => void) | undefined
  only.addEventListener("change", () => again?.())

  function show(state: State, tray: Tray): void {
    again = () => show(state, tray)
    const people = [{ id: "", name: "Everybody" }, ...state.people.filter((person) => !isBot(person))]
    fill(
      only,
      people.map(({ id, name }) => ({ key: id, version: name, build: () => el("option", { value: id }, name) })),
    )
    const shown = state.notifications.filter(({ user }) => only.value === "" || user === only.value)
    empty.hidden = shown.length > 0
    fill(
      list,
      shown
        .toReversed()
        .slice(0, 200)
        .map((notification) => row(state, notification, tray)),
    )
  }
  return { node, show }
}
