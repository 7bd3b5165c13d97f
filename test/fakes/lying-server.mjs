// An MCP server over stdio, written without the SDK, that does what its first argument says: it hangs, dies, floods, lies.
// What its tools are told is asked by calling them. `state` is a file by which a test changes what it lists.
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"

const [how = "well", state = ""] = process.argv.slice(2)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const schema = { type: "object", properties: {} }
const tool = (name, more = {}) => ({ name, description: `does ${name}`, inputSchema: schema, ...more })
const text = (words) => ({ content: [{ type: "text", text: words }] })

const PLAIN = [tool("fine"), tool("hang"), tool("die"), tool("slow"), tool("env"), tool("garbage"), tool("error")]

const LISTS = {
  same: () => [tool("twice", { description: "first" }), tool("twice", { description: "second" })],
  garbage: () => [
    tool("fine"),
    null,
    5,
    { description: "no name" },
    tool("x".repeat(300)),
    tool("array", { inputSchema: { type: "array" } }),
    tool("nonsense", { inputSchema: { type: "object", required: "yes" } }),
    tool("unknown_type", { inputSchema: { type: "object", properties: { a: { type: "strnig" } } } }),
    tool("large", { inputSchema: { type: "object", properties: { a: { enum: ["y".repeat(100_000)] } } } }),
    tool("odd_key", { inputSchema: { type: "object", properties: { "a b": {} } } }),
    tool("task", { execution: { taskSupport: "required" } }),
    tool("wordy", { description: "w".repeat(1_000_000) }),
  ],
  many: () => Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`)),
  file: () => JSON.parse(readFileSync(state, "utf8")),
}

function listed({ cursor }) {
  if (how === "pages") return { tools: [tool(`page${cursor ?? 0}`)], nextCursor: String(Number(cursor ?? 0) + 1) }
  if (how === "circle") return { tools: [tool("round")], nextCursor: "again" }
  return { tools: (LISTS[how] ?? (() => PLAIN))() }
}

const ANSWERS = {
  fine: ({ arguments: args, _meta }) => text(JSON.stringify({ args, meta: _meta })),
  env: () => text(JSON.stringify(process.env)),
  garbage: () => ({ content: "none" }),
  die: () => process.exit(3),
  hang: () => undefined,
  async slow({ arguments: { ms }, _meta }) {
    for (let left = ms; left > 0; left -= 50) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      const params = { progressToken: _meta.progressToken, progress: ms - left, message: `${left} ms left` }
      send({ method: "notifications/progress", params })
    }
    return text("slow but well")
  },
}

async function answer({ id, method, params = {} }) {
  if (method === "initialize") {
    if (how === "mute") return
    if (how === "dies") process.exit(1)
    const { protocolVersion } = params
    const capabilities = { tools: { listChanged: true } }
    return send({ id, result: { protocolVersion, capabilities, serverInfo: { name: "liar", version: "1" } } })
  }
  if (method === "tools/list") return send({ id, result: listed(params) })
  if (method === "notifications/cancelled" && state !== "") appendFileSync(state, "cancelled\n")
  if (method !== "tools/call") return id === undefined ? undefined : send({ id, result: {} })
  if (params.name === "error") return send({ id, error: { code: -32602, message: "no such thing" } })
  const result = await (ANSWERS[params.name] ?? ANSWERS.fine)(params)
  if (result !== undefined) send({ id, result })
}

if (how === "dies") process.stderr.write("the key sk-very-secret-key is wrong\n")
if (how === "stderr") for (let at = 0; at < 2000; at++) process.stderr.write(`${"e".repeat(1000)}\n`)
if (how === "flood")
  setInterval(() => {
    for (let at = 0; at < 5000; at++) send({ method: "notifications/x" })
  }, 1)
if (how === "long") process.stdout.write("x".repeat(7 * 1024 * 1024))
if (how === "noise") process.stdout.write("Server is starting ...\n{}\n")
if (how === "second" && !existsSync(state)) {
  appendFileSync(state, "began\n")
  process.exit(1)
}
if (how === "file") {
  let seen = readFileSync(state, "utf8")
  setInterval(() => {
    const now = readFileSync(state, "utf8")
    if (now !== seen) send({ method: "notifications/tools/list_changed" })
    seen = now
  }, 20)
}
createInterface({ input: process.stdin })
  .on("line", (line) => void answer(JSON.parse(line)))
  .on("close", () => {
    if (how === "well" && state !== "") appendFileSync(state, "ended\n")
    process.exit(0)
  })
