/**
 * What a rule of `approvals` may say about asking, and the file as a default for all rules: who decides, how many, by when,
 * and how they are told. Knows the form of each setting, and asks nobody whether it is true.
 */
import { z } from "zod"
import type { Rule } from "../core/policy.ts"
import type { Asking, When } from "../core/rules.ts"
import { durationOf, ids, mapping, said } from "./forms.ts"

export const duration = z
  .string({ error: said("a duration, such as 30s, 15m, 12h or 14d") })
  .transform((text, context) => {
    const read = durationOf(text)
    if (read.ok) return read.ms
    context.addIssue(read.message)
    return z.NEVER
  })

export const approvers = ids(["U", "S", "C"], "users (U…), user groups (S…) and private channels (C…)")
export const selfApproval = z.union([z.boolean(), z.literal("confirm")], { error: said("true, false or confirm") })

const need = z.enum(["required", "optional"], { error: said("required or optional") })
const PATH = /^[^.\s*]{1,100}(\.[^.\s*]{1,100}){0,20}$/
const MASKED = /^args(\.[^.\s]{1,100}){1,20}$/

const paths = (example: string, pattern: RegExp) =>
  z
    .array(
      z
        .string({ error: said(`a path, such as ${example}`) })
        .regex(pattern, { error: said(`a path, such as ${example}`) }),
      {
        error: said(`a list of paths, such as [ ${example} ]`),
      },
    )
    .min(1, { error: `is empty: leave it out, or put paths, such as [ ${example} ]` })
    .max(50, { error: "has more than 50 paths: put fewer, a * in one stands for every name" })

const remind = z
  .array(duration, { error: said("a list of durations, such as [ 10m, 20m ]") })
  .max(20, { error: "has more than 20 reminders: put fewer" })
  .refine((times) => times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0)), {
    error: "must grow: each reminder is so long after the asking, such as [ 10m, 20m ]",
  })

const escalate = mapping(
  {
    after: duration,
    to: ids(["U", "S", "C"], "users (U…), user groups (S…) and private channels (C…)").min(1, {
      error: "is empty: put whom to bring in, such as [ S0LEADS ]",
    }),
    channel: ids.one(["C"]).optional(),
  },
  "{ after: 15m, to: [ S0LEADS ] }",
).transform(({ channel, ...rest }): NonNullable<Rule["escalate"]> =>
  channel === undefined ? rest : { ...rest, channel },
)

const who = z.enum(["approvers", "requester"], { error: said("approvers or requester") })
const EDIT = "off, approvers or requester, or { by: approvers, votes: true }"
const edit = z
  .union(
    [
      z.literal("off"),
      who,
      mapping({ by: who, votes: z.boolean({ error: said("true or false") }).optional() }, "{ by: approvers }"),
    ],
    { error: said(EDIT) },
  )
  .transform((value): NonNullable<Asking["edit"]> => {
    if (value === "off") return value
    if (typeof value === "string") return { by: value }
    return { by: value.by, ...(value.votes === true ? { votes: true as const } : {}) }
  })

const grant = mapping({ for: duration, same: paths("env", PATH).optional() }, "{ for: 1h, same: [ env ] }").transform(
  ({ for: ms, same }) => (same === undefined ? { for: ms } : { for: ms, same }),
)

/** All of them optional: what a rule leaves out is as in the file, and what the file leaves out is as it always was. */
export const asking = {
  approvers: approvers.min(1, {
    error: "is empty, so nobody could approve: leave it out, and the file's approvers decide",
  }),
  selfApproval,
  quorum: z
    .int({ error: said("a whole number of people from 1 to 20") })
    .min(1, { error: said("a whole number of people from 1 to 20") })
    .max(20, { error: said("a whole number of people from 1 to 20") }),
  expiresIn: duration,
  startWithin: duration,
  notify: z.enum(["mention", "dm", "none"], { error: said("mention, dm or none") }),
  cards: mapping({ channel: ids.one(["C"]) }, "{ channel: C0APPROVALS }").transform(({ channel }) => channel),
  remind,
  escalate,
  reason: mapping({ decline: need.optional(), approve: need.optional() }, "{ decline: required }").transform(
    ({ decline, approve }) => ({ ...(decline ? { decline } : {}), ...(approve ? { approve } : {}) }),
  ),
  edit,
  grant,
  mask: paths("args.token", MASKED),
} as const

/** What makes no sense together. */
const CONTRADICTIONS: { holds: (rule: Asking) => boolean; words: string }[] = [
  {
    holds: ({ quorum = 1, selfApproval: self }) => self === "confirm" && quorum > 1,
    words: "has a quorum with selfApproval: confirm, where the requester alone confirms: take one of them out",
  },
  {
    holds: ({ quorum = 1, grant: granted }) => granted !== undefined && quorum > 1,
    words: "has a grant with a quorum: where several must agree, nobody agrees for the next time. Take one of them out",
  },
  {
    holds: ({ selfApproval: self, grant: granted }) => granted !== undefined && self === "confirm",
    words: "has a grant with selfApproval: confirm: nobody approves there who could grant. Take one of them out",
  },
  {
    holds: ({ expiresIn = Infinity, escalate: up }) => up !== undefined && up.after >= expiresIn,
    words: "escalates after it has expired: put a shorter escalate.after, or a longer expiresIn",
  },
  {
    holds: ({ expiresIn = Infinity, remind: times = [] }) => times.some((time) => time >= expiresIn),
    words: "reminds after it has expired: put shorter times into remind, or a longer expiresIn",
  },
]

/** Why what a rule says in one place makes no sense beside what it says in another; undefined when it does. */
export const contradiction = (rule: Asking): string | undefined =>
  CONTRADICTIONS.find(({ holds }) => holds(rule))?.words

const scalar = z.union([z.string().max(500), z.number(), z.boolean()])
const WANTED = "a value, or a list of values, of which it must be one; * stands for any characters"

/** A key that zod leaves out without a word: the rule would hold for more than it says. */
function mustBeKept(value: unknown, context: z.core.$RefinementCtx): unknown {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : []
  if (keys.some((key) => key.split(".").includes("__proto__"))) {
    context.addIssue("must not name __proto__: no argument may be called that")
  }
  return value
}

/** Dotted paths and the values at which the rule holds. */
export const when = z.preprocess(
  mustBeKept,
  z
    .record(
      z.string().regex(PATH, { error: "must be names with dots between, such as target.region" }),
      z.union([scalar, z.array(scalar).min(1)], { error: said(WANTED) }),
      { error: said("a mapping from paths of args to values, such as { env: prod }") },
    )
    .refine((map) => Object.keys(map).length > 0, { error: "is empty: leave it out, or put { env: prod }" })
    .transform((map): When => map),
)
