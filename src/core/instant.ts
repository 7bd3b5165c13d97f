/** Instants as RFC 3339 writes them. Never guesses a zone. */

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/i

/** The instant of an RFC 3339 text, in ms since 1970 UTC; undefined for anything else, a time without a zone included. */
export function instantOf(text: string): number | undefined {
  const match = RFC3339.exec(text)
  if (match === null) return undefined
  const field = (index: number) => Number(match[index] ?? "0")
  const day = dayOf(field(1), field(2), field(3))
  const inDay = clockOf(field(4), field(5), field(6))
  const offset = clockOf(field(9), field(10), 0)
  if (day === undefined || inDay === undefined || offset === undefined) return undefined
  const fraction = Math.trunc(Number(`0${match[7] ?? ""}`) * 1000)
  return day + inDay + fraction - (match[8] === "-" ? -offset : offset)
}

function dayOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(0)
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}

/** A second of 60 is a leap second, and the same instant as the next minute. */
function clockOf(hour: number, minute: number, second: number): number | undefined {
  return hour > 23 || minute > 59 || second > 60 ? undefined : ((hour * 60 + minute) * 60 + second) * 1000
}
