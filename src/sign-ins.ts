/**
 * People's own sign-ins to MCP servers, put together: their passes in Redis, their tools, and the pages on which they sign in. It
 * decides nothing; it knows who needs whom, as `bot.ts` does.
 */
import type { Tool, Toolkit } from "./agent/tool.ts"
import type { Config } from "./config.ts"
import { about } from "./core/ask.ts"
import type { Person } from "./core/fact.ts"
import { samePerson } from "./core/policy.ts"
import { openAsks, step, wishOf, type Ask, type Run } from "./core/run.ts"
import type { Log } from "./log.ts"
import type { SignedOut } from "./slack/blocks/sign-out.ts"
import type { Names } from "./slack/show/names.ts"
import type { Store } from "./store/store.ts"
import { nameOf } from "./tools/mcp/names.ts"
import type { Servers } from "./tools/mcp/servers.ts"
import type { AskedFor } from "./tools/oauth/asks.ts"
import { Beginnings, ownClient } from "./tools/oauth/begun.ts"
import { Kits, personalOf, whoseOf, type PersonalServer, type PersonalStanding } from "./tools/oauth/kits.ts"
import { Passes } from "./tools/oauth/passes.ts"
import { revoked } from "./tools/oauth/provider.ts"
import { Seal } from "./tools/oauth/seal.ts"
import { redirectOf, startSite } from "./tools/oauth/site.ts"

export interface SigningOptions {
  config: Config
  tools: readonly Tool[]
  shared: Servers
  secrets: readonly string[]
  store: Store
  names: Pick<Names, "of">
  /** What the workspace is called. */
  workspace: string
  log: Log
}

export interface SigningIn {
  /** The tools of one person; absent where all have the same. */
  toolsFor?: (person: Person) => Promise<Toolkit>
  /** Those of whoever a run works for, as far as this process knows them; `tools` are those of all. */
  known(run: Run, tools: Toolkit): Toolkit
  /** Tools that only ask their own person to sign in. */
  unasked(tool: Tool): boolean
  /**
   * Where a tool may ask somebody to sign in: on our own pages, if it is of a server that people sign in to. One that nobody has
   * any more (`tool` undefined) is known by how its name begins.
   */
  hostsFor(name: string, tool: Tool | undefined): readonly string[]
  standing(person: Person): Promise<PersonalStanding[]>
  signOut(person: Person, server: string): Promise<SignedOut>
  /** Starts the pages; resolves with what ends them. */
  serve(): Promise<() => Promise<void>>
  stop(ms: number): Promise<void>
}

/** What is pressed on a card when one has signed in. */
const BUTTON = "I have done it"

const NOBODY: SigningIn = {
  known: (_run, tools) => tools,
  unasked: () => false,
  hostsFor: () => [],
  standing: async () => [],
  signOut: async () => ({ kind: "unknown", servers: [] }),
  serve: async () => async () => undefined,
  stop: async () => undefined,
}

export function signingIn(options: SigningOptions): SigningIn {
  const { config, tools, shared, secrets, store, log } = options
  const servers = personalOf(config.mcpServers.servers)
  const { signIn, key } = config
  // The configuration is refused without them.
  if (servers.length === 0 || !signIn || !key) return NOBODY
  const seal = new Seal(key)
  const passes = new Passes({ drawer: store.drawer, seal, log })
  const kits = new Kits({ servers, tools, shared, passes, asking: { seal, base: signIn.url }, secrets, log })
  const hosts = [new URL(signIn.url).hostname]
  return {
    toolsFor: (person) => kits.of(person),
    known: (run, all) => kits.known(wishOf(run).asker) ?? all,
    unasked: (tool) => kits.isSignIn(tool),
    hostsFor(name, tool) {
      const isOf = (server: string): boolean =>
        tool ? tool.source === `mcp:${server}` : name.startsWith(nameOf(server, ""))
      return servers.some((server) => isOf(server.name)) ? hosts : []
    },
    standing: (person) => kits.standing(person),
    signOut: (person, server) => signedOut({ servers, passes, log }, person, server),
    serve: () => served(options, { servers, seal, passes, signIn }),
    stop: (ms) => kits.stop(ms),
  }
}

interface Parts {
  servers: readonly PersonalServer[]
  seal: Seal
  passes: Passes
  signIn: NonNullable<Config["signIn"]>
}

async function served(
  { store, names, workspace, config: { command }, log }: SigningOptions,
  { servers, seal, passes, signIn }: Parts,
): Promise<() => Promise<void>> {
  const { url: base, ...listen } = signIn
  const site = await startSite({
    listen,
    base,
    servers,
    seal,
    beginnings: new Beginnings({ drawer: store.drawer, seal, passes, redirect: redirectOf(base) }),
    async isAsked(asked) {
      const loaded = await store.load(asked.run)
      const ask = loaded && waitsFor(loaded.run, asked)
      return loaded !== undefined && ask !== undefined && ask.expiresAt > loaded.now
    },
    nameOf: async (user) => (await names.of([user]))[user] ?? user,
    workspace,
    button: BUTTON,
    undo: (server) => `${command} sign-out ${/\s/.test(server) ? `"${server}"` : server}`,
    signedIn(asked) {
      const { server, person, run } = asked
      log.info({ server, user: person.user, run }, "somebody signed in to an MCP server")
      void recorded(store, asked).catch((error: unknown) => {
        log.error({ err: error, run }, "that somebody signed in could not be recorded in the run")
      })
    },
    log,
  })
  return () => site.stop()
}

async function signedOut(
  { servers, passes, log }: Pick<Parts, "servers" | "passes"> & { log: Log },
  person: Person,
  name: string,
): Promise<SignedOut> {
  const server = servers.find((one) => one.name === name)
  if (!server) return { kind: "unknown", servers: servers.map((one) => one.name) }
  const pass = await passes.forget(whoseOf(server, person))
  if (!pass) return { kind: "before", server: name }
  const client = ownClient(server)
  const there = await revoked(client ? { ...pass, client } : pass, server, pass)
  log.info({ server: name, user: person.user, there }, "somebody signed out of an MCP server")
  return { kind: "done", server: name, there }
}

/** The open ask by which the run waits for just this sign-in. */
const waitsFor = (run: Run, { call, person }: AskedFor): Ask | undefined =>
  run.ended || !samePerson(wishOf(run).asker, person)
    ? undefined
    : openAsks(run).find((ask) => ask.call === call && ask.kind === "authorization")

/** The fact of it. Who pressed there is not known: whose runs it is for is. */
async function recorded(store: Store, asked: AskedFor): Promise<void> {
  await store.apply(asked.run, (run, now) => {
    const ask = run && waitsFor(run, asked)
    if (!ask) return { outcome: undefined }
    const entry = about(ask, { what: "signed in", via: "page", outcome: asked.server })
    return { step: step(run, now, [entry], { show: "" }), outcome: undefined }
  })
}
