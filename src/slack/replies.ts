/**
 * Answers to Slack within its three seconds: what the work came to when it is done in time, else a word that claims
 * nothing, and the outcome later. Knows no work in particular.
 */
import { NewerFormat } from "../core/run.ts"
import type { Unapplied } from "../store/store.ts"
import type { Said } from "./blocks/words.ts"

/** How Slack is answered: with nothing, or with what the kind of payload allows. Rejects when it did not get through. */
export type Ack = (answer?: Record<string, unknown>) => Promise<void>

/** ms that Slack waits at most for its ack from here; it shows an error after 3,000. */
export const ACK_WITHIN = 900

/** The result if it is there in time. A failure is for whoever awaits `work` itself. */
export async function inTime<T>(work: Promise<T>, ms = ACK_WITHIN): Promise<{ done: T } | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([work.then((done) => ({ done })), late])
  } finally {
    clearTimeout(timer)
  }
}

/** What is true about a press that was not applied. */
export const unapplied = ({ kind }: Unapplied): Said => ({ about: kind === "not known" ? "not known" : "not recorded" })

/** What is true when looking something up, before anything was to be stored, failed. */
export const failed = (error: unknown): Said => ({ about: error instanceof NewerFormat ? "updating" : "not recorded" })

/** The same about a message, which is written again. */
export function ofMessage(said: Said): Said {
  if (said.about === "not known") return { about: "message not known" }
  return said.about === "not recorded" || said.about === "updating" ? { about: "message not recorded" } : said
}

/** The same about a command, which is sent again and not pressed. */
export function ofCommand(said: Said): Said {
  if (said.about === "not known") return { about: "command not known" }
  return said.about === "not recorded" ? { about: "command not recorded" } : said
}
