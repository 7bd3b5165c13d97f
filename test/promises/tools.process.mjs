/**
 * Tools of the whole-bot tests. Each execution adds a line to a file of the team's, which survives a SIGKILL; a call whose
 * args say so waits until the file that they name exists.
 */
import { appendFileSync, existsSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"

const count = (file, name, args, ctx) => {
  const line = JSON.stringify({
    name,
    args,
    answer: ctx?.answer,
    callId: ctx?.callId,
    attempt: ctx?.attempt,
    pid: process.pid,
  })
  appendFileSync(file, `${line}\n`)
}

/** Polling a file is the only way to be released that a killed and restarted process has, too. */
const released = async (file, signal) => {
  while (file !== undefined && !existsSync(file)) await delay(20, undefined, { signal })
}

const any = { type: "object", properties: { holdFile: { type: "string" } }, additionalProperties: true }

const counting = (file) => (name, effects, result) => ({
  name,
  description: `${name} (${effects})`,
  effects,
  inputSchema: any,
  async run(args, ctx) {
    count(file, name, args, ctx)
    await released(args.holdFile, ctx?.signal)
    return result(args, ctx)
  },
})

/** All of them, as a module lists its tools. */
export const toolsCounting = (file) => list(counting(file))

const list = (counted) => [
  counted("read", "none", (args) => args.text ?? "read it"),
  counted("restart", "once", () => "restarted"),
  counted("scale", "repeatable", () => "scaled"),
  counted("page", "once", () => "paged"),
  counted("fail", "once", () => {
    throw new Error("the disk is full")
  }),
  // Suspends by itself until it is answered.
  counted("confirm", "once", (args, ctx) =>
    ctx?.answer
      ? `confirmed with ${JSON.stringify(ctx.answer.data)}`
      : {
          output: args.prompt,
          isError: true,
          metadata: {
            pending: {
              id: args.id ?? `own-${ctx.attempt}`,
              kind: args.kind ?? "approval",
              prompt: args.prompt ?? "Really?",
              ...(args.url ? { url: args.url } : {}),
              ...(args.expiresAt ? { expiresAt: args.expiresAt } : {}),
            },
          },
        },
  ),
  // Suspends whatever it is told.
  counted("insist", "once", () => ({
    output: "?",
    isError: true,
    metadata: { pending: { id: `own-${Math.random()}`, kind: "approval", prompt: "Again?" } },
  })),
]
