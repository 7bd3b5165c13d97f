/**
 * What differs between two versions of a call's args, place by place, as it may be shown: masked like the args themselves.
 */
import { isRecord } from "../../core/json.ts"
import { mask, shownArgs } from "../../core/mask.ts"
import { Kept } from "./kept.ts"
import { clip, oneLine, visibleJson } from "./text.ts"

export interface Difference {
  /** With dots. */
  path: string
  before: string
  after: string
}

/** Places that are shown. */
const MOST = 12
const ROOM = 160

interface Differences {
  lines: Difference[]
  /** How many further places differ. */
  more: number
}

const found = new Kept<Differences>()

/** Both are canonical texts. */
export const differences = (before: string, after: string, paths: readonly string[] = []): Differences =>
  found.get([before, after, paths], () => between(before, after, paths))

function between(before: string, after: string, paths: readonly string[]): Differences {
  const [was, is] = [leavesOf(before), leavesOf(after)]
  // What is shown is masked; what is compared is not: a masked value that changed is a change.
  const [wasShown, isShown] = [leavesOf(shownArgs(before, paths).text), leavesOf(shownArgs(after, paths).text)]
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((path) => was.get(path) !== is.get(path))
  const lines = changed.slice(0, MOST).map((path) => ({
    path: path === "" ? "(all)" : clip(oneLine(mask(path).text), 120),
    before: shownAt(wasShown, was, path),
    after: shownAt(isShown, is, path),
  }))
  return { lines, more: changed.length - lines.length }
}

function shownAt(shown: ReadonlyMap<string, string>, real: ReadonlyMap<string, string>, path: string): string {
  if (!real.has(path)) return "(not there)"
  return clip(visibleJson(shown.get(path) ?? "(masked)"), ROOM)
}

/** By path, each value that has no further names in it, as JSON. */
function leavesOf(text: string): Map<string, string> {
  const found = new Map<string, string>()
  try {
    collect(JSON.parse(text), "", found)
  } catch {
    // A masked text need not be JSON.
  }
  return found
}

function collect(value: unknown, path: string, found: Map<string, string>): void {
  const entries = isRecord(value) ? Object.entries(value) : []
  if (entries.length === 0) found.set(path, JSON.stringify(value) ?? "")
  for (const [key, one] of entries) {
    // A name with dots in it is another place than names with dots between them.
    const name = key.includes(".") ? JSON.stringify(key) : key
    collect(one, path === "" ? name : `${path}.${name}`, found)
  }
}
