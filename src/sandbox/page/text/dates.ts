/** Slack's date tokens, in the viewer's time zone and English. Times of day follow the viewer's clock (12 or 24 hours). */

const english = (options: Intl.DateTimeFormatOptions): ((at: Date) => string) => {
  const format = new Intl.DateTimeFormat("en-US", options)
  return (at) => format.format(at)
}

const hour12 = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions().hour12 ?? true
const timeOf = english({ hour: "numeric", minute: "2-digit", hour12 })
const timeWithSeconds = english({ hour: "numeric", minute: "2-digit", second: "2-digit", hour12 })
const monthDay = english({ month: "long", day: "numeric" })
const weekday = english({ weekday: "long" })
const short = english({ month: "short", day: "numeric", year: "numeric" })
const slash = english({ month: "2-digit", day: "2-digit", year: "numeric" })
const full = english({ dateStyle: "full", timeStyle: "long", hour12 })

const twoDigits = (n: number): string => String(n).padStart(2, "0")
const numeric = (at: Date): string => `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`

function ordinal(day: number): string {
  const teen = day % 100 > 10 && day % 100 < 14
  return `${day}${(teen ? undefined : ["th", "st", "nd", "rd"][day % 10]) ?? "th"}`
}

const plain = (at: Date): string => `${monthDay(at).replace(/\d+$/, ordinal(at.getDate()))}, ${at.getFullYear()}`
const long = (at: Date): string => `${weekday(at)}, ${plain(at)}`

function pretty(at: Date, now: Date, otherwise: (at: Date) => string): string {
  const dayOf = (date: Date): number => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000
  const name = ["yesterday", "today", "tomorrow"][dayOf(at) - dayOf(now) + 1]
  return name ?? otherwise(at)
}

function ago(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000)
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ]
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit)
  }
  return relative.format(seconds, "second")
}

const written: Record<string, (at: Date, now: Date) => string> = {
  date_num: numeric,
  date_slash: slash,
  date: plain,
  date_short: short,
  date_long: long,
  date_long_full: plain,
  date_pretty: (at, now) => pretty(at, now, plain),
  date_short_pretty: (at, now) => pretty(at, now, short),
  date_long_pretty: (at, now) => pretty(at, now, long),
  day_divider_pretty: (at, now) => pretty(at, now, long),
  time: timeOf,
  time_secs: timeWithSeconds,
  ago,
}

/** The text of a date token (`seconds` since 1970), or the fallback when the time or a token of the format is unknown. */
export function dateText(seconds: number, format: string, fallback: string, now: Date): string {
  const at = new Date(seconds * 1000)
  if (Number.isNaN(at.getTime())) return fallback
  let known = true
  const text = format.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string, offset: number) => {
    const write = Object.hasOwn(written, name) ? written[name] : undefined
    known &&= write !== undefined
    const piece = write?.(at, now) ?? whole
    return offset === 0 && /^[a-z]/.test(piece) ? piece.charAt(0).toUpperCase() + piece.slice(1) : piece
  })
  return known ? text : fallback
}

export const clock = (at: Date): string => timeOf(at)
export const fullDate = (at: Date): string => full(at)
export const dayName = (at: Date, now: Date): string => dateText(at.getTime() / 1000, "{day_divider_pretty}", "", now)
