// @langchain/langgraph: a model's node, a tool's node that interrupts before it works, and what it saves after each step in
// SQLite (write-ahead log). Its savers for Redis need modules that plain Redis has not (JSON, search).
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { Command, END, INTERRUPT, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph"
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"

const model = ({ messages }) => ({
  messages:
    messages.at(-1).getType() === "tool"
      ? new AIMessage("The web tier was restarted.")
      : new AIMessage({ content: "", tool_calls: [{ id: "call_1", name: "restart", args: { service: "web" } }] }),
})

function tools({ messages }) {
  const [{ id, name, args }] = messages.at(-1).tool_calls
  const answer = interrupt({ kind: "approval", prompt: "Restart web", name, args })
  return { messages: new ToolMessage({ tool_call_id: id, content: answer.ok ? "restarted" : "declined" }) }
}

export async function open({ dir, transcript }) {
  const at = mkdtempSync(join(dir, "langgraph-"))
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", model)
    .addNode("tools", tools)
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? "tools" : END))
    .addEdge("tools", "model")
    .compile({ checkpointer: SqliteSaver.fromConnString(join(at, "runs.db")) })
  return {
    async one() {
      const how = { configurable: { thread_id: randomUUID() } }
      const asked = await graph.invoke({ messages: [new HumanMessage(transcript)] }, how)
      if (!asked[INTERRUPT]) throw new Error("the run was not interrupted")
      const began = performance.now()
      const { messages } = await graph.invoke(new Command({ resume: { ok: true, by: "U0APP" } }), how)
      if (messages.at(-1).text !== "The web tier was restarted.") throw new Error("the run did not end")
      return performance.now() - began
    },
    close: async () => rmSync(at, { recursive: true, force: true }),
  }
}
