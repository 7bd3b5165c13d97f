/**
 * Whoever lets people sign in to an MCP server, as the server and its own metadata name them: found, judged, and asked for what
 * OAuth has, by the SDK's functions. What they say is a stranger's: addresses are judged before anything goes there, and their
 * words reach nobody. Knows no person and keeps nothing.
 */
import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  refreshAuthorization,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
} from "@modelcontextprotocol/sdk/client/auth.js"
import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import { checkResourceAllowed, resourceUrlFromServerUrl } from "@modelcontextprotocol/sdk/shared/auth-utils.js"
import { z } from "zod"
import type { OAuth } from "../../config/oauth.ts"
import { isPrivate } from "../../config/references.ts"
import { judged, SignInFault, wayTo, type Fetch } from "./way.ts"

/** An MCP server that people sign in to. */
export interface Signing {
  /** As the configuration calls it. */
  name: string
  url: string
  oauth: OAuth
}

/** What must be known of it later: the same that somebody signed in at, whatever the server names by then. */
export interface Provider {
  /** Its name for itself (RFC 8414), an address. */
  issuer: string
  tokenEndpoint: string
  revocationEndpoint?: string | undefined
  /** How clients may prove who they are; absent: as is usual. */
  methods?: string[] | undefined
  /** What its tokens are for (RFC 8707). */
  resource?: string | undefined
  /** Whether it names itself when it sends somebody back (RFC 9207). */
  namesItself: boolean
}

/** Who we are to it. */
export interface Client {
  id: string
  secret?: string | undefined
  method?: string | undefined
  /** When its secret ends, ms. */
  until?: number | undefined
}

/** As it is now. */
export interface Found {
  provider: Provider
  metadata: AuthorizationServerMetadata
  scope: string | undefined
}

export interface Given {
  access: string
  refresh?: string | undefined
}

/** What stands in a header, and is no larger than servers take. */
const TOKEN = /^[\x21-\x7e]{1,12000}$/

/**
 * Who lets people sign in to it. Refuses whoever can't be told from somebody else: without metadata of its own, under another
 * name than the one it is found by, without PKCE, or at addresses that others could read along.
 * @throws SignInFault
 */
export async function discover({ url, oauth }: Signing): Promise<Found> {
  const { host } = new URL(url)
  return judged(host, async () => {
    const fetchFn = await wayTo(url)
    const asked = await challengeOf(url, fetchFn)
    const info = await discoverOAuthServerInfo(url, {
      fetchFn,
      ...(asked.resourceMetadataUrl ? { resourceMetadataUrl: asked.resourceMetadataUrl } : {}),
    })
    const { authorizationServerMetadata: metadata, authorizationServerUrl: at, resourceMetadata } = info
    if (!metadata) throw new SignInFault(`${new URL(at).host} has no OAuth metadata, so nobody can sign in there`)
    const resource = resourceMetadata?.resource
    if (resource !== undefined && !isFor(url, resource)) {
      throw new SignInFault(`${host} says that its sign-in is for another address than its own`)
    }
    return {
      provider: providerOf(metadata, { at, url, resource }),
      metadata,
      scope: scopeOf(oauth, asked.scope, resourceMetadata?.scopes_supported),
    }
  })
}

/** As the file says, else as the server does. */
const scopeOf = ({ scopes }: OAuth, asked: string | undefined, supported?: string[]): string | undefined =>
  (scopes?.join(" ") ?? asked ?? supported?.join(" "))?.slice(0, 2000)

/** What the server itself says to whoever comes without a sign-in. */
async function challengeOf(url: string, send: Fetch): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
  const answer = await send(url, { method: "POST", headers, body }).catch(() => undefined)
  return answer?.status === 401 ? extractWWWAuthenticateParams(answer) : {}
}

const isFor = (url: string, resource: string): boolean =>
  checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(url), configuredResource: resource })

interface Known {
  /** Where its metadata were found. */
  at: string | URL
  /** Of the MCP server. */
  url: string
  resource: string | undefined
}

function providerOf(metadata: AuthorizationServerMetadata, { at, url, resource }: Known): Provider {
  const { host } = new URL(at)
  // Whoever says to be another one could have people's codes sent to itself.
  if (!isSame(metadata.issuer, String(at))) throw new SignInFault(`${host} calls itself by another name`)
  if (!metadata.code_challenge_methods_supported?.includes("S256")) {
    throw new SignInFault(`${host} does not say that it takes PKCE (S256), without which a sign-in can be stolen`)
  }
  if (!metadata.response_types_supported.includes("code")) throw new SignInFault(`${host} gives no codes`)
  const { token_endpoint: tokenEndpoint, authorization_endpoint, registration_endpoint } = metadata
  const revocation: unknown = "revocation_endpoint" in metadata ? metadata["revocation_endpoint"] : undefined
  const revocationEndpoint = typeof revocation === "string" ? revocation : undefined
  const places = [authorization_endpoint, tokenEndpoint, registration_endpoint, revocationEndpoint]
  if (places.some((place) => place !== undefined && !isSafe(place, url))) {
    throw new SignInFault(`${host} names addresses that are not https, where others could read along`)
  }
  return {
    issuer: metadata.issuer,
    tokenEndpoint,
    revocationEndpoint,
    methods: metadata.token_endpoint_auth_methods_supported,
    resource,
    namesItself:
      "authorization_response_iss_parameter_supported" in metadata &&
      metadata["authorization_response_iss_parameter_supported"] === true,
  }
}

/** http is for this machine, and for a server on it. */
const isSafe = (place: string, url: string): boolean =>
  isPrivate(place) && (new URL(place).protocol === "https:" || new URL(url).protocol === "http:")

/** Whether two addresses are one, a slash at the end aside. */
export function isSame(a: string, b: string): boolean {
  const plain = (text: string): string => (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, "")
  return plain(a) === plain(b)
}

/** Makes us known there. @throws SignInFault */
export async function register(
  { provider, metadata, scope }: Found,
  signing: Signing,
  redirect: string,
): Promise<Client> {
  const { host } = new URL(provider.issuer)
  if (metadata.registration_endpoint === undefined) {
    throw new SignInFault(
      `${host} registers nobody by itself: whoever runs Countersign puts a clientId of it into the file`,
    )
  }
  return judged(host, async () => {
    const method = methodFor(provider.methods)
    const told = await registerClient(provider.issuer, {
      metadata,
      clientMetadata: {
        client_name: "Countersign",
        redirect_uris: [redirect],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method,
      },
      ...(scope === undefined ? {} : { scope }),
      fetchFn: await wayTo(signing.url),
    })
    const { client_id: id, client_secret: secret, client_secret_expires_at: ends = 0 } = told
    const until = ends > 0 ? ends * 1000 : undefined
    return { id, secret, method: told.token_endpoint_auth_method ?? method, until }
  })
}

function methodFor(methods: readonly string[] | undefined): string {
  if (methods === undefined) return "client_secret_basic"
  return ["none", "client_secret_basic", "client_secret_post"].find((one) => methods.includes(one)) ?? "none"
}

/** Where the person goes on, and the secret half of what goes along (PKCE). @throws SignInFault */
export async function authorization(
  { provider, metadata, scope }: Found,
  client: Client,
  { redirect, state }: { redirect: string; state: string },
): Promise<{ to: URL; verifier: string }> {
  return judged(new URL(provider.issuer).host, async () => {
    const { resource } = provider
    const { authorizationUrl: to, codeVerifier: verifier } = await startAuthorization(provider.issuer, {
      metadata,
      clientInformation: informationOf(client),
      redirectUrl: redirect,
      state,
      ...(scope === undefined ? {} : { scope }),
      // As it was written: some compare it letter by letter. The type wants an address, its code takes both.
      ...(resource === undefined ? {} : { resource: resource }),
    })
    return { to, verifier }
  })
}

const informationOf = ({ id, secret, method }: Client) => ({
  client_id: id,
  ...(secret === undefined ? {} : { client_secret: secret }),
  ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
})

/** As much of its metadata as the SDK needs afterwards. */
const metadataOf = ({ issuer, tokenEndpoint, methods }: Provider): AuthorizationServerMetadata => ({
  issuer,
  token_endpoint: tokenEndpoint,
  authorization_endpoint: issuer,
  response_types_supported: ["code"],
  ...(methods === undefined ? {} : { token_endpoint_auth_methods_supported: methods }),
})

const usual = async ({ provider, client }: Standing, url: string) => ({
  metadata: metadataOf(provider),
  clientInformation: informationOf(client),
  ...(provider.resource === undefined ? {} : { resource: provider.resource as unknown as URL }),
  fetchFn: await wayTo(url),
})

const text = z.string()

/** A `Standing` as it is where it is sealed. */
export const standingSchema = z.object({
  provider: z.object({
    issuer: text,
    tokenEndpoint: text,
    revocationEndpoint: text.optional(),
    methods: z.array(text).optional(),
    resource: text.optional(),
    namesItself: z.boolean(),
  }),
  client: z.object({ id: text, secret: text.optional(), method: text.optional(), until: z.number().optional() }),
})

/** Where somebody signs in or has signed in, and as whom we came there. */
export interface Standing {
  provider: Provider
  client: Client
}

/** What the code that somebody came back with is worth. @throws SignInFault */
export function exchanged(
  standing: Standing,
  { url }: Signing,
  { code, verifier, redirect }: { code: string; verifier: string; redirect: string },
): Promise<Given> {
  const { issuer } = standing.provider
  return judged(new URL(issuer).host, async () => {
    const more = { authorizationCode: code, codeVerifier: verifier, redirectUri: redirect }
    return givenIn(await exchangeAuthorization(issuer, { ...(await usual(standing, url)), ...more }))
  })
}

/** A new one for one that has run out. @throws SignInFault */
export function refreshed(standing: Standing, { url }: Signing, refreshToken: string): Promise<Given> {
  const { issuer } = standing.provider
  return judged(new URL(issuer).host, async () =>
    givenIn(await refreshAuthorization(issuer, { ...(await usual(standing, url)), refreshToken })),
  )
}

function givenIn({ access_token: access, refresh_token: refresh, token_type: type }: OAuthTokens): Given {
  const isToken = TOKEN.test(access) && (refresh === undefined || TOKEN.test(refresh))
  if (!isToken || type.toLowerCase() !== "bearer") throw new SignInFault("what was given is no token that we can use")
  return { access, refresh }
}

/** Has what was given forgotten there, too, as far as that can be done (RFC 7009). False when it isn't known to be. */
export async function revoked(standing: Standing, { url }: Signing, { access, refresh }: Given): Promise<boolean> {
  const { provider, client } = standing
  if (provider.revocationEndpoint === undefined) return false
  try {
    const send = await wayTo(url)
    const [headers, who] = proofOf(client, provider.methods)
    const done: boolean[] = []
    for (const [token, hint] of [
      [refresh, "refresh_token"],
      [access, "access_token"],
    ] as const) {
      // prettier-ignore
      if (token === undefined) continue
      const body = new URLSearchParams({ token, token_type_hint: hint, ...who })
      done.push((await send(provider.revocationEndpoint, { method: "POST", headers, body })).ok)
    }
    return done.every((one) => one)
  } catch {
    return false
  }
}

function proofOf(client: Client, methods: string[] = []): [Record<string, string>, Record<string, string>] {
  const { id, secret = "" } = client
  const form = { "content-type": "application/x-www-form-urlencoded" }
  switch (selectClientAuthMethod(informationOf(client), methods)) {
    case "client_secret_basic":
      return [{ ...form, authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` }, {}]
    case "client_secret_post":
      return [form, { client_id: id, client_secret: secret }]
    default:
      return [form, { client_id: id }]
  }
}
