/**
 * What one local Slack is made of, as the methods see it. A record, nothing more.
 */
import type { Handles } from "./handles.ts"
import type { Workspace } from "./workspace.ts"

export interface Site {
  workspace: Workspace
  handles: Handles
  /** What the app was granted; alterable while running. */
  scopes: Set<string>
  tokens: { bot: string; app: string; signing: string }
  /** Where this Slack listens, with a slash at the end. */
  url: string
  /** A fresh address for one Socket Mode connection. */
  socketUrl: () => string
}
