/**
 * `data.questions` of a Request, as the tool `question` writes them (SPEC §4A): what is asked, and that nobody is asked
 * for a credential. Knows no form and no Slack.
 */
import { credentialWord } from "./credential.ts"
import { isRecord } from "./json.ts"
import type { Request } from "./suspension.ts"

export interface Question {
  question: string
  header?: string
  /** None: an answer in words. */
  options: string[]
  /** Whether several of the options may be chosen. */
  multiple: boolean
}

/** The questions; undefined where they have another shape, which is no fault: they may be somebody else's. */
export function questionsOf(value: unknown): Question[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const questions = value.map(questionOf).filter((question) => question !== undefined)
  return questions.length === value.length ? questions : undefined
}

/** Why these questions can't be put to a person, in words that name the remedy; undefined when they can. */
export function questionsFault(kind: string, value: unknown): string | undefined {
  // Under authorization it is given at the url, not to us.
  if (kind === "authorization") return undefined
  for (const { question, header, options } of questionsOf(value) ?? []) {
    // Choices can't carry a secret; everything that is typed can.
    if (options.length > 0) continue
    const word = credentialWord(question) ?? credentialWord(header ?? "")
    if (word !== undefined) return asksFor(`data.questions ${JSON.stringify(question)}`, word)
  }
  return undefined
}

/** The same of what has a prompt alone and is answered in words. */
export function promptFault({ kind, prompt, data }: Pick<Request, "kind" | "prompt" | "data">): string | undefined {
  const inWords = (kind === "input" || kind === "question") && !isRecord(data?.["schema"])
  const word = inWords && data?.["questions"] === undefined ? credentialWord(prompt) : undefined
  return word === undefined ? undefined : asksFor("the prompt", word)
}

const asksFor = (what: string, word: string): string =>
  `${what} asks for a credential (${word}): ` +
  `passwords, keys, tokens and payment secrets go through kind "authorization" with a url, never through a form`

function questionOf(value: unknown): Question | undefined {
  if (!isRecord(value)) return undefined
  const { question, header, options = [], multiple } = value
  if (typeof question !== "string" || question.trim() === "" || !Array.isArray(options)) return undefined
  const listed = options.map(optionOf)
  const known = listed.filter((option) => option !== undefined)
  if (known.length < listed.length) return undefined
  return {
    question,
    ...(typeof header === "string" && header.trim() !== "" ? { header } : {}),
    options: [...new Set(known)],
    multiple: multiple === true,
  }
}

/** Some write an option as its label and what it means. */
function optionOf(option: unknown): string | undefined {
  const label = isRecord(option) ? option["label"] : option
  return typeof label === "string" ? label : undefined
}
