// @openai/agents with a scripted model: the interrupted run's state is a text in Redis, read, approved and run on.
import { randomUUID } from "node:crypto"
import { Agent, Runner, RunState, setTracingDisabled, tool, Usage } from "@openai/agents-core"
import { Redis } from "ioredis"
import { z } from "zod"

setTracingDisabled(true)

const call = {
  type: "function_call",
  callId: "call_1",
  name: "restart",
  status: "completed",
  arguments: '{"service":"web"}',
}
const words = {
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "The web tier was restarted." }],
}
const model = {
  async getResponse({ input }) {
    const asked = Array.isArray(input) && input.at(-1)?.type === "function_call_result"
    return { usage: new Usage({ inputTokens: 500, outputTokens: 50 }), output: [asked ? words : call] }
  },
}
const restart = tool({
  name: "restart",
  description: "Restarts a service",
  parameters: z.object({ service: z.string() }),
  needsApproval: true,
  execute: async () => "restarted",
})

export async function open({ url, transcript }) {
  const redis = new Redis(url)
  const agent = new Agent({ name: "bench", instructions: "", model, tools: [restart] })
  const runner = new Runner({ tracingDisabled: true })
  return {
    async one() {
      const key = `agents:${randomUUID()}`
      const { state } = await runner.run(agent, transcript)
      await redis.set(key, state.toString())
      const began = performance.now()
      const read = await RunState.fromString(agent, await redis.get(key))
      for (const interruption of read.getInterruptions()) read.approve(interruption)
      const result = await runner.run(agent, read)
      if (result.finalOutput === undefined) throw new Error("the run did not end")
      await redis.set(key, result.state.toString())
      return performance.now() - began
    },
    close: () => redis.quit(),
  }
}
