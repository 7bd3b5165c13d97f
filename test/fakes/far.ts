/**
 * An MCP server that wants to know whom it works for, and the authorization server beside it, as real ones are: registration,
 * codes that are good once and for one client, PKCE, refresh tokens that change with each use and end all when an old one comes
 * back. What real ones refuse, these do.
 */
import { createHash, randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { z } from "zod"

interface Grant {
  account: string
  client: string
  access: string
  refresh: string
  /** Those before. */
  spent: Set<string>
  over: boolean
}

interface Code {
  client: string
  redirect: string
  challenge: string
  resource: string | null
  account: string
}

export interface Far {
  /** Of the MCP server. */
  url: string
  issuer: string
  /** Whoever is signed in there in the browser. */
  account: string
  /** What tools were called, and by whom. */
  calls: { account: string; tool: string; args: unknown }[]
  grants: Grant[]
  /** Requests to the token endpoint, by grant type. */
  asked: string[]
  clients: Set<string>
  /** What the metadata say otherwise. */
  metadata: Record<string, unknown>
  /** Answers instead of the token endpoint. */
  tokenEndpoint: ((response: ServerResponse) => void) | undefined
  /** What it says of its tool whoami. */
  description: string
  /** Notes are written when it resolves. */
  hold: Promise<void> | undefined
  /** What the MCP server says that its tokens are for; itself, unless said. */
  resource: string | undefined
  /** The MCP server knows nobody, whatever they bring. */
  knowsNobody: boolean
  /** No access token counts any more. */
  expire(): void
  close(): Promise<void>
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function startFar(): Promise<Far> {
  const codes = new Map<string, Code>()
  const redirects = new Map<string, string[]>()
  const expired = new Set<string>()
  const provider = createServer((request, response) => void provide(request, response))
  const resource = createServer((request, response) => void serve(request, response))
  const [issuer, origin] = [await listening(provider), await listening(resource)]
  const far: Far = {
    url: `${origin}/mcp`,
    issuer,
    account: "somebody",
    calls: [],
    grants: [],
    asked: [],
    clients: new Set(),
    metadata: {},
    tokenEndpoint: undefined,
    knowsNobody: false,
    resource: undefined,
    hold: undefined,
    description: "Tells whose account it is",
    expire: () => far.grants.forEach(({ access }) => expired.add(access)),
    close: async () => {
      for (const server of [provider, resource]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }

  async function provide(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = new URL(request.url ?? "", issuer)
    switch (`${request.method} ${at.pathname}`) {
      case "GET /.well-known/oauth-authorization-server":
        return json(response, 200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          revocation_endpoint: `${issuer}/revoke`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          authorization_response_iss_parameter_supported: true,
          ...far.metadata,
        })
      case "POST /register":
        return register(await bodyOf(request), response)
      case "GET /authorize":
        return authorize(at.searchParams, response)
      case "POST /token":
        if (far.tokenEndpoint) return far.tokenEndpoint(response)
        return token(new URLSearchParams(await bodyOf(request)), response)
      case "POST /revoke":
        return revoke(new URLSearchParams(await bodyOf(request)), response)
      default:
        return json(response, 404, { error: "not_found" })
    }
  }

  function register(text: string, response: ServerResponse): void {
    const { redirect_uris } = JSON.parse(text) as { redirect_uris: string[] }
    const id = `client-${randomUUID()}`
    far.clients.add(id)
    redirects.set(id, redirect_uris)
    json(response, 201, { client_id: id, redirect_uris, token_endpoint_auth_method: "none" })
  }

  function authorize(params: URLSearchParams, response: ServerResponse): void {
    const read = (name: string): string => params.get(name) ?? ""
    const [client, redirect, challenge] = [read("client_id"), read("redirect_uri"), read("code_challenge")]
    const isKnown = far.clients.has(client) && (redirects.get(client) ?? []).includes(redirect)
    if (!isKnown) return void response.writeHead(400).end("an unknown client")
    const isWhole = read("response_type") === "code" && read("code_challenge_method") === "S256" && challenge !== ""
    if (!isWhole) return void response.writeHead(400).end("PKCE is missing")
    const code = `code-${randomUUID()}`
    codes.set(code, { client, redirect, challenge, resource: params.get("resource"), account: far.account })
    const back = new URL(redirect)
    for (const [name, value] of Object.entries({ code, state: read("state"), iss: issuer }))
      back.searchParams.set(name, value)
    response.writeHead(302, { location: back.href }).end()
  }

  function token(params: URLSearchParams, response: ServerResponse): void {
    const type = params.get("grant_type") ?? ""
    far.asked.push(type)
    if (!far.clients.has(params.get("client_id") ?? "")) return json(response, 401, { error: "invalid_client" })
    const grant = type === "authorization_code" ? exchanged(params) : renewed(params)
    if (!grant) return json(response, 400, { error: "invalid_grant", error_description: "no such grant" })
    const { access, refresh } = grant
    json(response, 200, { access_token: access, token_type: "Bearer", expires_in: 3600, refresh_token: refresh })
  }

  function exchanged(params: URLSearchParams): Grant | undefined {
    const code = codes.get(params.get("code") ?? "")
    codes.delete(params.get("code") ?? "")
    const challenge = createHash("sha256")
      .update(params.get("code_verifier") ?? "")
      .digest("base64url")
    const fits =
      code?.challenge === challenge &&
      code.redirect === params.get("redirect_uri") &&
      code.client === params.get("client_id")
    if (!code || !fits || code.resource !== far.url || params.get("resource") !== far.url) return undefined
    const grant = { account: code.account, client: code.client, ...fresh(), spent: new Set<string>(), over: false }
    far.grants.push(grant)
    return grant
  }

  const fresh = () => ({ access: `access-${randomUUID()}`, refresh: `refresh-${randomUUID()}` })

  function renewed(params: URLSearchParams): Grant | undefined {
    const given = params.get("refresh_token") ?? ""
    const reused = far.grants.find(({ spent }) => spent.has(given))
    if (reused) reused.over = true
    const grant = far.grants.find(({ refresh, over }) => refresh === given && !over)
    if (!grant || grant.client !== params.get("client_id")) return undefined
    grant.spent.add(given)
    return Object.assign(grant, fresh())
  }

  function revoke(params: URLSearchParams, response: ServerResponse): void {
    const given = params.get("token")
    for (const grant of far.grants) if (given === grant.refresh || given === grant.access) grant.over = true
    response.writeHead(200).end()
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      return json(response, 200, {
        resource: far.resource ?? far.url,
        authorization_servers: [issuer],
        scopes_supported: ["notes"],
      })
    }
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? ""
    const grant = far.grants.find(({ access, over }) => access === given && !over)
    if (!grant || expired.has(given) || far.knowsNobody) {
      const challenge = `Bearer error="invalid_token", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
      return json(response, 401, { error: "invalid_token" }, { "www-authenticate": challenge })
    }
    if (request.method !== "POST") return json(response, 405, {})
    const server = new McpServer({ name: "far", version: "1" })
    const { account } = grant
    const tool = (name: string, args: unknown): void => void far.calls.push({ account, tool: name, args })
    server.registerTool("whoami", { description: far.description, inputSchema: {} }, () => {
      tool("whoami", {})
      return { content: [{ type: "text", text: `you are ${account}` }] }
    })
    server.registerTool("note", { description: "Writes a note", inputSchema: { text: z.string() } }, async (args) => {
      tool("note", args)
      await far.hold
      return { content: [{ type: "text", text: `noted by ${account}, who sent ${given}` }] }
    })
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    response.on("close", () => void transport.close())
    await server.connect(transport)
    await transport.handleRequest(request, response, JSON.parse(await bodyOf(request)))
  }

  return far
}
