import { expect, test } from "vitest"
import { replyOfAnswer, requestOfElicitation } from "../../src/core/elicitation.ts"
import { answerDeclined, answerOutput } from "../../src/core/suspension.ts"

const requestedSchema = { type: "object", properties: { env: { type: "string" } } }

test("a form becomes an input with its schema and no url", () => {
  const request = requestOfElicitation({ message: "Where to?", requestedSchema })
  expect(request).toEqual({ id: request.id, kind: "input", prompt: "Where to?", data: { schema: requestedSchema } })
  expect(request.id).not.toBe(requestOfElicitation({ message: "Where to?", requestedSchema }).id)
})

test("a url becomes an authorization without data", () => {
  const request = requestOfElicitation({ mode: "url", message: "Log in", url: "https://a.example" })
  expect(request).toEqual({ id: request.id, kind: "authorization", prompt: "Log in", url: "https://a.example" })
})

test("no message is an empty prompt", () => {
  expect(requestOfElicitation({ requestedSchema }).prompt).toBe("")
})

test("a form that asks for a password is refused", () => {
  const schema = { type: "object", properties: { password: { type: "string" } } }
  expect(() => requestOfElicitation({ message: "Log in", requestedSchema: schema })).toThrow(/authorization/)
})

test("a yes is accept with its data, or with none", () => {
  expect(replyOfAnswer({ id: "r", ok: true, data: { env: "prod" } })).toEqual({
    action: "accept",
    content: { env: "prod" },
  })
  expect(replyOfAnswer({ id: "r", ok: true })).toEqual({ action: "accept", content: {} })
  expect(replyOfAnswer(answerOutput("r", "x"))).toEqual({ action: "accept", content: { output: "x" } })
})

test("only an explicit refusal is decline; every other no is cancel", () => {
  expect(replyOfAnswer(answerDeclined("req-6"))).toEqual({ action: "decline" })
  for (const reason of ["expired", "cancelled", "manager rejected: over budget", ""]) {
    expect(replyOfAnswer(answerDeclined("r", reason))).toEqual({ action: "cancel" })
  }
  expect(replyOfAnswer({ id: "r", ok: false })).toEqual({ action: "cancel" })
  expect(replyOfAnswer({ id: "r", ok: "yes" as unknown as boolean })).toEqual({ action: "cancel" })
})
