/**
 * What a value may take out of the environment, as `${NAME}`, and which addresses may be sent it. It knows no setting by name.
 */
import { z } from "zod"
import { said } from "./forms.ts"

/** What a file is read against. */
export type Surroundings = {
  env: NodeJS.ProcessEnv
  /** The folder that relative paths in the file start from. */
  folder: string
  /** Takes every value that came out of the environment, so that the log can leave it out. */
  secret: (value: string) => void
}

/** Variables that are the bot's own: a model provider must never be sent one of them. */
const OWN = new Set([
  "SLACK_BOT_TOKEN",
  "SLACK_APP_TOKEN",
  "SLACK_SIGNING_SECRET",
  "REDIS_URL",
  "REDIS_SENTINEL_PASSWORD",
  "COUNTERSIGN_KEY",
])
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** A text in which each `${NAME}` stands for the variable; `issue` is told what can't be used. */
export function expanded({ env, secret }: Surroundings, text: string, issue: (message: string) => void): string {
  return text.replaceAll(REFERENCE, (reference, name: string) => {
    const value = env[name]
    if (OWN.has(name)) issue(`must not use ${reference}: that is the bot's own secret, and this goes to somebody else`)
    else if (value === undefined || value === "") {
      issue(`uses ${reference}, but ${name} is not set: set it in the environment the bot is started in`)
    } else secret(value)
    return value ?? ""
  })
}

/** An address that may hold `${NAME}`, and that is sent what nobody on the way may read. */
export const privateAddress = (around: Surroundings, example: string) =>
  z
    .string({ error: said(`an address, such as ${example}`) })
    .transform((text, context) => expanded(around, text, (message) => context.addIssue(message)))
    .refine(isPrivate, NOT_PRIVATE)

/** Beside `isPrivate`: what is said of an address that is not. */
export const NOT_PRIVATE = {
  error: "must be an https address without a password in it; http is for this machine alone (127.0.0.1, localhost)",
}

/** Whether nobody on the way can read what is sent there, and the address itself holds no secret. */
export function isPrivate(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, username, password } = new URL(address)
  if (username !== "" || password !== "") return false
  const loopback = hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  return protocol === "https:" || (protocol === "http:" && loopback)
}
