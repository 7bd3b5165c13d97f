/**
 * One window of every kind, made by the very functions that make the real ones: what tests pin. Made up from end to end.
 */
import type { InputBlock, ModalView } from "@slack/types"
import type { Fact } from "../../core/fact.ts"
import { detailsView } from "./details.ts"
import { fieldsOf } from "./fields.ts"
import { editFields } from "./fields/edit.ts"
import { answerInFields, answerInWords, checking, editForm, reasonForm, sayingView } from "./forms.ts"
import { grantWords } from "./rule.ts"
import {
  ANA,
  AT,
  BEN,
  CID,
  edit,
  FREE,
  long,
  MINUTE,
  partly,
  REASONS,
  ruled,
  sampleAsk,
  sampleRun,
  sampleView,
  SCHEMA,
} from "./samples.ts"
import { placeOf, signInView, type Place } from "./sign-in.ts"
import { words } from "./words.ts"

const REF = { run: sampleRun.id, ask: "pnd-5f3a", version: 1 }
const carried = { ref: REF, back: { channel: "C0OPS", thread: "1764415800.000100" } }
const about = { tool: "restart", args: `{"service":"web"}`, fingerprint: "3c2f9a7be01d" }
const blocksIn = (made: ReturnType<typeof fieldsOf>): InputBlock[] => (made.ok ? made.blocks : [])

const fact = (n: number, change: Partial<Fact>): Fact => ({
  run: sampleRun.id,
  n,
  at: AT + n * MINUTE,
  prev: "",
  hash: "",
  what: "asked",
  via: "bot",
  ask: "pnd-5f3a",
  call: "1.1",
  tool: "restart",
  version: 1,
  ...change,
})
const HISTORY = [
  fact(0, { outcome: "guard" }),
  fact(1, { what: "shown" }),
  fact(2, { what: "refused", via: "click", by: { ...ANA }, outcome: "own request", repeats: 3 }),
  fact(3, { what: "edited", via: "form", by: BEN, version: 2 }),
  fact(4, { what: "voted", via: "click", by: CID, version: 2, outcome: "1 of 3", note: "looks right" }),
]

/** The windows, by name. */
export function sampleViews(): Map<string, ModalView> {
  const view = sampleView(edit.view, { ...edit.ask, ...ruled({ ...FREE, ...REASONS, quorum: 3 }), ...partly })
  return new Map<string, ModalView>([
    ["checking", checking("reason", { ...carried, says: "decline" })],
    [
      "saying",
      sayingView(
        "answer",
        words({ about: "decision", outcome: { kind: "denied", ask: sampleAsk(), why: "not listed" } }),
      ),
    ],
    ["reason for a no", reasonForm({ ...carried, says: "decline" }, { ...about, need: "required" })],
    [
      "reason for a grant",
      reasonForm(
        { ...carried, says: "grant" },
        { ...about, need: "optional", more: grantWords({ ...sampleAsk().rule, ...FREE }) },
      ),
    ],
    ["answer in words", answerInWords(carried, "Which of the two?\n• web-1\n• web-2")],
    ["answer in fields", answerInFields(carried, "Where to, and how?", blocksIn(fieldsOf(SCHEMA)))],
    [
      "edit",
      editForm(
        carried,
        { ...about, kept: ["token", "headers.authorization"], votes: false },
        blocksIn(editFields(SCHEMA, { env: "prod", replicas: 2 })),
      ),
    ],
    ["details", detailsView({ ...view, history: HISTORY })],
    ["details of a long call", detailsView({ ...long, history: [] })],
    ["sign-in", signInView("cloud", placed("https://login.example/device?flow=42&scope=read"))],
    ["sign-in to look at closely", signInView("cloud", placed("https://xn--pple-43d.com/device?next=%2561"))],
  ])
}

function placed(url: string): Place {
  const place = placeOf(url, [new URL(url).hostname])
  if (!place.ok) throw new Error(place.why)
  return place
}
