/**
 * Attempts at executing a call: whether one has a mark in the run, and whose outcome a call waits for. Pure questions about a
 * call; knows no run and no store.
 */
import type { Call } from "./run.ts"

/** The Request whose yes the call may start by, or which a grant made needless; undefined when nobody need be asked. */
export const requestOf = ({ yes, grant }: Call): string | undefined => yes?.ask ?? grant?.request

/** Whether an attempt of the call has a mark: of one without effects only for the sake of a yes or a grant, which age. */
export const isMarked = (call: Call): boolean => call.effects !== "none" || requestOf(call) !== undefined

/** Whether this very attempt is under way, or in doubt. */
export const isRunning = (call: Call, attemptId: string): boolean =>
  call.state === "running" && call.attempt?.id === attemptId

/**
 * Whether the store knows nothing (any more) of an attempt that whoever ran it knows to have begun: what it acknowledged was
 * taken back, the mark or the yes as well. Told by the yes, for one lets a call begin once.
 */
export function isUnbegun(call: Call, began: Call | undefined): boolean {
  if (!began || !isMarked(began) || call.digest !== began.digest) return false
  if (call.state === "ready") return requestOf(call) === requestOf(began)
  return call.state === "asked" && call.ask === requestOf(began)
}

/** Whether the attempt's outcome is waited for; one without a mark leaves its call ready. */
export const isOf = (call: Call, attemptId: string): boolean =>
  (call.state === "ready" && !isMarked(call)) || isRunning(call, attemptId)
