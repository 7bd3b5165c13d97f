/**
 * A whole Slack on this machine: Web API, Socket Mode or signed requests, response URLs and the page, on one loopback port. It
 * keeps nothing when it is closed.
 */
import { randomBytes } from "node:crypto"
import type { AddressInfo } from "node:net"
import { isAbsolute } from "node:path"
import { pathToFileURL } from "node:url"
import { Handles } from "./handles.ts"
import { LIMITS } from "./limits.ts"
import { type LiveOptions, LiveWorkspace } from "./live.ts"
import { Misbehaviour } from "./misbehave.ts"
import { SCOPES } from "./seed.ts"
import { allowed, type Parts, serve } from "./server.ts"
import type { Site } from "./site.ts"
import { Sockets } from "./socket.ts"

export interface SlackOptions extends LiveOptions {
  /** 0, the default, takes a free one. */
  port?: number
  /** The folder with the page's files, served at `/`. */
  pageDir?: string | URL
  /** What the app is granted. */
  scopes?: string[]
  /** Where interactions are posted; absent: Socket Mode. Can be set later as `workspace.requestUrl`. */
  requestUrl?: string
  /** How long an interaction waits for its ack, in ms; Slack's 3000 unless a test is in a hurry. */
  ackTimeout?: number
}

export interface SandboxSlack {
  /** http://127.0.0.1:PORT/ */
  url: string
  /** What the app uses in place of https://slack.com/api/ */
  apiUrl: string
  botToken: string
  appToken: string
  signingSecret: string
  workspace: LiveWorkspace
  close: () => Promise<void>
}

/** Starts it. @throws when the port is taken. */
export async function startSlack(options: SlackOptions = {}): Promise<SandboxSlack> {
  const workspace = new LiveWorkspace(options)
  workspace.requestUrl = options.requestUrl
  const sockets = new Sockets(() => workspace.changed())
  const misbehaviour = new Misbehaviour(workspace)
  const tokens = {
    bot: `xoxb-sandbox-${randomBytes(12).toString("hex")}`,
    app: `xapp-1-sandbox-${randomBytes(12).toString("hex")}`,
    signing: randomBytes(16).toString("hex"),
  }
  const site: Site & Parts["site"] = {
    workspace,
    handles: new Handles(workspace.now),
    scopes: new Set(options.scopes ?? SCOPES),
    tokens,
    url: "",
    socketUrl: () => `${site.url.replace("http:", "ws:")}link?ticket=${sockets.ticket()}`,
  }
  const server = serve(() => ({ site, misbehaviour, pageDir: folder(options.pageDir) }))
  sockets.attach(server, (request) => allowed(request, site.url))
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  workspace.goLive({
    site,
    way: {
      sockets,
      misbehaviour,
      signingSecret: tokens.signing,
      requestUrl: () => workspace.requestUrl,
      ackTimeout: options.ackTimeout ?? LIMITS.ack,
    },
  })
  return {
    url: site.url,
    apiUrl: `${site.url}api/`,
    botToken: tokens.bot,
    appToken: tokens.app,
    signingSecret: tokens.signing,
    workspace,
    close: async () => {
      misbehaviour.clear()
      await sockets.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The page's folder as a URL with a slash at its end, so that names resolve inside it. */
function folder(given: string | URL | undefined): URL | undefined {
  if (given === undefined) return undefined
  const url = typeof given === "string" && isAbsolute(given) ? pathToFileURL(given) : new URL(given)
  return url.pathname.endsWith("/") ? url : new URL(`${url.href}/`)
}
