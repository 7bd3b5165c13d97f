import { describe, expect, test } from "vitest"
import { answerSchemaFault, validateAnswerData } from "../../src/core/answer-schema.ts"

const form = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: "object",
  properties,
  ...more,
})

describe("an answer's schema", () => {
  test.each([
    [form({})],
    [
      form({
        env: { type: "string", title: "Where?", description: "Target", default: "a", minLength: 1, maxLength: 9 },
      }),
    ],
    [form({ n: { type: "integer", minimum: 1, maximum: 5 }, x: { type: "number" }, yes: { type: "boolean" } })],
    [form({ env: { enum: ["a", "b"] }, e: { type: "string", enum: ["a"], enumNames: ["A"] } }, { required: ["env"] })],
    [
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        properties: { a: { type: "string", format: "email" } },
      },
    ],
    [form({ a: { type: "string" } }, { additionalProperties: false, title: "t" })],
    [form({ a: { type: "string", oneOf: [{ const: "#f00", title: "Red" }], default: "#f00" } })],
    [form({ a: { type: "array", title: "t", minItems: 1, maxItems: 2, items: { type: "string", enum: ["a", "b"] } } })],
    [form({ a: { type: "array", uniqueItems: true, items: { anyOf: [{ const: "#f00", title: "Red" }] } } })],
    [form({ tokens: { type: "array", items: { enum: ["bot", "user"] } } })],
  ])("is taken when flat: %j", (schema) => {
    expect(answerSchemaFault("input", schema)).toBeUndefined()
  })

  test.each<[unknown, string]>([
    ["text", "type: object missing"],
    [[], "a list"],
    [{}, "nothing"],
    [{ type: "string" }, "no object"],
    [form({ a: { type: "object", properties: {} } }), "nested"],
    [form({ a: { type: "array", items: { type: "string" } } }), "a list field"],
    [form({ a: { type: "array" } }), "a list of anything"],
    [form({ a: { type: "array", items: { type: "array", items: { enum: ["a"] } } } }), "a list of lists"],
    [form({ a: { type: "array", items: { enum: [] } } }), "a list without choices"],
    [form({ a: { type: "array", items: { enum: ["a"], pattern: "a" } } }), "a list of patterns"],
    [form({ a: { type: "array", items: { enum: ["a"] }, contains: {} } }), "a list that contains"],
    [form({ a: { anyOf: [{ type: "string" }, { type: "null" }] } }), "anyOf"],
    [form({ a: { type: "string", oneOf: [{ const: "a", title: "A", pattern: "x" }] } }), "oneOf with more"],
    [form({ a: {} }), "no type"],
    [form({ a: { type: ["string", "null"] } }), "several types"],
    [form({ a: { type: "null" } }), "null"],
    [form({ a: { $ref: "#/x" } }), "a reference"],
    [form({ a: { type: "string", oneOf: [{ const: "a" }] } }), "oneOf"],
    [form({ a: { enum: [] } }), "no choices"],
    [form({ a: { enum: [{ x: 1 }] } }), "object choices"],
    [form({ a: true }), "no field"],
    [form({ a: { type: "string", pattern: "(" } }), "broken pattern"],
    [form({ a: { type: "string" } }, { allOf: [] }), "allOf"],
    [form({ a: { type: "string" } }, { required: ["b"] }), "unknown required"],
    [form({ a: { type: "string" } }, { required: "a" }), "required no list"],
    [form({ a: { type: "string" } }, { additionalProperties: { type: "string" } }), "open fields"],
    [{ type: "object", properties: [] }, "properties no object"],
  ])("is refused otherwise: %j (%s)", (schema) => {
    expect(answerSchemaFault("input", schema)).toMatch(/data\.schema/)
  })
})

describe("credentials are never asked for in a form", () => {
  const names = [
    "password", "Password", "passwd", "user_password", "dbPassword", "PASSWORD", "newpassword", "pwd", "db_pass", "passphrase",
    "api_key", "apiKey", "apikey", "API-KEY", "APIKey", "openaiApiKey", "access token", "accessToken", "access_token", "token",
    "githubToken", "github_token", "githubtoken", "refreshToken", "client_secret", "clientSecret", "secret", "hmacsecret",
    "privateKey", "private_key", "ssh-key", "credentials", "card_number", "cardNumber", "creditCard", "CVV", "cvc", "pin", "PIN",
    "pinCode", "otp", "2fa", "mfaCode", "one_time_code", "jwt", "ssn", "pass\u200bword", "ｐａｓｓｗｏｒｄ", "Passwort", "contraseña",
  ] // prettier-ignore
  test.each(names)("by the name %j", (name) => {
    for (const kind of ["input", "question", "approval", "form"]) {
      expect(answerSchemaFault(kind, form({ [name]: { type: "string" } }))).toMatch(/credential.*"authorization"/)
    }
  })

  test.each([
    "Your GitHub token",
    "API key",
    "Enter the password for the database",
    "The card's CVV",
    "Your PIN, please",
  ])("by the words %j", (words) => {
    expect(answerSchemaFault("input", form({ value: { type: "string", title: words } }))).toMatch(/credential/)
    expect(answerSchemaFault("question", form({ value: { type: "string", description: words } }))).toMatch(/credential/)
  })

  test("by the format, and in numbers", () => {
    expect(answerSchemaFault("input", form({ v: { type: "string", format: "password" } }))).toMatch(/credential/)
    expect(answerSchemaFault("input", form({ pin: { type: "integer" } }))).toMatch(/credential/)
    expect(answerSchemaFault("input", form({ cvv: { type: "number" } }))).toMatch(/credential/)
  })

  test("under authorization the person gives them at the url, not to us", () => {
    expect(answerSchemaFault("authorization", form({ password: { type: "string" } }))).toBeUndefined()
  })

  test.each([
    "environment", "reason", "author", "spinner", "hotpath", "compass", "passenger", "discard notes", "paid tokens", "max_tokens",
    "maxTokens", "key", "keyboard", "secretary", "secret_name", "password policy", "shipping", "opinion", "expand", "bypass",
  ])("%j is an ordinary field", (name) => {
    expect(answerSchemaFault("input", form({ [name]: { type: "string" } }))).toBeUndefined()
  }) // prettier-ignore

  test("yes/no and choices can't carry one; a sentence may pin a version", () => {
    expect(answerSchemaFault("input", form({ reset_password: { type: "boolean" } }))).toBeUndefined()
    expect(answerSchemaFault("input", form({ token: { enum: ["bot", "user"] } }))).toBeUndefined()
    expect(
      answerSchemaFault("input", form({ version: { type: "string", description: "The version to pin it to" } })),
    ).toBeUndefined()
  })
})

describe("validateAnswerData", () => {
  const schema = form(
    {
      env: { type: "string", enum: ["prod", "staging"] },
      replicas: { type: "integer", minimum: 1, maximum: 10 },
      note: { type: "string", minLength: 3, maxLength: 5 },
      ratio: { type: "number", exclusiveMinimum: 0, multipleOf: 0.1 },
      sure: { type: "boolean" },
      mail: { type: "string", format: "email" },
      day: { type: "string", format: "date" },
      tag: { type: "string", pattern: "^v\\d+$" },
      color: { type: "string", oneOf: [{ const: "#f00", title: "Red" }] },
      hosts: { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 1, maxItems: 2 },
      days: { type: "array", items: { anyOf: [{ const: 1, title: "Mon" }] }, uniqueItems: true },
    },
    { required: ["env"] },
  )

  test("takes what fits, and keys it doesn't name", () => {
    const data = {
      env: "prod",
      replicas: 3,
      note: "👍👍👍",
      ratio: 0.3,
      sure: false,
      mail: "a@b",
      day: "2026-10-01",
      tag: "v1",
      color: "#f00",
      hosts: ["b", "a"],
      days: [],
    }
    expect(validateAnswerData(schema, data)).toEqual({ ok: true })
    expect(validateAnswerData(schema, { env: "prod", by: "U1" })).toEqual({ ok: true })
  })

  test.each([
    [{}, "env", "is required"],
    [undefined, "env", "is required"],
    [{ env: "dev" }, "env", "must be one of prod, staging"],
    [{ env: "prod", replicas: 1.5 }, "replicas", "must be a whole number"],
    [{ env: "prod", replicas: 0 }, "replicas", "must be at least 1"],
    [{ env: "prod", replicas: 11 }, "replicas", "must be at most 10"],
    [{ env: "prod", replicas: "3" }, "replicas", "must be a number"],
    [{ env: "prod", note: "ab" }, "note", "must have at least 3 characters"],
    [{ env: "prod", note: "abcdef" }, "note", "must have at most 5 characters"],
    [{ env: "prod", note: 5 }, "note", "must be a text"],
    [{ env: "prod", ratio: 0 }, "ratio", "must be more than 0"],
    [{ env: "prod", ratio: 0.25 }, "ratio", "must be a multiple of 0.1"],
    [{ env: "prod", sure: "yes" }, "sure", "must be yes or no"],
    [{ env: "prod", mail: "nobody" }, "mail", "must be an e-mail address"],
    [{ env: "prod", day: "2026-02-30" }, "day", "must be a date such as 2026-10-01"],
    [{ env: "prod", tag: "x" }, "tag", "must match ^v\\d+$"],
    [{ env: "prod", color: "Red" }, "color", "must be one of #f00"],
    [{ env: "prod", hosts: [] }, "hosts", "must have at least 1 choice"],
    [{ env: "prod", hosts: ["a", "b", "c"] }, "hosts", "must have at most 2 choices"],
    [{ env: "prod", hosts: ["a", "d"] }, "hosts", "must be some of a, b, c"],
    [{ env: "prod", hosts: "a" }, "hosts", "must be a list"],
    [{ env: "prod", days: [1, 1] }, "days", "must not have a choice twice"],
  ])("%j: %s %s", (data, field, message) => {
    expect(validateAnswerData(schema, data)).toEqual({ ok: false, errors: [{ field, message }] })
  })

  test("names every fault, and extra keys of a closed form", () => {
    expect(validateAnswerData({ ...schema, additionalProperties: false }, { replicas: 0, extra: 1 })).toEqual({
      ok: false,
      errors: [
        { field: "env", message: "is required" },
        { field: "replicas", message: "must be at least 1" },
        { field: "extra", message: "is not asked for" },
      ],
    })
  })

  test("inherited names are not answers", () => {
    expect(validateAnswerData(form({ toString: { type: "string" } }, { required: ["toString"] }), {})).toEqual({
      ok: false,
      errors: [{ field: "toString", message: "is required" }],
    })
  })
})
