// What a model's turn costs this process beside the model itself: a transcript of 2 MB, 500 tools. Beside each stands what nobody can
// spare: the transcript read from its JSON, and the request written as JSON. The provider's own code is real; its server is a
// function in this process.
import { asked } from "../../dist/agent/asking.js"
import { summaryEntry } from "../../dist/agent/conversation.js"
import { Deadline } from "../../dist/agent/deadline.js"
import { createModel } from "../../dist/agent/model.js"
import { createToolkit, defineTool } from "../../dist/agent/tool.js"
import { text, userMessage } from "../bot.mjs"
import { median } from "../measure.mjs"

const ROUNDS = 15
const BIG = 2_000_000
const MANY = 500
/** Bytes of one result. */
const RESULT = 4000

const USED = { input_tokens: 1, output_tokens: 1 }
const ANSWERS = {
  "openai-compatible": {
    choices: [{ index: 0, message: { role: "assistant", content: "Done." }, finish_reason: "stop" }],
  },
  anthropic: {
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Done." }],
    usage: USED,
  },
}

/** A transcript of about so many bytes: what was asked, then a call and its result over and over. */
function logOf(bytes) {
  const log = [userMessage("look after the servers")]
  for (let size = 0, n = 1; size < bytes; size += RESULT + 300, n += 1) {
    const call = { type: "tool-call", toolCallId: `call_${n}`, toolName: "tool_1", input: { service: text(40) } }
    const output = { type: "text", value: text(RESULT) }
    const result = { type: "tool-result", toolCallId: call.toolCallId, toolName: call.toolName, output }
    log.push(
      JSON.stringify({ role: "assistant", content: [call] }),
      JSON.stringify({ role: "tool", content: [result] }),
    )
  }
  return log
}

const properties = Object.fromEntries(
  ["service", "region", "env", "version", "reason"].map((name) => [name, { type: "string", description: text(100) }]),
)
const toolkitOf = (count) =>
  createToolkit({
    extraTools: Array.from({ length: count }, (_, n) =>
      defineTool({
        name: `tool_${n + 1}`,
        description: text(200),
        inputSchema: { type: "object", properties, required: ["service"] },
        run: () => "done",
      }),
    ),
  })

/** ms of one turn, and of what nobody can spare of it. */
async function measured(provider, log, tools) {
  let body = ""
  const fetch = async (_url, init) => {
    body = init.body
    return Response.json(ANSWERS[provider])
  }
  const model = createModel({ provider, baseUrl: "http://127.0.0.1:1", model: "m", apiKey: "k", fetch })
  const held = { run: () => ({ spent: undefined }), transcript: async () => log }
  const offered = tools.tools()
  const ours = []
  const least = []
  for (let round = 0; round < ROUNDS; round += 1) {
    let began = performance.now()
    const turn = await asked(held, { model }, { tools: offered, limit: new Deadline([], undefined) })
    ours.push(performance.now() - began)
    if (!turn.ok) throw new Error(`the turn failed: ${JSON.stringify(turn)}`)
    const request = JSON.parse(body)
    began = performance.now()
    log.forEach((entry) => JSON.parse(entry))
    JSON.stringify(request)
    least.push(performance.now() - began)
  }
  return { ours: median(ours), least: median(least) }
}

export async function turns({ table }) {
  table.group("A model's turn, without the model")
  const [small, big] = [logOf(2000), logOf(BIG)]
  const [one, many] = [await toolkitOf(1), await toolkitOf(MANY)]
  const shortened = [...big, summaryEntry(big.length - 20, text(4000))]
  for (const provider of Object.keys(ANSWERS)) {
    for (const { what, log, tools } of [
      { what: "2 kB, 1 tool", log: small, tools: one },
      { what: "2 MB, 1 tool", log: big, tools: one },
      { what: `2 kB, ${MANY} tools`, log: small, tools: many },
      { what: `2 MB, ${MANY} tools`, log: big, tools: many },
      { what: "2 MB of which a summary stands for most", log: shortened, tools: one },
    ]) {
      const { ours, least } = await measured(provider, log, tools)
      const beside = { name: "its JSON read and written", value: least }
      table.add({ what: `${provider}: ${what}`, unit: "ms", ours, beside, ...(least > 5 ? { most: 4 } : {}) })
    }
  }
}
