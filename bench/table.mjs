// The one table that all groups fill: what was measured, ours, what it is beside, the ratio, the target and whether it is met.

const n = (value, digits) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })

/** A number as people read it: whole from a hundred on, three digits below. */
export const shown = (value) => {
  if (!Number.isFinite(value)) return "-"
  const size = Math.abs(value)
  return n(value, size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2)
}

const measured = (value, unit) => `${shown(value)} ${unit}`.trim()
const VERDICTS = new Map([
  [true, "yes"],
  [false, "NO"],
  [undefined, ""],
])

function targetOf({ least, most }, unit) {
  if (least !== undefined) return { words: `≥ ${least} ${unit}`.trim(), met: (value) => value >= least }
  if (most !== undefined) return { words: `≤ ${most} ${unit}`.trim(), met: (value) => value <= most }
}

const HEAD = ["what", "countersign", "beside", "", "ratio", "target", "met"]
const LEFT = new Set([0, 3])

export class Table {
  #rows = []

  /** A heading, under which the following rows stand. */
  group(title) {
    this.#rows.push({ title })
  }

  /**
   * One measure: `ours` and what it is `beside` ({ name, value }) in `unit`. The target is of the ratio ours / beside where
   * something is beside, else of ours: `least` or `most` it may be. `ratio`: when it is not the quotient (a median of rounds).
   */
  add({ what, unit = "", ours, beside, ratio, least, most, note = "" }) {
    const quotient = beside && (ratio ?? ours / beside.value)
    const target = targetOf({ least, most }, beside ? "×" : unit)
    const met = target?.met(quotient ?? ours)
    const [other, name, times] = beside ? [measured(beside.value, unit), beside.name, shown(quotient)] : ["", note, ""]
    const cells = [what, measured(ours, unit), other, name, times, target ? target.words : "", VERDICTS.get(met)]
    this.#rows.push({ met, cells })
    console.error(`  ${cells.filter((cell) => cell !== "").join(" · ")}`)
  }

  /** Something that could not be measured here, and why. */
  missing(what, why) {
    this.#rows.push({ cells: [what, "-", "", why, "", "", ""] })
  }

  get isEmpty() {
    return this.#rows.length === 0
  }

  text() {
    const all = [HEAD, ...this.#rows.flatMap(({ cells }) => (cells ? [cells] : []))]
    const widths = HEAD.map((_, column) => Math.max(...all.map((cells) => cells[column].length)))
    const line = (cells) =>
      cells
        .map((cell, column) => (LEFT.has(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join("  ")
        .trimEnd()
    const rows = this.#rows.map((row) => (row.title ? `\n${row.title}` : line(row.cells)))
    const judged = this.#rows.filter(({ met }) => met !== undefined)
    const summary = `${judged.filter(({ met }) => met).length} of ${judged.length} targets met`
    return [line(HEAD), ...rows, "", summary].join("\n")
  }
}
