// A bot without Slack, for measuring: the product's store, worker and steps, a model in this process, one tool that must be
// asked about. Whoever waits for a run's ask or end is told by its commits.
import { randomBytes, randomUUID } from "node:crypto"
import { pino } from "pino"
import { createToolkit, defineTool } from "../dist/agent/tool.js"
import { sha256 } from "../dist/core/digest.js"
import { merge } from "../dist/core/run.js"
import { settle } from "../dist/core/settle.js"
import { mintId } from "../dist/core/suspension.js"
import { begin, took } from "../dist/core/turn.js"
import { runIdOf } from "../dist/store/keys.js"
import { Store } from "../dist/store/store.js"
import { startPulse } from "../dist/work/pulse.js"
import { startWorker } from "../dist/work/worker.js"

export const RULE = { approvers: ["U0APP"], selfApproval: false, expiresIn: 3_600_000, startWithin: 900_000 }
const APPROVER = { person: { team: "T1", user: "U0APP" }, standing: "member", member: {} }
const REQUESTER = { team: "T1", user: "U0REQ", name: "Robin" }
export const log = pino({ level: "error" })

/** Bytes of a transcript when its run is parked: what was asked for, and the model's call. */
export const TRANSCRIPT = 2000
const CALL_BYTES = 122

export const text = (bytes) =>
  randomBytes(Math.ceil(bytes / 2))
    .toString("hex")
    .slice(0, bytes)
export const userMessage = (words) => JSON.stringify({ role: "user", content: [{ type: "text", text: words }] })
/** What to ask for, so that the transcript is as long as it should be. */
export const asking = () => text(TRANSCRIPT - CALL_BYTES - userMessage("").length)
export const bytesOf = ({ texts, append }) =>
  [...Object.values(texts), ...append.filter((entry) => typeof entry === "string")].join("").length

const usage = {
  inputTokens: { total: 500, noCache: 500, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
}

/** One call that must be asked about, then the final answer. */
const model = {
  specificationVersion: "v3",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    const asked = prompt.at(-1)?.role === "tool"
    const content = asked
      ? [{ type: "text", text: "The web tier was restarted." }]
      : [{ type: "tool-call", toolCallId: "call_1", toolName: "restart", input: '{"service":"web"}' }]
    return { content, finishReason: { unified: asked ? "stop" : "tool-calls", raw: undefined }, usage, warnings: [] }
  },
}
const tools = await createToolkit({
  extraTools: [
    defineTool({
      name: "restart",
      description: "Restarts a service",
      inputSchema: { type: "object", properties: { service: { type: "string" } } },
      run: () => "restarted",
    }),
  ],
})
export const agent = {
  model,
  tools,
  maxTurns: 20,
  maxTokens: 1e9,
  maxAsksPerTurn: 10,
  retries: 3,
  timeoutMs: 180_000,
  guard: async () => ({
    do: "ask",
    rule: RULE,
    request: { id: mintId(), kind: "approval", prompt: "Restart web" },
  }),
  ruleOf: () => RULE,
}

/** `seen` is told every step that is committed, and what its run is then; `beat` what each look at Redis found. */
export async function openBot(url, prefix, seen = () => {}, beat = () => {}) {
  const waiting = new Map()
  const store = await Store.open({
    url,
    prefix,
    shards: 1,
    confirm: 0,
    outbox: false,
    log,
    onCommit: (id, step, at) => {
      worker.committed(id, at)
      seen(step, at)
      const ask = step.run.asks.find(({ settled }) => !settled)
      if (ask) waiting.get(id)?.asked(ask.id)
      if (step.run.ended) waiting.get(id)?.ended()
    },
  })
  const worker = startWorker({ store, owner: randomUUID(), agentOf: () => agent, log })
  const look = (found) => {
    if (found.agenda !== undefined) worker.wake(found.agenda - found.now)
    beat(found)
  }
  const stopPulse = startPulse(store, look, log)

  /** Starts a run; resolves when it is parked. */
  async function park(transcript) {
    const id = runIdOf("T1", randomUUID(), 1)
    const asked = new Promise((resolve) => waiting.set(id, { asked: resolve, ended: () => {} }))
    await start(store, id, transcript)
    const ask = await asked
    waiting.delete(id)
    return { id, ask }
  }

  /** Start, ask, approve, done; returns the ms from answer to done. */
  async function lifecycle(transcript) {
    const { id, ask } = await park(transcript)
    const ended = new Promise((resolve) => waiting.set(id, { asked: () => {}, ended: resolve }))
    const began = performance.now()
    await click(store, id, ask)
    await ended
    waiting.delete(id)
    return performance.now() - began
  }

  /**
   * Parks a run with the one commit that its states amount to, without a model or a worker: for many thousands. `due` is
   * when nobody has answered in time, ms by Redis' clock.
   */
  async function parkOnce(transcript, due) {
    const id = runIdOf("T1", randomUUID(), 1)
    const how = beginning(id, transcript)
    const parked = (run, now) => {
      if (run) return { outcome: undefined }
      const begun = begin(how, now)
      const rule = due === undefined ? RULE : { ...RULE, expiresIn: due - now }
      return { outcome: undefined, step: merge(begun, took(begun.run, asks(rule), now)) }
    }
    const applied = await store.apply(id, parked, { known: "none" })
    if (applied.kind !== "applied") throw new Error(`the run was not parked: ${JSON.stringify(applied)}`)
    return { id, ask: applied.run.asks[0].id }
  }

  async function close() {
    stopPulse()
    await worker.stop(1000)
    await store.close()
  }

  return { store, park, parkOnce, lifecycle, close }
}

const beginning = (id, transcript) => ({
  id,
  cause: id,
  requester: REQUESTER,
  channel: "C0OPS",
  prompt: "restart the web tier",
  keep: 3_600_000,
  rooted: true,
  via: "command",
  transcript: [userMessage(transcript)],
})

/** The turn that the model above takes first, planned. */
function asks(rule) {
  const call = { type: "tool-call", toolCallId: "call_1", toolName: "restart", input: { service: "web" } }
  const args = JSON.stringify(call.input)
  const next = { do: "ask", rule, request: { id: mintId(), kind: "approval", prompt: "Restart web" } }
  return {
    message: JSON.stringify({ role: "assistant", content: [call] }),
    text: "",
    usage: { prompt: 500, completion: 50 },
    planned: [{ ref: "call_1", tool: "restart", effects: "once", args, digest: sha256(args), next }],
  }
}

export function start(store, id, transcript) {
  const how = beginning(id, transcript)
  const transition = (run, now) => ({ outcome: undefined, ...(run ? {} : { step: begin(how, now) }) })
  return store.apply(id, transition, { known: "none" })
}

/** As a click on a card does: the state is read, then settled. */
export async function click(store, id, ask) {
  const known = await store.load(id)
  const tried = { ask, version: 1, ok: true, who: APPROVER, via: "click", cause: `click:${ask}` }
  const applied = await store.apply(id, (run, now) => settle(run, tried, now), { notAfterMs: 15_000, known })
  if (applied.kind !== "applied" || applied.outcome.kind !== "recorded") {
    throw new Error(`the click was not recorded: ${JSON.stringify(applied)}`)
  }
}
