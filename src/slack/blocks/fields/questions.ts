/**
 * The form for `data.questions` of a Request: each question with its choices, or as a text to write, and the answers
 * read back. Source of the shape: SPEC §4A, the tool `question`. Opens nothing and decides nothing.
 */
import { credentialWord } from "../../../core/credential.ts"
import { isRecord } from "../../../core/json.ts"
import type { Read } from "../fields.ts"
import { cost, oneLine } from "../text.ts"
import { blocksOf, quoted, saidIn, say, unsent, type Blocks, type Control, type Unfit } from "./control.ts"

interface Question {
  question: string
  header?: string
  /** Nothing listed: an answer in words. */
  options: { value: string; title?: string }[]
  multiple: boolean
}

/** What a label holds, with room for how Slack counts. */
const LABEL = 1900

/**
 * An input block for each question. Of none, and of what has another shape than the tool's (`question`, and as it pleases
 * `header`, `options`, `multiple`), no form is made; nor of a question for a credential.
 */
export function questionBlocks(questions: unknown): Blocks {
  const plan = planOf(questions)
  return plan.ok ? { ok: true, blocks: plan.blocks } : plan
}

/**
 * The answer's data, `{ answers: [{ question, answer }] }` in the order of the questions: `answer` is the option, a list
 * of options where several may be chosen, or the words.
 */
export function readQuestions(questions: unknown, values: unknown): Read {
  const plan = planOf(questions)
  if (!plan.ok) return { ok: false, errors: unsent(values, plan.why) }
  const { said, errors } = saidIn(values, plan.questions.map(controlOf))
  for (const [index, answer] of said.entries()) {
    if (answer === undefined) errors[plan.blocks[index]?.block_id ?? ""] ??= "Please answer this."
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors }
  const answers = plan.questions.map(({ question }, index) => ({ question, answer: said[index] }))
  return { ok: true, data: { answers } }
}

function planOf(value: unknown): (Extract<Blocks, { ok: true }> & { questions: Question[] }) | Unfit {
  const list: unknown[] = Array.isArray(value) ? value : []
  const questions = list.map(questionOf).filter((question) => question !== undefined)
  if (list.length === 0 || questions.length < list.length) return { ok: false, why: "the questions can't be read" }
  const why = questions.map(faultOf).find((fault) => fault !== undefined)
  if (why !== undefined) return { ok: false, why }
  const made = blocksOf(questions.map(controlOf))
  return made.ok ? { ...made, questions } : made
}

function questionOf(value: unknown): Question | undefined {
  if (!isRecord(value)) return undefined
  const { question, header, options = [], multiple } = value
  if (typeof question !== "string" || question.trim() === "" || !Array.isArray(options)) return undefined
  const listed = options.map(choiceOf)
  const known = new Map(listed.map((option) => [option?.value, option]))
  if (known.has(undefined)) return undefined
  const one: Question = {
    question,
    options: [...known.values()].filter((option) => option !== undefined),
    multiple: multiple === true,
  }
  return typeof header === "string" && header.trim() !== "" ? { ...one, header } : one
}

/** Some write an option as its label and what it means. */
function choiceOf(option: unknown): Question["options"][number] | undefined {
  if (typeof option === "string") return { value: option }
  const label = isRecord(option) ? option["label"] : undefined
  return typeof label === "string" ? { value: label } : undefined
}

/** Choices can't carry a secret; everything that is typed can. */
function faultOf({ question, header, options }: Question): string | undefined {
  if (cost(oneLine(question)) > LABEL) return `a question has more than ${LABEL.toLocaleString("en-US")} characters`
  if (options.length > 0) return undefined
  const word = credentialWord(question) ?? credentialWord(header ?? "")
  return word === undefined
    ? undefined
    : `${quoted(question)} asks for a credential (${word}): passwords, keys, tokens and payment secrets go through kind "authorization" with a url, never through a form`
}

function controlOf({ question, header, options, multiple }: Question): Control {
  const hint = header === undefined ? undefined : say(header, 200)
  if (options.length === 0) {
    return {
      label: question,
      hint,
      optional: false,
      input: { kind: "text", type: "plain_text_input", multiline: true },
    }
  }
  const several = multiple
  return {
    label: question,
    hint,
    // Of several none may be meant.
    optional: several,
    ...(several ? { empty: [] } : {}),
    input: { kind: "choice", choices: options, several },
  }
}
