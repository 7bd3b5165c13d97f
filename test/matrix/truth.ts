/**
 * Whether what people were told privately is true, by what is stored. Words that nobody can check are a finding as well: a
 * new one is added here with what makes it true.
 */
import type { Fact } from "../../src/core/fact.ts"
import type { Kept } from "./cell.ts"

export interface Word {
  who: string
  text: string
}

interface Told extends Word {
  kept: readonly Kept[]
  facts: readonly Fact[]
}

const some = (facts: readonly Fact[], how: Partial<Pick<Fact, "what" | "outcome">>, who?: string): boolean =>
  facts.some(
    (fact) =>
      (how.what === undefined || fact.what === how.what) &&
      (how.outcome === undefined || fact.outcome === how.outcome) &&
      (who === undefined || fact.by?.user === who),
  )

/** What an ask was settled as, by the words for it. */
const OUTCOMES: Record<string, string> = {
  approved: "approved",
  answered: "approved",
  declined: "declined",
  failed: "declined",
  expired: "expired",
  cancelled: "cancelled",
  "run again": "again",
  "was done": "done",
  "outcome known": "known",
}

/** By the beginning of what is said. */
const TRUE: [RegExp, (told: Told, match: RegExpExecArray) => boolean][] = [
  [/^Started\. Its message/, ({ kept }) => kept.length > 0],
  [
    /^Started “(.*)”\. Its thread: /,
    ({ kept }, [, title]) => kept.some(({ run }) => run.rooted && run.title === title),
  ],
  [/^Received\. I'll tell you/, () => true],
  [/^Not known yet whether/, () => true],
  [/^Not recorded: nothing/, () => true],
  [/^Not (recorded|changed|cancelled)\. I can't check your rights now/, () => true],
  [/^Nothing was recorded/, () => true],
  [/^(Paused:|It is paused already|Resumed:|Nothing to resume)/, () => true],
  // An admin's word. That no line is lost, the audit itself shows.
  [/^I can't post to the audit channel /, () => true],
  [/^\d+ waiting for you, \d+ runs? of yours$/, () => true],
  [
    /^Recorded: (approved|answered|declined|failed|run again|was done), /,
    ({ facts, who }, [, what = ""]) => some(facts, { what: "settled", outcome: OUTCOMES[what] ?? "?" }, who),
  ],
  [/^Recorded: your yes to /, ({ facts, who }) => some(facts, { what: "voted" }, who)],
  [/^You have approved .* already/, ({ facts, who }) => some(facts, { what: "voted" }, who)],
  [
    /^Already settled: (approved|answered|declined|failed|run again|was done|outcome known|cancelled), /,
    ({ facts }, [, what = ""]) => some(facts, { what: "settled", outcome: OUTCOMES[what] ?? "?" }),
  ],
  [/^Not \w+[.:] I can't check your rights now/, () => true],
  [
    /^Slack no longer lets me write in the channel of your run /,
    ({ kept, facts }) => some(facts, { what: "cancelled" }) || kept.some(({ run }) => run.ended !== undefined),
  ],
  [
    /^Slack did not take (a card|the last message) of your run /,
    ({ kept, facts }) => some(facts, { outcome: "cancelled" }) || kept.some(({ run }) => run.ended !== undefined),
  ],
  [/^“.*”: Stopped before anything was done/, ({ facts }) => some(facts, { what: "cancelled" })],
  [/^Too late: /, ({ facts }) => some(facts, { what: "expired" })],
  [/^Changed: .* is now version/, ({ facts, who }) => some(facts, { what: "edited" }, who)],
  [/^Nothing was changed: the arguments are the same/, ({ facts }) => some(facts, { what: "edited" })],
  [/^Not (changed|recorded): .*(somebody changed|has changed since)/, ({ facts }) => some(facts, { what: "edited" })],
  [/^Cancelled: nothing new will start/, ({ facts, who }) => some(facts, { what: "cancelled" }, who)],
  [/^Nothing to cancel: the run is over/, ({ kept }) => kept.some(({ run }) => run.ended !== undefined)],
]

export function falseWords({ words, kept }: { words: readonly Word[]; kept: readonly Kept[] }): string[] {
  const facts = kept.flatMap((one) => one.facts)
  return words.flatMap(({ who, text }) => {
    for (const [pattern, isTrue] of TRUE) {
      const match = pattern.exec(text)
      if (match) return isTrue({ who, text, kept, facts }, match) ? [] : [`truth: ${who} was told “${text}”`]
    }
    return [`truth: ${who} was told what nobody can check: “${text}”`]
  })
}
