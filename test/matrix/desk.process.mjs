/**
 * An MCP server of the lives, over stdio: its one tool asks a person in the middle of the call. Like the other tools it asks
 * its gate at each point, and what it did is a line of a file. desk.process.mjs <gate> <file>
 */
import { appendFileSync } from "node:fs"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { z } from "zod"
import { passing } from "./tools.process.mjs"

const [gate, file] = process.argv.slice(2)
const pass = passing(gate)
const server = new McpServer({ name: "desk", version: "1.0.0" })
const tool = { description: "Hands a service over, and asks to whom", inputSchema: { service: z.string() } }
const requestedSchema = {
  type: "object",
  properties: { to: { type: "string", title: "Who takes over" } },
  required: ["to"],
}
/** ms; people take as long as they like. */
const FOREVER = 2 ** 31 - 1

server.registerTool("hand_over", tool, async (args, { _meta }) => {
  await pass("hand_over", "start")
  appendFileSync(file, `${JSON.stringify({ name: "hand_over", args, key: _meta["countersign/call"] })}\n`)
  await pass("hand_over", "ask")
  const message = `Who takes ${args.service} over?`
  const { action, content } = await server.server.elicitInput({ message, requestedSchema }, { timeout: FOREVER })
  await pass("hand_over", "answered")
  const text = action === "accept" ? `handed over to ${String(content.to)}` : `not handed over: ${action}`
  await pass("hand_over", "end")
  return { content: [{ type: "text", text }] }
})
// Whoever asks on for ever would be left behind by a bot that was killed.
process.stdin.on("end", () => process.exit())
await server.connect(new StdioServerTransport())
