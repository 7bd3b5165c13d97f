/**
 * Asking a person to sign in: the address that they are shown, which says for whom it is and to what call, sealed; and the tool
 * by which a run asks for it. Whether they did is looked up; what they say of it proves nothing.
 */
import { z } from "zod"
import { defineTool, failure, type Tool, type ToolContext } from "../../agent/tool.ts"
import type { Person } from "../../core/fact.ts"
import { authRequired, type ToolResult } from "../../core/suspension.ts"
import { nameOf } from "../mcp/names.ts"
import type { Signing } from "./provider.ts"
import type { Seal } from "./seal.ts"

/** Who was asked to sign in to what, and by which call. */
export interface AskedFor {
  server: string
  url: string
  person: Pick<Person, "team" | "user">
  run: string
  /** The call, as the run numbers it. */
  call: string
}

/** Where our pages are, below the address that browsers reach us by. */
export const PATH = "/sign-in"

const PLACE = ["link"] as const
/** As it stands where it is sealed. */
export const askedFor = z.object({
  server: z.string(),
  url: z.string(),
  person: z.object({ team: z.string(), user: z.string() }),
  run: z.string(),
  call: z.string(),
})

/** What our links say; undefined for what is none of ours. */
export function readLink(seal: Seal, text: string): AskedFor | undefined {
  return text.length > 2000 ? undefined : askedFor.safeParse(seal.open(PLACE, text)).data
}

export function linkTo(seal: Seal, base: string, { server, url, person, run, call }: AskedFor): string {
  const { team, user } = person
  return `${base}${PATH}/${seal.close(PLACE, { server, url, person: { team, user }, run, call })}`
}

export interface Asking {
  seal: Seal
  /** By which browsers reach us, without a slash at the end. */
  base: string
}

/** Parks a call until whoever it is for has signed in; an error where nobody is known to be asked. */
export function askingFor({ seal, base }: Asking, { name: server, url }: Signing) {
  return ({ requester, run, callId }: ToolContext): ToolResult => {
    if (!requester || run === undefined || callId === undefined) {
      return failure(`somebody has to sign in to ${server} first, and nobody is known who could`)
    }
    const call = callId.slice(run.length + 1)
    const prompt = `Sign in to ${server}, so that it can be used for you. If you have not, it is not used.`
    return authRequired(linkTo(seal, base, { server, url, person: requester, run, call }), prompt)
  }
}

/** What the tool says once the person is signed in, in words for the model. */
export type Welcome = (person: Person) => Promise<string | undefined>

/** `<server>_sign_in`, as far as it is the same for everybody. It changes nothing itself: signing in is the person's own act. */
export const signInDefinition = (server: string) => ({
  name: signInNameOf(server),
  description: `Signs the person you work for in to ${server}. They are shown where; its other tools are there once they have done it. Call it when what is asked for needs ${server}.`,
  inputSchema: { type: "object", properties: {}, additionalProperties: false } as const,
  effects: "repeatable" as const,
  source: `mcp:${server}`,
  summary: () => `Ask for a sign-in to ${server}`,
})

export const signInTool = (signing: Signing, asking: Asking, welcome: Welcome): Tool =>
  defineTool({
    ...signInDefinition(signing.name),
    async run(_args, ctx) {
      const words = ctx.requester && (await welcome(ctx.requester))
      return words ?? askingFor(asking, signing)(ctx)
    },
  })

export const signInNameOf = (server: string): string => nameOf(server, "sign_in")
