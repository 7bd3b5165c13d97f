/**
 * Asks the model for its next turn, with the conversation kept within what it reads at once. Changes nothing in the run but that
 * conversation; what becomes of an answer is not known here.
 */
import { bytesBeside, isTooLong, summarise } from "./summary.ts"
import type { Agent, Held } from "./agent.ts"
import { conversationOf, messagesOf } from "./conversation.ts"
import type { Deadline } from "./deadline.ts"
import { leaveOut } from "./files.ts"
import { takeTurn } from "./model.ts"
import type { Turn } from "./model.ts"
import type { Tool } from "./tool.ts"

/** The turn; or the conversation was shortened, and the model is to be asked in a step of its own. */
export async function asked(
  held: Held,
  agent: Agent,
  { tools, limit }: { tools: readonly Tool[]; limit: Deadline },
): Promise<Turn | { shortened: true }> {
  const { model, instructions, wishes } = agent
  const said = conversationOf(await held.transcript())
  if (isTooLong(held, agent, { said, beside: bytesBeside(tools, instructions) })) {
    const shortened = await summarise(held, agent, { said, all: false, limit })
    if (shortened) return shortened
  }
  const onText = listener(held, agent)
  const messages = messagesOf(said)
  const take = (): Promise<Turn> => takeTurn(model, { messages, tools, instructions, wishes, onText, limit })
  let taken = await take()
  if (taken.ok || !taken.tooLong) return taken
  const shortened = await summarise(held, agent, { said, all: true, limit })
  if (shortened) return shortened
  // What was said last stays as it was said, but for what came with it.
  if (leaveOut(model, messages)) taken = await take()
  if (taken.ok || !taken.tooLong) return taken
  return said.summary ? { ...taken, words: `${taken.words}, even after it was summarised` } : taken
}

function listener(held: Held, { live }: Agent): ((delta: string) => void) | undefined {
  const said = live?.said
  said?.(held.run(), "")
  return said && ((delta) => said(held.run(), delta))
}
