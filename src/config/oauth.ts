/**
 * What the configuration may say of MCP servers that people sign in to themselves, and of the pages on which they do. It asks
 * no such server anything.
 */
import { z } from "zod"
import { mapping, said, show } from "./forms.ts"
import type { KnownSettings } from "./known.ts"
import { expanded, isPrivate, NOT_PRIVATE, type Surroundings } from "./references.ts"

/** How we are known to whoever lets people sign in. Without a `clientId` we register ourselves there. */
export interface OAuth {
  clientId?: string | undefined
  clientSecret?: string | undefined
  /** Left out: what the server says that it takes. */
  scopes?: string[] | undefined
}

const EXAMPLE = '{ clientId: countersign, clientSecret: "${CLIENT_SECRET}" }'
const SCOPES = "a list of scopes, such as [ read, write ]"
/** RFC 6749, 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/

export function oauth(around: Surroundings) {
  const settings = mapping(
    {
      clientId: z
        .string({ error: said("the client's id, as its server gave it") })
        .regex(/^[\x20-\x7e]{1,500}$/, { error: said("the client's id, as its server gave it") })
        .optional(),
      clientSecret: z
        .string({ error: said('the client\'s secret from the environment, as "${CLIENT_SECRET}"') })
        .refine((text) => text.includes("${"), {
          error: 'must come from the environment, as "${CLIENT_SECRET}": a secret does not belong into the file',
        })
        .transform((text, context) => expanded(around, text, (message) => context.addIssue(message)))
        .optional(),
      scopes: z
        .array(z.string({ error: said(SCOPES) }).regex(SCOPE, { error: said("a scope, without blanks") }), {
          error: said(SCOPES),
        })
        .optional(),
    },
    `${EXAMPLE}, or true`,
  ).refine(({ clientId, clientSecret }) => clientId !== undefined || clientSecret === undefined, {
    error: "has a clientSecret without a clientId: put both, or neither",
  })
  return z.preprocess(meant, settings.optional())
}

const meant = (given: unknown): unknown => (given === true ? {} : given === false ? undefined : given)

/** Whether people sign in to it, each for themselves. */
export const isPersonal = (server: Served): server is Served & { kind: "http"; oauth: OAuth } =>
  server.kind === "http" && server.oauth !== undefined && !server.disabled

type Served = NonNullable<KnownSettings["mcpServers"]>["servers"][number]

/** Where people's browsers reach us. */
export const signIn = mapping(
  {
    url: z
      .string({
        error: said("the address that people's browsers reach us by, such as https://countersign.example.com"),
      })
      .refine(isPrivate, NOT_PRIVATE)
      .refine((url) => !URL.canParse(url) || isBare(new URL(url)), {
        error: "must end with the host (and port): the pages are at /sign-in there",
      })
      .transform((url) => (URL.canParse(url) ? new URL(url).origin : url)),
    port: z
      .int({ error: said("the port that we listen on, from 1 to 65535") })
      .min(1, { error: said("the port that we listen on, from 1 to 65535") })
      .max(65_535, { error: said("the port that we listen on, from 1 to 65535") }),
    host: z
      .string({ error: said("an address of this machine, such as 0.0.0.0") })
      .regex(/^[0-9A-Za-z:.-]{1,100}$/, { error: said("an address of this machine, such as 0.0.0.0") })
      .default("127.0.0.1"),
  },
  "{ url: https://countersign.example.com, port: 3010 }",
)

const isBare = ({ pathname, search, hash }: URL): boolean => pathname === "/" && search === "" && hash === ""

type Known = Pick<KnownSettings, "mcpServers" | "signIn"> & {
  hasKey: boolean
  /** Where Slack's requests come to, over HTTP. */
  port: number | undefined
  at: (path: readonly PropertyKey[]) => string
}

/** What servers that people sign in to need besides. Whole sentences. */
export function wrongSignIn(known: Known): string[] {
  const { signIn, port, at } = known
  const isTwice = typeof signIn === "object" && signIn.port === port
  const twice = `${at(["signIn", "port"])} is PORT as well, where Slack's requests come to: put another one.`
  return [...(isTwice ? [twice] : []), ...missingFor(known)]
}

function missingFor({ mcpServers, signIn, hasKey, at }: Known): string[] {
  const names = (mcpServers?.servers ?? []).filter(isPersonal).map(({ name }) => show(name))
  if (names.length === 0) return []
  const whose = names.length === 1 ? `the MCP server ${names[0]}` : `the MCP servers ${names.join(", ")}`
  const noPages = `${at(["signIn"])} is missing: people sign in to ${whose} (oauth) on pages of ours. Put signIn: { url: https://countersign.example.com, port: 3010 }.`
  const noKey = `COUNTERSIGN_KEY is missing: what people get by signing in to ${whose} (oauth) is kept encrypted under it. Make one with: openssl rand -base64 32`
  return [...(signIn === "none" ? [noPages] : []), ...(hasKey ? [] : [noKey])]
}
