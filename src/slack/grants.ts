/**
 * Taking back a grant for a person, by whichever door they come. Whoever may not see its run is told that there is none.
 */
import type { Person, Via } from "../core/fact.ts"
import { grantRef, revoke, type RevokeOutcome } from "../core/grant.ts"
import { mayRevoke, principalsOf } from "../core/policy.ts"
import { wishOf, type Grant } from "../core/run.ts"
import type { Loaded } from "../store/store.ts"
import { words, type Said } from "./blocks/words.ts"
import { attempt } from "./counted.ts"
import { rightOf, type Front } from "./front.ts"
import { unapplied } from "./replies.ts"

export interface Revocation {
  loaded: Loaded
  grant: Grant
  person: Person
  via: Via
  /** The same over retries and redeliveries. */
  cause: string
}

/** What the person is to be told; they are known to see the run. Throws when it can't be looked up. */
export async function revokeGrant(front: Front, how: Revocation): Promise<Said> {
  const { people, lists } = front
  const { loaded, grant, person, via, cause } = how
  const { run } = loaded
  const principals = [...principalsOf(grant.rule), ...lists.admins]
  const asked = { by: grant.by, rule: grant.rule, admins: lists.admins }
  const { who } = await rightOf(people, person, principals, (who) => mayRevoke(asked, wishOf(run), who))
  const saidOf = (outcome: RevokeOutcome): Said => ({ about: "revoke", outcome, ref: grantRef(run, grant) })
  const applied = await attempt<RevokeOutcome>(front, run.id, {
    transition: (run, now) => {
      const { step, outcome } = revoke(run, { grant: grant.id, who, admins: lists.admins, via, cause }, now)
      return { step, outcome, ...(outcome.kind === "denied" ? { refusal: words(saidOf(outcome)) } : {}) }
    },
    gone: { kind: "unknown" },
    cause,
    known: loaded,
  })
  return applied.kind === "applied" ? saidOf(applied.outcome.outcome) : unapplied(applied)
}
