import { createToolkit, type ToolDefinition } from "countersign"
import { afterEach, describe, expect, test } from "vitest"
import { defineTool, toolOf } from "../../src/agent/tool.ts"
import { calling, closeAll, resultsIn, sent, setUp, STYLES } from "./wires.ts"

afterEach(closeAll)

const TOKEN = `xoxb-1111-2222-${"a1B2c3D4".repeat(3)}`
const LABEL = `[slack token, ${TOKEN.length} characters]`

const reader = (output: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: "read",
  description: "Reads a file",
  run: () => output,
  ...more,
})

describe.each(STYLES)("on the wire of %s", (style) => {
  /** What the model is told that the tool said, and what whoever runs the agent is. */
  async function told(tool: ToolDefinition) {
    const turns = [calling(["read", {}]), { text: "Done." }]
    const { provider, client, toolkit } = await setUp(style, { turns, tools: [tool] })
    const result = await client.run("read", { toolkit })
    return { model: resultsIn(style, provider.requests[1]), host: result.toolCalls[0]?.output }
  }

  test("a secret of a known kind is masked before the model reads it", async () => {
    const { model, host } = await told(reader(`SLACK=${TOKEN}\nDB=postgres://app:hunter2@db/app`))
    expect(model).toEqual([
      sent(style, "call_1", `SLACK=${LABEL}\nDB=postgres://app:[password, 7 characters]@db/app`, false),
    ])
    expect(host).toBe(`SLACK=${TOKEN}\nDB=postgres://app:hunter2@db/app`)
  })

  test("one in what the tool throws is masked as well", async () => {
    const failing = reader("", {
      run: () => {
        throw new Error(`${TOKEN} was refused`)
      },
    })
    expect((await told(failing)).model).toEqual([sent(style, "call_1", `${LABEL} was refused`, true)])
  })

  test("what a name alone calls a secret stays: the model may have to hand it on", async () => {
    const output = '{"items":[],"nextToken":"b2Zmc2V0PTI1","session_id":"41"}'
    expect((await told(reader(output))).model).toEqual([sent(style, "call_1", output, false)])
  })

  test("a tool that keeps its secrets is handed on as it is", async () => {
    expect((await told(reader(TOKEN, { secrets: "keep" }))).model).toEqual([sent(style, "call_1", TOKEN, false)])
  })
})

test("a tool says keep or nothing", async () => {
  expect(defineTool(reader("", { secrets: "keep" })).secrets).toBe("keep")
  expect(toolOf(reader("", { secrets: "keep" })).secrets).toBe("keep")
  expect(defineTool(reader(""))).not.toHaveProperty("secrets")
  const wrong = { ...reader(""), secrets: "show" } as unknown as ToolDefinition
  expect(() => defineTool(wrong)).toThrow('tool read: secrets must be "keep" or left out, which masks them')
  await expect(createToolkit({ extraTools: [wrong] })).rejects.toThrow(TypeError)
})
