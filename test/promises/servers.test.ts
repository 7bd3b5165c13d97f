/**
 * The whole bot with MCP servers that anybody can install: one for files over stdio, which are read unasked and changed when
 * somebody agreed, and one over streamable HTTP that asks a person in the middle of a call. Over both wires, streamed.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startEverything } from "../fakes/everything.ts"
import { scratchFolder } from "../redis.ts"
import { nodes, reads } from "./seen.ts"
import { APP1, must, REQ, Team, until } from "./team.ts"

const PROGRAM = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url),
)

/** Fills in one text of the form that a person has open, and sends it with all else as it came. */
async function answer({ slack: { workspace } }: Team, label: string, text: string): Promise<void> {
  const open = () => workspace.views(REQ).find(({ submit }) => submit)
  await until(
    () => open() !== undefined,
    () => "the form",
  )
  const { id, blocks } = must(open())
  const field = must(blocks.find((block) => nodes(block["label"])[0]?.["text"] === label))
  const action = must(nodes(field["element"]).find(({ action_id }) => typeof action_id === "string"))["action_id"]
  await workspace.submit(REQ, id, { [String(field.block_id)]: { [String(action)]: text } })
}

test.each(["openai", "anthropic"] as const)(
  "a run reads and writes files by one server, and answers what another asks (%s)",
  { timeout: 120_000 },
  async (style) => {
    const folder = await scratchFolder("files")
    const [notes, report] = [join(folder, "notes.txt"), join(folder, "report.txt")]
    writeFileSync(notes, "web is slow since noon")
    const everything = await startEverything()
    const call = (id: string, name: string, args: Record<string, unknown> = {}) => ({ calls: [{ id, name, args }] })
    const it = await Team.start({
      style,
      turns: [
        call("c1", "files_read_text_file", { path: notes }),
        call("c2", "files_write_file", { path: report, content: "web was slow" }),
        call("c3", "every_trigger-elicitation-request"),
        { text: "It is **written down**, and you are known." },
      ],
      config: {
        mcpServers: {
          files: {
            command: process.execPath,
            args: [PROGRAM, folder],
            trustAnnotations: true,
            allow: ["read_*", "write_*"],
          },
          every: { url: everything.url },
        },
        approvals: [
          { tool: "files_read_*", do: "allow" },
          { tool: "every_trigger-elicitation-request", do: "allow" },
        ],
      },
    })
    try {
      await it.bot()
      const run = await it.begin("write a report")
      const card = await it.cardOf(run)
      expect(card.text).toContain("files_write_file")
      expect(existsSync(report)).toBe(false)
      await it.click(APP1, card, "approve")

      const question = await it.cardOf(run, "answer")
      expect(readFileSync(report, "utf8")).toBe("web was slow")
      await it.click(REQ, question, "answer")
      await answer(it, "String", "Robin Hood")
      const ended = await it.endOf("write a report")
      expect(ended.ended?.how).toBe("done")
      const [read, written, known] = await it.results(ended)
      expect(read).toEqual({ isError: false, output: expect.stringContaining("web is slow since noon") })
      expect(written).toEqual({ isError: false, output: expect.stringContaining("Successfully wrote") })
      expect(known?.output).toContain("Robin Hood")
      await reads(it, "It is written down, and you are known.")
      expect(it.provider.requests.every(({ body }) => body["stream"] === true)).toBe(true)
    } finally {
      await it.close()
      await everything.kill()
    }
  },
)
