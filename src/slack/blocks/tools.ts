/**
 * Which tools there are, where they come from and whether their calls are asked about, in words for one person. Names are
 * servers': they stay text.
 */
import { guarded, type Message } from "./limits.ts"
import { bold, code, header, rich, section, words, type Rich } from "./rich.ts"
import { clip, cost, count, escape, oneLine, toolName, visible } from "./text.ts"

/** How calls of a tool fall under the file's rules. */
export type Falls = "allow" | "ask" | "deny" | "depends"

/** Where tools come from: the configuration's own, or a server. */
export interface ShownSource {
  name: string
  /** Absent: it can't be away. */
  state?: { kind: "ready" | "connecting" | "disabled" | "stopped" | "signed out" } | { kind: "away"; why: string }
  tools: readonly { name: string; falls: Falls; since?: "appeared" | "changed" | undefined }[]
  /** What of it can't be used, and why. */
  notes: readonly string[]
  /** The person who asks has signed in to it, and these are what it has for them. */
  own?: boolean
}

const FALLS: Record<Falls, string> = {
  allow: "runs unasked",
  ask: "is asked about",
  deny: "is refused",
  depends: "depends on its arguments",
}

/** What the tools of one message may cost, and how much is told of one source. */
const ROOM = 8000
const NOTES = 3

/** `agent`: whose they are, when it is not the file's own. */
export function toolsList(sources: readonly ShownSource[], agent?: string): Message {
  const total = sources.reduce((sum, { tools }) => sum + tools.length, 0)
  const text = escape(countOf(total, agent))
  const entries: Rich[] = []
  let left = ROOM
  let shown = 0
  for (const source of sources) {
    const lines = [headOf(source), ...source.tools.map(toolLine), ...notesOf(source)]
    for (const [index, line] of lines.entries()) {
      left -= cost(JSON.stringify(line))
      if (left < 0 && index > 0) continue
      entries.push(line)
      if (index > 0 && index <= source.tools.length) shown += 1
    }
  }
  const rest = total - shown
  const more = rest > 0 ? [section(words(`and ${count(rest, "more tool")}: the command line's “tools” lists all`))] : []
  const how = section("\nBefore anything that is asked about, a card shows what the call would do.")
  const head = [header(agent === undefined ? "Tools" : `Tools of the agent ${agent}`)]
  return guarded({ text, blocks: [...head, rich(...entries, ...more, how)] }, () => ({
    text,
    blocks: [...head, rich(section(`${text}. The list is too long for one message.`))],
  }))
}

function countOf(total: number, agent: string | undefined): string {
  const there = agent === undefined ? "There are" : `The agent ${agent} has`
  return `${there} ${total === 0 ? "no tools" : count(total, "tool")}`
}

function headOf({ name, state, tools, own }: ShownSource): Rich {
  const many = count(tools.length, "tool")
  const label = bold(clip(oneLine(visible(name)), 60))
  switch (state?.kind) {
    case undefined:
      return section(label, `: ${many}\n`)
    case "ready":
      return section(label, `: ${own ? "you are signed in" : "connected"}, ${many}\n`)
    case "signed out":
      return section(label, ": sign in first. Ask for something of it, and you are shown where\n")
    case "connecting":
      return section(label, `: being connected to; ${many} of it are known\n`)
    case "away":
      return section(
        label,
        ": away (",
        clip(oneLine(visible(state.why)), 200),
        `); ${many} of it can't be called now\n`,
      )
    case "disabled":
      return section(label, ": switched off in the configuration\n")
    case "stopped":
      return section(label, ": ended, since the bot is stopping\n")
  }
}

function toolLine({ name, falls, since }: ShownSource["tools"][number]): Rich {
  const late = since === undefined ? "" : `; it ${since} after the start`
  return section("• ", code(toolName(name)), ` ${FALLS[falls]}${late}\n`)
}

function notesOf({ notes }: ShownSource): Rich[] {
  const rest = notes.length - NOTES
  const told = notes
    .slice(0, NOTES)
    .map((note) => section(words(`${clip(oneLine(visible(note)), 300)}\n`, { italic: true })))
  return rest > 0 ? [...told, section(words(`and ${rest} more like it\n`, { italic: true }))] : told
}
