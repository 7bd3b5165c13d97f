// A job a run, whose state is its data. The job that waits for a person is a delayed one: its delay is the deadline, and the
// answer is written to it before it is promoted. Whoever wants to know is told by the worker.
import { DelayedError, Queue, Worker } from "bullmq"
import { Redis } from "ioredis"
import { arrivals } from "../measure.mjs"

const HOUR = 3_600_000
const ASK = { kind: "approval", prompt: "Restart web", approvers: ["U0APP"], tool: "restart", args: { service: "web" } }

export async function open({ url, transcript }) {
  const connect = () => new Redis(url, { maxRetriesPerRequest: null })
  const queue = new Queue("runs", {
    connection: connect(),
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  })
  const parked = new Map()
  const ended = new Map()
  const told = (whom, id) => {
    whom.get(id)?.()
    whom.delete(id)
  }

  let seen

  async function step(job, token) {
    const { ask, answer } = job.data
    if (!ask) {
      // The model's turn: a call that must be asked about.
      const at = Date.now() + HOUR
      await job.updateData({ ...job.data, ask: { ...ASK, notAfter: at } })
      await job.moveToDelayed(at, token)
      told(parked, job.id)
      throw new DelayedError()
    }
    if (!answer) {
      await job.updateData({ ...job.data, answer: { ok: false, reason: "expired", at: Date.now() } })
      seen?.recorded(Date.now() - ask.notAfter, Date.now() >= ask.notAfter)
      return "Nobody answered in time."
    }
    // Before the call starts, so that it is never started twice; then its result, and the model's last turn.
    await job.updateData({ ...job.data, running: true })
    await job.updateData({ ...job.data, running: false, output: "restarted" })
    return "The web tier was restarted."
  }

  const worker = new Worker("runs", step, { connection: connect(), concurrency: 200 })
  worker.on("completed", (job) => {
    told(ended, job.id)
    seen?.ended(job.id)
  })
  worker.on("error", (error) => console.error(error))
  await worker.waitUntilReady()

  let count = 0
  return {
    async one() {
      const jobId = `run-${process.pid}-${count++}`
      const isParked = new Promise((resolve) => parked.set(jobId, resolve))
      await queue.add("run", { transcript }, { jobId })
      await isParked
      const isEnded = new Promise((resolve) => ended.set(jobId, resolve))
      const began = performance.now()
      const job = await queue.getJob(jobId)
      await job.updateData({ ...job.data, answer: { ok: true, by: "U0APP", at: Date.now() } })
      await job.promote()
      await isEnded
      return performance.now() - began
    },
    async parkDue({ count, from, every }) {
      for (let i = 0; i < count; i += 1000) {
        const jobs = Array.from({ length: Math.min(1000, count - i) }, (_, k) => {
          const at = Math.floor(from + every * (i + k))
          const data = { transcript, ask: { ...ASK, notAfter: at } }
          return { name: "run", data, opts: { jobId: `due-${i + k}`, delay: at - Date.now() } }
        })
        await queue.addBulk(jobs)
      }
      seen = arrivals(count, from)
      return Date.now() < from
    },
    due: ({ ms }) => seen.all(ms),
    async close() {
      await worker.close()
      await queue.close()
    },
  }
}
