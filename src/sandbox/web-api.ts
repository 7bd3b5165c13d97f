/**
 * The Web API as a table: each method with the token and scope it needs, and what all of them check alike. It turns arguments
 * into an answer and knows no HTTP. https://docs.slack.dev/reference/methods
 */
import * as beside from "./assistant.ts"
import * as chat from "./chat.ts"
import { type Args, fail, type Failure, type Result, word } from "./content.ts"
import * as look from "./lookups.ts"
import type { Site } from "./site.ts"
import * as streams from "./streams.ts"
import * as views from "./views.ts"

interface Method {
  token?: "app"
  /** The scope it needs; `read` and `history` stand for the one that fits the kind of the channel. */
  scope?: string
  run: (site: Site, args: Args) => Result
}

const METHODS = new Map<string, Method>(
  Object.entries({
    "auth.test": { run: look.authTest },
    "apps.connections.open": { token: "app", scope: "connections:write", run: look.connectionsOpen },
    "chat.postMessage": { scope: "chat:write", run: chat.postMessage },
    "chat.update": { scope: "chat:write", run: chat.update },
    "chat.delete": { scope: "chat:write", run: chat.remove },
    "chat.postEphemeral": { scope: "chat:write", run: chat.postEphemeral },
    "chat.startStream": { scope: "chat:write", run: streams.startStream },
    "chat.appendStream": { scope: "chat:write", run: streams.appendStream },
    "chat.stopStream": { scope: "chat:write", run: streams.stopStream },
    "chat.getPermalink": { run: chat.getPermalink },
    "views.open": { run: views.open },
    "views.push": { run: views.push },
    "views.update": { run: views.update },
    "views.publish": { run: views.publish },
    "users.info": { scope: "users:read", run: look.usersInfo },
    "bots.info": { scope: "users:read", run: look.botsInfo },
    "files.info": { scope: "files:read", run: look.filesInfo },
    "usergroups.list": { scope: "usergroups:read", run: look.usergroupsList },
    "usergroups.users.list": { scope: "usergroups:read", run: look.usergroupUsers },
    "conversations.info": { scope: "read", run: look.conversationsInfo },
    "conversations.members": { scope: "read", run: look.conversationsMembers },
    "conversations.open": { scope: "im:write", run: look.conversationsOpen },
    "conversations.history": { scope: "history", run: look.conversationsHistory },
    "conversations.replies": { scope: "history", run: look.conversationsReplies },
    "assistant.threads.setSuggestedPrompts": { scope: "assistant:write", run: beside.setSuggestedPrompts },
    // It takes assistant:write as well, for the time being.
    "assistant.threads.setStatus": { scope: "chat:write", run: beside.setStatus },
    "blocks.validate": { run: look.blocksValidate },
  } satisfies Record<string, Method>),
)

/** What the app-level token was granted. */
const APP_SCOPES = new Set(["connections:write"])

const KINDS = { channel: "channels", private: "groups", dm: "im" } as const

/** The scope that this very call needs. */
function needed({ workspace }: Site, scope: string, args: Args): string {
  if (scope !== "read" && scope !== "history") return scope
  return `${KINDS[workspace.channels.get(word(args, "channel") ?? "")?.kind ?? "channel"]}:${scope}`
}

function refusal(site: Site, method: Method, token: string | undefined, args: Args): Failure | undefined {
  if (token === undefined) return fail("not_authed")
  const { bot, app } = site.tokens
  if (token !== bot && token !== app) return fail("invalid_auth")
  if (token !== (method.token === "app" ? app : bot)) return fail("not_allowed_token_type")
  if (method.scope === undefined) return undefined
  const scope = needed(site, method.scope, args)
  const granted = method.token === "app" ? APP_SCOPES : site.scopes
  return granted.has(scope) ? undefined : fail("missing_scope", { needed: scope, provided: [...granted].join(",") })
}

/** The answer to one call. `token` is what the caller brought, if anything. */
export function answer(site: Site, name: string, token: string | undefined, args: Args): Result {
  const method = METHODS.get(name)
  if (!method) return fail("unknown_method")
  return refusal(site, method, token, args) ?? method.run(site, args)
}
