import { expect, test } from "vitest"
import { questionsFault, questionsOf } from "../../src/core/questions.ts"
import { pending, pendingOf } from "../../src/core/suspension.ts"

test("questions are read as the tool writes them, and as others do", () => {
  expect(
    questionsOf([
      { question: "Which?", header: "Version", options: ["1", "2", "1"], multiple: true, more: 1 },
      { question: "Why?", header: " " },
      { question: "And?", options: [{ label: "Yes", description: "Go on" }] },
    ]),
  ).toEqual([
    { question: "Which?", header: "Version", options: ["1", "2"], multiple: true },
    { question: "Why?", options: [], multiple: false },
    { question: "And?", options: ["Yes"], multiple: false },
  ])
})

test.each([[undefined], [null], [[]], ["Why?"], [{}], [[1]], [[{ text: "Why?" }]], [[{ question: " " }]], [[{ question: "?", options: [1] }]]])(
  "%j is none of them",
  (value) => {
    expect(questionsOf(value)).toBeUndefined()
    expect(questionsFault("question", value)).toBeUndefined()
  },
) // prettier-ignore

test("nobody is asked for a credential, unless it is a choice or given elsewhere", () => {
  const asks = [{ question: "Go on?" }, { question: "What is your GitHub token?" }]
  expect(questionsFault("question", asks)).toMatch(/GitHub token.*"authorization"/)
  expect(questionsFault("input", [{ question: "It is?", header: "Password" }])).toMatch(/password/)
  expect(questionsFault("authorization", asks)).toBeUndefined()
  expect(questionsFault("question", [{ question: "Which token?", options: ["bot", "user"] }])).toBeUndefined()
})

test("a Request with such a question is refused, and any other comes through verbatim", () => {
  const ask = (questions: unknown) => pending({ kind: "question", prompt: "Well?", data: { questions } })
  expect(() => ask([{ question: "The password?" }])).toThrow(/authorization/)
  const questions = [{ question: "Why?", own: [1, { a: null }] }]
  expect(pendingOf(ask(questions))?.data).toEqual({ questions })
  expect(pendingOf(ask("anything"))?.data).toEqual({ questions: "anything" })
})

test("nobody is asked for a credential by a prompt that is answered in words", () => {
  const schema = { type: "object", properties: { region: { type: "string" } } }
  for (const kind of ["input", "question"]) {
    expect(() => pending({ kind, prompt: "What is the password of the database?" })).toThrow(/prompt.*authorization/)
    expect(() => pending({ kind, prompt: "Your API key, please" })).toThrow(/authorization/)
    expect(() => pending({ kind, prompt: "Which region?" })).not.toThrow()
    // Words around fields ask for nothing themselves.
    expect(() => pending({ kind, prompt: "Where is the token used?", data: { schema } })).not.toThrow()
  }
  expect(() => pending({ kind: "approval", prompt: "Rotate the password of the database?" })).not.toThrow()
  expect(() => pending({ kind: "authorization", prompt: "Your password", url: "https://x.example" })).not.toThrow()
})
