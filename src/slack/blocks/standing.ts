/**
 * Where an ask stands: who asked, until when, who may decide and who has, and by what it is known again. Pure; the ids of
 * people become pings only where the card may ping them.
 */
import type { RichTextElement } from "@slack/types"
import { isGrantable } from "../../core/grant.ts"
import { mask } from "../../core/mask.ts"
import { editorsVote, spokeIn } from "../../core/policy.ts"
import { ruleOf, wishOf, type Ask, type Run, type Vote } from "../../core/run.ts"
import type { CardView } from "./card.ts"
import {
  agentIn,
  bold,
  code,
  instant,
  mention,
  nameById,
  nameOf,
  section,
  short,
  until,
  words,
  type Rich,
} from "./rich.ts"
import { alikeWords, grantLabel, grantWords } from "./rule.ts"
import { clip, oneLine } from "./text.ts"

/** Lines about the ask itself. */
export function facts(view: CardView): Rich {
  const { run, ask } = view
  const lines = [
    [
      bold("Asked for by "),
      words(`${nameOf(run.requester)}${agentIn(run)}: “${clip(oneLine(mask(run.title).text), 400)}”${others(run)}`),
    ],
    ...(ask.settled
      ? []
      : [
          [bold("Decide by "), until(ask), words(`. ${silence(view)}`)],
          ...approvals(view),
          [bold("May decide "), ...deciders(view)],
          ...broughtIn(view),
          ...alsoAsked(view),
          ...grantable(view),
        ]),
    [
      bold("Fingerprint "),
      code(short(ask.digest)),
      words(ask.version > 1 ? `, version ${ask.version}` : ""),
      words(" · run "),
      code(run.id),
      ...threadOf(view),
    ],
  ]
  return section(...lines.flatMap((line, index) => (index === 0 ? line : [words("\n"), ...line])))
}

/** Who else spoke in the run: none of them is the second person that an approval is about. */
function others({ speakers = [] }: Run): string {
  if (speakers.length === 0) return ""
  const names = speakers.slice(0, FEW).map(nameOf)
  const rest = speakers.length - names.length
  return `; ${clip(names.join(", "), 400)}${rest > 0 ? ` and ${rest} more` : ""} spoke as well`
}

/** The address of the run's thread, for who reads its card elsewhere. */
function threadOf({ elsewhere }: CardView): ReturnType<typeof words> {
  const link = elsewhere?.link
  return link !== undefined && link.length < 1000
    ? [...words(" · "), { type: "link", url: link, text: "open its thread" }]
    : []
}

const silence = ({ ask }: CardView): string =>
  ask.from === "doubt" ? "Without an answer it counts as failed." : "No answer until then is a no."

/** Where several must agree: who did, and how many are missing. */
function approvals(view: CardView): ReturnType<typeof words>[][] {
  const { quorum, votes } = standing(view.ask)
  if (quorum === 1) return []
  const said = votes.flatMap(({ by, at }, index) => [words(`${index === 0 ? "" : "; "}${nameOf(by)}, `), instant(at)])
  const missing = quorum - votes.length
  const start = votes.length === 0 ? "nobody yet" : ""
  const what = view.ask.from === "doubt" ? "must want it to run again" : "must approve; one decline settles it"
  return [
    [
      bold(`Approved by ${votes.length} of ${quorum}: `),
      words(start),
      ...said,
      words(
        `. ${missing === 1 ? "One more person" : `${missing}${votes.length === 0 ? "" : " more"} people`} ${what}.`,
      ),
    ],
  ]
}

/** Who said yes to this version, and how many must. To say that a call was done takes one. */
export const standing = (ask: Ask): { quorum: number; votes: readonly Vote[] } => ({
  quorum: ruleOf(ask).quorum ?? 1,
  votes: ask.votes ?? [],
})

/** What the button beside Approve stands for. */
function grantable({ ask, args }: CardView): ReturnType<typeof words>[][] {
  const rule = ruleOf(ask)
  if (ask.from !== "guard" || !isGrantable(rule)) return []
  return [
    [
      bold(`“${grantLabel(rule)}”`),
      words(` approves this call and more: ${lowered(clip(grantWords(rule, args), 600))}`),
    ],
  ]
}

/** What whoever approved it let run besides; what became of that is told by the command and the home. */
export function granted({ run, ask, args }: CardView): Rich[] {
  const grant = run.grants?.find((one) => one.ask === ask.id)
  if (!grant) return []
  const alike = clip(alikeWords(grant.rule, args), 400)
  return [
    section(
      bold("And for a while: "),
      `calls of this tool in this run with ${alike} run unasked until `,
      instant(grant.until),
      ", unless that is taken back.",
    ),
  ]
}

const lowered = (sentence: string): string => `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`

/** Whoever decides since nobody answered for a while. */
function alsoAsked({ alsoIn = [], names }: CardView): ReturnType<typeof words>[][] {
  const channels = alsoIn.map((id) => oneLine(names?.[id] ?? `channel ${id}`)).join(", ")
  return channels === "" ? [] : [[bold("Also asked in "), words(clip(channels, 300))]]
}

function broughtIn(view: CardView): ReturnType<typeof words>[][] {
  const { escalated, rule } = view.ask
  if (escalated === undefined || rule.escalate === undefined) return []
  return [
    [
      bold("Brought in "),
      instant(escalated),
      words(": "),
      ...named(view, rule.escalate.to.slice(0, 12)),
      words(", who may decide as well"),
    ],
  ]
}

export function deciders(view: CardView): ReturnType<typeof words>[] {
  const { run, ask } = view
  const { approvers, also = [], selfApproval } = ask.rule
  const { asker } = wishOf(run)
  const spoke = spokeIn(wishOf(run))
  if (selfApproval === "confirm")
    return [...named(view, [asker.user]), words(run.asker ? ", who spoke last" : ", who asked for this run")]
  if (approvers.length === 0) return [words("nobody: no rule that holds for it names an approver")]
  const lists = [approvers, ...also].map((list, index) => [
    ...(index === 0 ? [] : [words(index === 1 ? "; who must also be one of " : " and of ")]),
    ...few(view, list),
  ])
  return [
    ...lists.flat(),
    words(
      selfApproval
        ? ""
        : `; ${clip(spoke.map(nameOf).join(", "), 400)} may only ${ask.from === "doubt" ? "say that it failed" : "decline"}`,
    ),
    words(barred(ask)),
  ]
}

/** Whoever changed the request does not approve it as well, unless the rule lets them. */
function barred({ editors = [], rule }: Ask): string {
  if (editors.length === 0 || editorsVote(rule)) return ""
  const names = clip([...new Set(editors.map(nameOf))].join(", "), 300)
  return `; ${names} changed it and may only decline`
}

function few(view: CardView, list: readonly string[]): ReturnType<typeof words>[] {
  const rest = list.length - FEW
  return [...named(view, list.slice(0, FEW)), ...(rest > 0 ? [words(` and ${rest} more`)] : [])]
}

/** People and groups of one list that are named. */
const FEW = 12

/** People and groups one after another: pinged, or by name. */
function named(view: CardView, ids: readonly string[]): ReturnType<typeof words>[] {
  if (isPinged(view)) return ids.map((id, index) => [...words(index === 0 ? "" : ", "), ...deciderOf(view, id)])
  return [words(clip(ids.map((id) => nameIn(view, id)).join(", "), 1500))]
}

/** Whether anybody is pinged at all. */
const isPinged = ({ ask, mention }: CardView): boolean =>
  !ask.settled && (typeof mention === "boolean" ? mention : mention.length > 0)

const deciderOf = (view: CardView, id: string): RichTextElement[] =>
  view.mention === true || (view.mention !== false && view.mention.includes(id))
    ? [mention(id)]
    : words(nameIn(view, id))

const nameIn = ({ run, names }: CardView, id: string): string =>
  nameById(id, names?.[id] ?? spokeIn(wishOf(run)).find(({ user }) => user === id)?.name)
