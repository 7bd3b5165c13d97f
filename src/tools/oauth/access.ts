/**
 * The way to a server for one person: each request goes with their pass as it is at that moment, and one that the server does not
 * take is renewed once. Nobody's request goes with anybody else's. Knows no tool.
 */
import type { ToolContext } from "../../agent/tool.ts"
import type { ToolResult } from "../../core/suspension.ts"
import { withoutOurs } from "../echo.ts"
import { NotSent, type Access, type Fetch } from "../mcp/access.ts"
import type { Pass, Passes, Whose } from "./passes.ts"
import { refreshed, type Client, type Signing } from "./provider.ts"

export interface PersonalOptions {
  signing: Signing
  whose: Whose
  /** Of the sign-in that this is for: another one has a connection of its own. */
  id: string
  passes: Passes
  /** As whom we come there, where the configuration says it. */
  client: Client | undefined
  /** Parks the call until the person has signed in anew. */
  ask: (ctx: ToolContext) => ToolResult
}

/** So many of the latest tokens are looked for in what a server says. */
const REMEMBERED = 6

export class PersonalAccess implements Access {
  readonly #options: PersonalOptions
  readonly #tokens = new Set<string>()
  #clean: (text: string) => string = (text) => text
  #why: string | undefined

  constructor(options: PersonalOptions) {
    this.#options = options
  }

  by(send: Fetch): Fetch {
    const { origin } = new URL(this.#options.signing.url)
    return async (url, init) => {
      // It is for this server alone, wherever that leads.
      if (new URL(url).origin !== origin) throw new NotSent("it leads elsewhere, where nobody has signed in")
      const pass = await this.#pass()
      if (!pass) return unknown()
      const answer = await send(url, withPass(init, pass))
      if (answer.status !== 401) return answer
      if (!(await this.#renewed(pass))) return answer
      const next = await this.#pass()
      if (!next) return answer
      await answer.body?.cancel()
      const again = await send(url, withPass(init, next))
      // It takes not even a new one, so there is nothing left to renew.
      if (again.status === 401) await this.#options.passes.drop(this.#options.whose, next)
      return again
    }
  }

  async isOver(): Promise<boolean> {
    const pass = await this.#pass().catch(() => "not known")
    return pass === undefined
  }

  async refused(ctx: ToolContext): Promise<ToolResult> {
    const { signing, ask } = this.#options
    if (await this.isOver()) return ask(ctx)
    const why = this.#why === undefined ? "" : `: ${this.#why}`
    const output = `the MCP server ${signing.name} wants to know anew whom the call is for, and the sign-in can't be renewed just now${why}. The call was not executed. It may work in a while.`
    return { output, isError: true }
  }

  clean(text: string): string {
    return this.#clean(text)
  }

  /** @throws NotSent when it isn't known. */
  async #pass(): Promise<Pass | undefined> {
    const { passes, whose, id } = this.#options
    const pass = await passes.read(whose).catch(() => {
      throw new NotSent("Redis does not answer, where it stands who has signed in")
    })
    if (pass?.id !== id) return undefined
    this.#remember(pass)
    return pass
  }

  async #renewed(used: Pass): Promise<boolean> {
    const { passes, whose, signing, client } = this.#options
    const how = await passes.renew(whose, used, async ({ refresh = "", ...pass }) =>
      refreshed(client ? { ...pass, client } : pass, signing, refresh),
    )
    this.#why = how.kind === "failed" ? how.why : undefined
    return how.kind === "renewed"
  }

  #remember({ access, refresh = "" }: Pass): void {
    if (this.#tokens.has(access)) return
    for (const token of [access, refresh]) this.#tokens.add(token)
    for (const token of [...this.#tokens].slice(0, -REMEMBERED)) this.#tokens.delete(token)
    this.#clean = withoutOurs([...this.#tokens])
  }
}

/** As a server would say it: nobody is signed in. */
const unknown = (): Response => new Response(null, { status: 401 })

function withPass(init: RequestInit | undefined, { access }: Pass): RequestInit {
  const headers = new Headers(init?.headers)
  headers.set("authorization", `Bearer ${access}`)
  return { ...init, headers }
}
