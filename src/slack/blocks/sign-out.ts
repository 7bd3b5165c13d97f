/** What came of forgetting what somebody got by signing in to a server, in words for them. */
import { clip, oneLine } from "./text.ts"

/** done: `there`, the server's own side has forgotten it, too · unknown: no such server; `servers` are those that people sign in to. */
export type SignedOut =
  | { kind: "done"; server: string; there: boolean }
  | { kind: "before"; server: string }
  | { kind: "unknown"; servers: readonly string[] }

export function signedOut(outcome: SignedOut): string {
  switch (outcome.kind) {
    case "done":
      return outcome.there
        ? `Signed out of ${serverName(outcome.server)}: what you got by signing in is forgotten here and there.`
        : `Signed out of ${serverName(outcome.server)}: what you got by signing in is forgotten here. Whether it is there, too, is not known; your account's settings there tell.`
    case "before":
      return `You are not signed in to ${serverName(outcome.server)}.`
    case "unknown":
      return outcome.servers.length === 0
        ? "There is no server here that people sign in to."
        : `Which server? People sign in to ${outcome.servers.slice(0, 20).map(serverName).join(", ")}.`
  }
}

const serverName = (server: string): string => clip(oneLine(server), 60)
