/** A life with blows as a seed draws them: the same for the same seed and the same borders. */
import type { Blow, Ordeal } from "./faulted.ts"
import { FAULTS } from "./faults.ts"
import type { Life } from "./lives.ts"
import { seeded } from "./matrix.ts"

/** At most so many blows in one life. */
const BLOWS = 3

/** `known`: lives with the borders of their undisturbed course. */
export function drawn(seed: number, known: readonly { life: Life; borders: readonly string[] }[]): Ordeal {
  const next = seeded(seed)
  const one = known[next(known.length)]
  if (!one) throw new Error("there is no life to draw from")
  const { life, borders } = one
  const blows = Array.from({ length: 1 + next(BLOWS) }, (): Blow[] => {
    const fault = next(3) === 0 ? undefined : FAULTS[next(FAULTS.length)]
    const may = borders.filter((border) => fault?.at.test(border) ?? true)
    const border = may[next(Math.max(may.length, 1))]
    return border === undefined ? [] : [{ fault: fault ?? "killed", border }]
  })
  return { life, variant: next(2) === 0 ? "alone" : "pair", blows: blows.flat() }
}
