/** What a server needs that is called for one person alone. Knows no way in which anybody signs in. */
import type { ToolContext } from "../../agent/tool.ts"
import type { ToolResult } from "../../core/suspension.ts"

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface Access {
  /** The same way there, with whom each request is for. */
  by(send: Fetch): Fetch
  /** Whether the person is known not to be signed in any more. */
  isOver(): Promise<boolean>
  /** What becomes of a call that the server did not execute because it does not know (any more) whom it is for. */
  refused(ctx: ToolContext): Promise<ToolResult>
  /** Takes out of a text what the person got by signing in. */
  clean(text: string): string
}

/** A request that never left. */
export class NotSent extends Error {
  override name = "NotSent"
  readonly code = "ENOTSENT"
}
