/**
 * What the configuration may say of a model: whose it is, its address, its key and its limits. It asks no provider.
 */
import { z } from "zod"
import { count, mapping, said, show } from "./forms.ts"
import { expanded, privateAddress, type Surroundings } from "./references.ts"

export function modelSettings(around: Surroundings) {
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
  const limits = { maxTurns: count("turns", 1, 1_000, 20), maxTokens: count("tokens", 1, 1_000_000_000, 200_000) }

  const providers = "openai-compatible, anthropic or demo"
  return z.discriminatedUnion(
    "provider",
    [
      mapping({
        provider: z.literal("openai-compatible"),
        baseUrl,
        model: name,
        // A model server on one's own machine often wants none.
        apiKey: apiKey.optional(),
        ...limits,
      }),
      mapping({ provider: z.literal("anthropic"), baseUrl: baseUrl.optional(), model: name, apiKey, ...limits }),
      mapping({ provider: z.literal("demo"), ...limits }),
    ],
    {
      error: ({ input }) => {
        if (input === undefined) return `is missing: put "model: { provider: … }", with ${providers}`
        if (typeof input !== "object" || input === null) return `must be a mapping with provider: ${providers}`
        return `must be ${providers}, not ${show("provider" in input ? input.provider : undefined)}`
      },
    },
  )
}
