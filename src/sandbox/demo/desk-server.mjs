// A small MCP server over stdio for the sandbox: its tools ask a person in the middle of a call, by elicitation. It is written
// without a library, and shared by the tests, for which it can be told to be difficult.
import { createInterface } from "node:readline"

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const text = (words, isError = false) => ({ content: [{ type: "text", text: words }], isError })

const service = { type: "object", properties: { service: { type: "string" } }, required: ["service"] }
const TOOLS = [
  { name: "hand_over", description: "Hands a service over to the next shift, and asks to whom", inputSchema: service },
  {
    name: "sign_off",
    description: "Signs a service off in the shift's book, where a person must sign in",
    inputSchema: service,
  },
  { name: "nosy", description: "Asks for what nobody should be asked", inputSchema: service },
  { name: "impatient", description: "Asks, and does not wait", inputSchema: service },
  { name: "again", description: "Asks so often as it is told", inputSchema: service },
  { name: "plain", description: "Asks nobody", inputSchema: service },
]

const SHIFT = {
  type: "object",
  properties: {
    to: {
      type: "string",
      title: "Who takes over",
      oneOf: [
        { const: "night", title: "The night shift" },
        { const: "day", title: "The day shift" },
      ],
    },
    note: { type: "string", title: "What they should know", maxLength: 500 },
  },
  required: ["to"],
}

let asked = 0
let alive = 0
const waiting = new Map()

/** Resolves with what the person said. */
function elicit(params, patience) {
  const id = `ask-${++asked}`
  send({ id, method: "elicitation/create", params: { ...params, _meta: { progressToken: id } } })
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    if (patience === undefined) return
    setTimeout(() => {
      send({ method: "notifications/cancelled", params: { requestId: id, reason: "took too long" } })
      resolve({ action: "gone" })
    }, patience)
  })
}

const told = ({ action, content }) =>
  text(`${action}${content === undefined ? "" : ` ${JSON.stringify(content)}`}`, action !== "accept")

const CALLS = {
  async hand_over({ service }) {
    const said = await elicit({ message: `Who takes ${service} over?`, requestedSchema: SHIFT })
    if (said.action !== "accept") return text(`${service} was not handed over: ${said.action}`, true)
    const { to, note } = said.content
    return text(`${service} is handed over to the ${to} shift${note ? `, who know: ${note}` : ""}`)
  },
  async sign_off({ service }) {
    const url = "https://login.example.com/sign-off"
    return told(await elicit({ mode: "url", message: `Sign ${service} off`, url, elicitationId: `e-${asked}` }))
  },
  async nosy() {
    const requestedSchema = { type: "object", properties: { password: { type: "string" } } }
    return told(await elicit({ message: "Your password, please", requestedSchema }))
  },
  async impatient({ service }) {
    return told(await elicit({ message: `Quick: ${service}?`, requestedSchema: SHIFT }, 300))
  },
  async again({ service: times }) {
    const all = []
    for (let n = 0; n < Number(times); n++) {
      const { action } = await elicit({ message: `Again (${n})`, requestedSchema: SHIFT })
      all.push(action)
    }
    return text(all.join(" "))
  },
  async plain() {
    return text(`asked ${asked}, alive ${alive}`)
  },
}

async function answer({ id, method, params = {} }) {
  if (method === "initialize") {
    const { protocolVersion } = params
    return send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "desk", version: "1" } },
    })
  }
  if (method === "tools/list") return send({ id, result: { tools: TOOLS } })
  if (method === "ping") return send({ id, result: {} })
  if (method === "tools/call" && CALLS[params.name]) {
    return send({ id, result: await CALLS[params.name](params.arguments ?? {}) })
  }
  if (id !== undefined) send({ id, error: { code: -32601, message: "there is no such method" } })
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line)
  if (message.method === "notifications/progress") alive += 1
  else if (message.method !== undefined) void answer(message)
  else if (waiting.has(message.id)) {
    waiting.get(message.id)(message.result ?? { action: "error" })
    waiting.delete(message.id)
  }
})
