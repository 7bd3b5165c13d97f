/**
 * A sign-in from where somebody goes on to the provider until they come back: what is needed then stands sealed in Redis for ten
 * minutes, is good once, and for the browser that began it alone. Knows no page.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { z } from "zod"
import { canonicalOwn, sha256 } from "../../core/digest.ts"
import type { Drawer } from "../../store/drawer.ts"
import { askedFor, type AskedFor } from "./asks.ts"
import type { Pass, Passes } from "./passes.ts"
import {
  authorization,
  discover,
  exchanged,
  isSame,
  register,
  standingSchema,
  type Client,
  type Found,
  type Signing,
} from "./provider.ts"
import type { Place, Seal } from "./seal.ts"
import { SignInFault } from "./way.ts"

export interface BegunOptions {
  drawer: Drawer
  seal: Seal
  passes: Passes
  /** Where the provider sends people back to. */
  redirect: string
}

/** How long a sign-in may take, ms. */
export const WITHIN = 600_000
/** A client that registered itself is kept as long as it is used within, ms. */
const CLIENT_KEPT = 365 * 86_400_000
/** Of a secret that ends soon another one is fetched before, ms. */
const EARLY = 3_600_000

const begun = z.object({
  asked: askedFor,
  ...standingSchema.shape,
  verifier: z.string(),
  /** sha-256 of what the browser keeps. */
  browser: z.string(),
})
export type Begun = z.output<typeof begun>

/** What a browser came back with. */
export interface CameBack {
  state: string
  code: string
  /** Who says to have sent it (RFC 9207). */
  iss: string | undefined
  /** What the browser kept. */
  kept: string | undefined
}

/** late: there is none (any more) · browser: another one began it. */
export type Look = { kind: "begun"; begun: Begun } | { kind: "late" | "browser" }
/** `why` ends a sentence. */
export type Finish =
  | { kind: "done"; begun: Begun; pass: Pass }
  | { kind: "late" | "browser" }
  | { kind: "failed"; begun: Begun; why: string }

const random = (): string => randomBytes(32).toString("base64url")
const digest = (value: string): Buffer => createHash("sha256").update(value).digest()
const placeOf = (state: string): Place => ["begun", sha256(state)]
const nameOf = (state: string): string => `begun:${sha256(state)}`

export class Beginnings {
  readonly #options: BegunOptions

  constructor(options: BegunOptions) {
    this.#options = options
  }

  /** Where the person goes on, and what their browser must keep meanwhile. @throws SignInFault */
  async begin(signing: Signing, asked: AskedFor): Promise<{ to: URL; state: string; kept: string }> {
    const { drawer, seal, redirect } = this.#options
    const found = await discover(signing)
    const client = await this.#clientFor(found, signing)
    const [state, kept] = [random(), random()]
    const { to, verifier } = await authorization(found, client, { redirect, state })
    const browser = digest(kept).toString("base64url")
    const value: Begun = { asked, provider: found.provider, client, verifier, browser }
    await drawer.put(nameOf(state), seal.close(placeOf(state), value), WITHIN)
    return { to, state, kept }
  }

  /** What was begun, for whoever comes back; it stays as it is. */
  async look(state: string, kept: string | undefined): Promise<Look> {
    const sealed = await this.#options.drawer.read(nameOf(state))
    const read = begun.safeParse(sealed === undefined ? undefined : this.#options.seal.open(placeOf(state), sealed))
    if (!read.success) return { kind: "late" }
    return isKept(read.data, kept) ? { kind: "begun", begun: read.data } : { kind: "browser" }
  }

  /** Makes a pass of what somebody came back with, once. */
  async finish(signing: Signing, { state, code, iss, kept }: CameBack): Promise<Finish> {
    const { drawer, passes, redirect } = this.#options
    const seen = await this.look(state, kept)
    if (seen.kind !== "begun") return seen
    // Of two who bring the same one only one goes on.
    if ((await drawer.take(nameOf(state))) === undefined) return { kind: "late" }
    const { asked, provider, client, verifier } = seen.begun
    const wrong = wrongSender(seen.begun, iss)
    if (wrong !== undefined) return { kind: "failed", begun: seen.begun, why: wrong }
    try {
      const given = await exchanged({ provider, client }, signing, { code, verifier, redirect })
      const pass: Pass = { id: random(), provider, client, ...given }
      await passes.keep(asked, pass)
      return { kind: "done", begun: seen.begun, pass }
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error
      // It does not know us any more: next time we make ourselves known anew.
      if (error.refused === "client") await drawer.take(clientNameOf(signing, provider.issuer, redirect))
      return { kind: "failed", begun: seen.begun, why: error.message }
    }
  }

  /** As whom we come there: as the file says, as we registered before, or as we register now. */
  async #clientFor(found: Found, signing: Signing): Promise<Client> {
    const { drawer, seal, redirect } = this.#options
    const own = ownClient(signing)
    if (own) return own
    const { issuer } = found.provider
    const [name, place] = [clientNameOf(signing, issuer, redirect), clientPlaceOf(signing, issuer, redirect)]
    const sealed = await drawer.read(name, CLIENT_KEPT)
    const known = standingSchema.shape.client.safeParse(sealed === undefined ? undefined : seal.open(place, sealed))
    if (known.success && (known.data.until ?? Infinity) > Date.now() + EARLY) return known.data
    const made = await register(found, signing, redirect)
    await drawer.put(name, seal.close(place, made), CLIENT_KEPT)
    return made
  }
}

/** As whom the configuration says that we come. */
export function ownClient({ oauth: { clientId: id, clientSecret: secret } }: Signing): Client | undefined {
  return id === undefined ? undefined : { id, secret }
}

const clientPlaceOf = ({ name, url }: Signing, issuer: string, redirect: string): Place => ["client", name, url, issuer, redirect] // prettier-ignore
const clientNameOf = (signing: Signing, issuer: string, redirect: string): string =>
  `client:${sha256(canonicalOwn([...clientPlaceOf(signing, issuer, redirect)]))}`

function isKept({ browser }: Begun, kept: string | undefined): boolean {
  const expected = Buffer.from(browser, "base64url")
  return kept !== undefined && expected.length === 32 && timingSafeEqual(digest(kept), expected)
}

/** A code that somebody else sent must not be taken to this one. */
function wrongSender({ provider }: Begun, iss: string | undefined): string | undefined {
  if (iss === undefined ? !provider.namesItself : isSame(iss, provider.issuer)) return undefined
  return "whoever sent you back is not who you were sent to"
}
