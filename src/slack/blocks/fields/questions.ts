/**
 * The form for `data.questions` of a Request: each question with its choices, or as a text to write, and the answers
 * read back. Source of the shape: SPEC §4A, the tool `question`. Opens nothing and decides nothing.
 */
import { questionsFault, questionsOf, type Question } from "../../../core/questions.ts"
import type { Read } from "../fields.ts"
import { cost, oneLine } from "../text.ts"
import { blocksOf, saidIn, say, unsent, type Blocks, type Control, type Unfit } from "./control.ts"

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
  const questions = questionsOf(value)
  if (questions === undefined) return { ok: false, why: "the questions can't be read" }
  if (questions.some(({ question }) => cost(oneLine(question)) > LABEL)) {
    return { ok: false, why: `a question has more than ${LABEL.toLocaleString("en-US")} characters` }
  }
  const fault = questionsFault("question", value)
  if (fault !== undefined) return { ok: false, why: fault }
  const made = blocksOf(questions.map(controlOf))
  return made.ok ? { ...made, questions } : made
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
    input: { kind: "choice", choices: options.map((value) => ({ value })), several },
  }
}
