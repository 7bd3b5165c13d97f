/**
 * Headers that the configuration sends along to somebody else's server: their names, and values that may hold `${NAME}`.
 * It knows no server, and repeats no value in a message.
 */
import { z } from "zod"
import { said } from "./forms.ts"
import { expanded, type Surroundings } from "./references.ts"

export interface Headers {
  values: Record<string, string>
  /** What came out of the environment: whatever echoes it back must not be read by anybody. */
  secrets: string[]
}

const EXAMPLE = '{ Authorization: "Bearer ${API_TOKEN}" }'
/** RFC 9110, 5.6.2. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** What says how the request itself is written is ours to say. */
const OURS = new Set([
  "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "keep-alive",
  "proxy-connection", "accept-encoding",
]) // prettier-ignore
/** Headers that hold nothing but a secret. */
const SECRET = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|x-auth-token|x-access-token)$/i
const MOST = 50

export function headers(around: Surroundings) {
  return z
    .record(z.string(), z.string({ error: "must be a text" }), {
      error: said(`a mapping of headers, such as ${EXAMPLE}`),
    })
    .transform((given, context): Headers => {
      const secrets: string[] = []
      const kept = { ...around, secret: (value: string) => (secrets.push(value), around.secret(value)) }
      const issue = (message: string, ...path: string[]): void =>
        context.addIssue({ code: "custom", message, path, input: undefined })
      if (Object.keys(given).length > MOST) issue(`has more than ${MOST} headers: put fewer`)
      const values = Object.entries(given).map(([name, text]): [string, string] => {
        const value = expanded(kept, text, (message) => issue(message, name))
        const fault = faultOf(name, text, value)
        if (fault !== undefined) issue(fault, name)
        return [name, value]
      })
      return { values: Object.fromEntries(values), secrets: [...new Set(secrets)] }
    })
}

function faultOf(name: string, text: string, value: string): string | undefined {
  if (!NAME.test(name)) return "is no header's name: put letters, digits and -"
  if (OURS.has(name.toLowerCase())) return "is a header that is set for each request: take it out"
  if (SECRET.test(name) && !text.includes("${")) {
    return `must take its secret from the environment, such as ${EXAMPLE}: a secret does not belong into the file`
  }
  // A line break would begin another header.
  if (/[^\t\x20-\x7e]/.test(value)) return "must be one line of plain characters (also what ${NAME} stands for)"
  return undefined
}
