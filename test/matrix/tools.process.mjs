/**
 * Tools of the lives: each asks its gate before it does anything and when it has, and what it did is a line of a file.
 * A gate that doesn't answer is the end of the process it runs in.
 */
import { appendFileSync } from "node:fs"

/** What asks the gate at that address; resolves when a tool may go on from a point of its work. */
export const passing = (gate) => async (name, point) => {
  const response = await fetch(`${gate}/${name}/${point}`, { method: "POST" })
  await response.text()
}

/** All of them; `gate`: where they ask, `file`: where they leave what they did. */
export function toolsOf({ gate, file }) {
  const pass = passing(gate)
  const tool = (name, effects, result) => ({
    name,
    description: `${name} (${effects})`,
    effects,
    inputSchema: { type: "object", properties: { service: { type: "string" } }, additionalProperties: false },
    async run(args, ctx) {
      await pass(name, "start")
      const { callId, attempt, answer } = ctx
      appendFileSync(file, `${JSON.stringify({ name, args, callId, attempt, answer })}\n`)
      await pass(name, "end")
      return result(args, ctx)
    },
  })
  return [
    tool("read", "none", () => "all is well"),
    tool("restart", "once", ({ service }) => `restarted ${service}`),
    tool("scale", "repeatable", ({ service }) => `scaled ${service}`),
    // Asks somebody in the middle of its work.
    tool("choose", "once", (_, { answer, attempt }) =>
      answer
        ? `chose ${JSON.stringify(answer.data)}`
        : {
            output: "?",
            isError: true,
            metadata: { pending: { id: `own-${attempt}`, kind: "input", prompt: "In which region?" } },
          },
    ),
  ]
}
