/**
 * What a check found, as whole sentences: the place, what is wrong there, and its remedy. It looks at nothing itself.
 */

export interface Report {
  /** With these the bot can't do its work. */
  faults: string[]
  /** With these neither, but they pass: who is asked doesn't answer just now. */
  outages: string[]
  /** What is allowed but probably not meant, what may be mended while the bot runs, and what couldn't be checked. */
  warnings: string[]
}

export const fault = (...faults: string[]): Report => ({ faults, outages: [], warnings: [] })
export const outage = (...outages: string[]): Report => ({ faults: [], outages, warnings: [] })
export const warning = (...warnings: string[]): Report => ({ faults: [], outages: [], warnings })

/** All of them as one, each sentence once. */
export function together(...reports: readonly Report[]): Report {
  const unique = (all: string[][]): string[] => [...new Set(all.flat())]
  return {
    faults: unique(reports.map((one) => one.faults)),
    outages: unique(reports.map((one) => one.outages)),
    warnings: unique(reports.map((one) => one.warnings)),
  }
}

/** One line of text that others wrote, fit for a terminal: without control and format characters. */
export function plain(text: string): string {
  const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…`.toWellFormed() : line
}

/** Characters of it: enough to know what it is. */
const LONGEST = 200
