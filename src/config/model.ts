/**
 * What the configuration may say of a model: whose it is, its address, its key, its limits, what is wished of its answers and what
 * they cost. It asks no provider.
 */
import { resolve } from "node:path"
import { z } from "zod"
import { isRecord } from "../core/json.ts"
import { alike, count, mapping, said, show } from "./forms.ts"
import { expanded, privateAddress, type Surroundings } from "./references.ts"

const OURS = ["openai-compatible", "anthropic", "demo"]

/** A package that can be told from a slip: with a scope, or that calls itself a provider. A path of a module. */
const PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*|[a-z0-9][a-z0-9._-]*provider[a-z0-9._-]*)$/
const isModule = (provider: unknown): provider is string =>
  typeof provider === "string" && (/^\.{0,2}\//.test(provider) || PACKAGE.test(provider))

/** `isWhole`: nothing else says what it leaves out. */
export function modelSettings(around: Surroundings, isWhole = true) {
  const apiKey = z
    // Its value is never repeated: it may be the key itself.
    .string({ error: 'must name an environment variable, such as "${OPENAI_API_KEY}"' })
    .regex(/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/, {
      error: 'must name an environment variable, such as "${OPENAI_API_KEY}": a key does not belong into the file',
    })
    .transform((text, context) => expanded(around, text, (message) => context.addIssue(message)))

  const baseUrl = privateAddress(around, "https://api.openai.com/v1")

  const name = z
    .string({ error: said("the model's name, as its provider writes it") })
    .trim()
    .min(1, { error: "is empty: put the model's name, as its provider writes it" })
    .refine((text) => !text.includes("${"), {
      error: "is taken as it stands: ${NAME} works in apiKey and baseUrl only",
    })
  const common = {
    maxTurns: count("turns", 1, 1_000, 20),
    maxTokens: count("tokens", 1, 1_000_000_000, 200_000),
    contextTokens: count("tokens", 1_000, 100_000_000, 100_000),
    stream: z.boolean({ error: said("true or false") }).default(true),
    settings: wishes.optional(),
    prices: prices.optional(),
  }

  const ours = z.discriminatedUnion(
    "provider",
    [
      mapping({
        provider: z.literal("openai-compatible"),
        baseUrl,
        model: name,
        // A model server on one's own machine often wants none.
        apiKey: apiKey.optional(),
        ...common,
      }),
      mapping({ provider: z.literal("anthropic"), baseUrl: baseUrl.optional(), model: name, apiKey, ...common }),
      mapping({ provider: z.literal("demo"), ...common }),
    ],
    { error: ({ input }) => wrongProvider(input, isWhole) },
  )
  const others = mapping({
    provider: z.string().transform((path) => (/^\.{0,2}\//.test(path) ? resolve(around.folder, path) : path)),
    baseUrl: baseUrl.optional(),
    model: name,
    apiKey: apiKey.optional(),
    ...common,
  })
  type Model = z.output<typeof ours> | z.output<typeof others>
  // A union would say of each fault how it is one by either form.
  return z.unknown().transform((value, context): Model => {
    const read = (isRecord(value) && isModule(value["provider"]) ? others : ours).safeParse(value)
    if (read.success) return read.data
    for (const issue of read.error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue)
    return z.NEVER
  })
}

function wrongProvider(input: unknown, isWhole: boolean): string {
  if (!isRecord(input) && !isWhole) return `must be a mapping, such as { model: gpt-5-mini }, not ${show(input)}`
  const providers = `${OURS.slice(0, -1).join(", ")} or ${OURS.at(-1) ?? ""}`
  if (input === undefined) return `is missing: put "model: { provider: … }", with ${providers}`
  if (!isRecord(input)) return `must be a mapping with provider: ${providers}`
  const { provider } = input
  const meant = OURS.find((name) => typeof provider === "string" && alike(provider, name))
  const remedy = meant === undefined ? ', or a package that provides models, such as "@ai-sdk/google"' : ""
  return `must be ${meant ?? providers}${remedy}, not ${show(provider)}`
}

const between = (what: string, least: number, most: number) => {
  const error = said(`${what} from ${least} to ${most}`)
  return z.number({ error }).min(least, { error }).max(most, { error }).optional()
}
const whole = (what: string, least: number, most: number) => {
  const error = said(`a whole number${what} from ${least} to ${most}`)
  return z.int({ error }).min(least, { error }).max(most, { error }).optional()
}
const texts = said('a list of texts, such as [ "END" ]')
const byProvider = said(
  "a mapping by provider, such as { anthropic: { thinking: { type: enabled, budgetTokens: 4000 } } }",
)

/** What is wished of answers, as the AI SDK calls it; `stop` is its stopSequences. */
const wishes = mapping(
  {
    temperature: between("a number", 0, 2),
    topP: between("a number", 0, 1),
    topK: whole("", 1, 10_000),
    maxOutputTokens: whole(" of tokens", 1, 10_000_000),
    stop: z
      .array(z.string({ error: texts }).min(1, { error: texts }), { error: texts })
      .max(16, { error: texts })
      .optional(),
    presencePenalty: between("a number", -2, 2),
    frequencyPenalty: between("a number", -2, 2),
    seed: whole("", 0, 2 ** 31 - 1),
    providerOptions: z
      .record(z.string(), z.record(z.string(), z.json(), { error: byProvider }), { error: byProvider })
      .optional(),
  },
  "{ temperature: 0.2 }",
).transform(({ stop: stopSequences, ...rest }) => {
  const named = Object.entries({ ...rest, stopSequences }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(named) as Said<typeof rest & { stopSequences?: string[] }>
})

/** What is left out is not there. */
type Said<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Of a million tokens. */
const costs = { error: said("what a million tokens cost, such as 2.5") }
const price = z.number(costs).min(0, costs).max(1_000_000, costs)

const prices = mapping(
  {
    input: price,
    output: price,
    cachedInput: price.optional(),
    currency: z
      .string({ error: said("a currency's three letters, such as USD") })
      .regex(/^[A-Z]{3}$/, { error: said("a currency's three letters, such as USD") })
      .default("USD"),
  },
  "{ input: 2.5, output: 10, cachedInput: 0.25 }",
)
