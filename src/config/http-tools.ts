/**
 * What the configuration may say of an HTTP tool: its address with {placeholders}, what goes along, and its limits. It calls
 * no endpoint, and does not know what an args schema means.
 */
import { z } from "zod"
import { duration } from "./asking.ts"
import { count, mapping, said, show } from "./forms.ts"
import { headers, type Headers } from "./headers.ts"
import type { Surroundings } from "./references.ts"

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const LONGEST = 600_000

/** An address in which args stand: each placeholder between two parts of the address as a browser would write it. */
export interface Address {
  parts: readonly string[]
  /** The names of the args between them; `isPath`: before the question mark. */
  places: readonly { name: string; isPath: boolean }[]
  /** Of all addresses that it can become. */
  origin: string
}

/** One HTTP tool, durations in ms, sizes in bytes. */
export interface HttpTool {
  name: string
  description: string
  method: (typeof METHODS)[number]
  url: Address
  headers: Headers
  inputSchema?: Record<string, unknown> | undefined
  /** The args that go into the address after the question mark; of a GET or DELETE all do that are not in the address. */
  query: readonly string[]
  timeout: number
  maxBytes: number
  /** Where a redirect may lead, beside the address's own host; without our headers. */
  allowedHosts: readonly string[]
  /** Whether the address's own host may be on this machine or in a private network. */
  allowPrivate: boolean
  effects?: "none" | "repeatable" | "once" | undefined
  destructive: boolean
}

const text = (what: string) =>
  z
    .string({ error: said(what) })
    .trim()
    .min(1, { error: `is empty: put ${what}` })
const yesOrNo = z.boolean({ error: said("true or false") }).default(false)
const EFFECTS = "none (changes nothing), repeatable (may run again after a crash) or once"
const NAME = "a tool's name: 1 to 64 of a-z, A-Z, 0-9, _ and -"

export function httpTools(around: Surroundings) {
  const tool = mapping({
    name: z.string({ error: said(NAME) }).regex(/^[a-zA-Z0-9_-]{1,64}$/, { error: said(NAME) }),
    description: text("what the tool does, in words for the model"),
    method: z.enum(METHODS, { error: said(`one of ${METHODS.join(", ")}`) }).default("GET"),
    url: z
      .string({ error: said("an address, such as https://api.example.com/orders/{id}") })
      .transform((url, context) => {
        const read = addressOf(url)
        if (read.ok) return read.address
        context.addIssue(read.fault)
        return z.NEVER
      }),
    headers: headers(around).prefault({}),
    inputSchema: z
      .record(z.string(), z.unknown(), {
        error: said("a JSON Schema, such as { properties: { id: { type: string } } }"),
      })
      .optional(),
    query: z.array(text("an arg's name"), { error: said("a list of args, such as [ status, limit ]") }).default([]),
    timeout: duration.refine((ms) => ms <= LONGEST, { error: "must be at most 10m" }).prefault("30s"),
    maxBytes: count("bytes", 1, 10_000_000, 100_000),
    allowedHosts: z
      .array(
        z.string({ error: said("a host's name, such as files.example.com") }).regex(HOST, {
          error: said(
            "a host's name in small letters, such as files.example.com or *.example.com: no https://, no port",
          ),
        }),
        { error: said("a list of hosts, such as [ files.example.com ]") },
      )
      .default([]),
    allowPrivate: yesOrNo,
    effects: z.enum(["none", "repeatable", "once"], { error: said(EFFECTS) }).optional(),
    destructive: yesOrNo,
  }).check(({ value, issues }) => {
    const fault = secrecyFault(value)
    if (fault !== undefined) issues.push({ code: "custom", input: value, path: ["url"], message: fault })
  })
  return z
    .array(tool, { error: said("a list of tools, such as [ { name: …, description: …, url: https://… } ]") })
    .default([])
}

const HOST = /^(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,20}$/

/** What is sent over plain http can be read on the way, and changed. */
function secrecyFault({ url, allowPrivate }: Pick<HttpTool, "url" | "allowPrivate">): string | undefined {
  return url.origin.startsWith("https:") || allowPrivate
    ? undefined
    : "must be an https address; http is for this machine or a private network alone, with allowPrivate: true"
}

const PLACE = /\{([A-Za-z_][A-Za-z0-9_-]{0,63})\}/g

/** Reads an address with its placeholders; the fault completes the sentence "url …". */
export function addressOf(url: string): { ok: true; address: Address } | { ok: false; fault: string } {
  const wrong = (fault: string) => ({ ok: false as const, fault })
  if (/\$\{/.test(url)) return wrong("is taken as it stands: ${NAME} works in headers only")
  const names = [...url.matchAll(PLACE)].map(([, name = ""]) => name)
  // What a browser makes of the whole address is made once, with words in the places that it leaves alone.
  const word = wordNotIn(url)
  let index = 0
  const filled = url.replaceAll(PLACE, () => `${word}${index++}z`)
  if (/[{}]/.test(filled)) return wrong("has a { or } that is no placeholder, such as {id}")
  if (/[\s\p{Cc}\\]/u.test(filled) || !URL.canParse(filled)) {
    return wrong(`must be an address, such as https://api.example.com/orders/{id}, not ${show(url)}`)
  }
  const parsed = new URL(filled)
  const fault = formFault(parsed, word)
  if (fault !== undefined) return wrong(fault)
  const { href } = parsed
  const parts = href.split(new RegExp(`${word}\\d+z`))
  const question = href.indexOf("?")
  const places = names.map((name, at) => {
    const start = href.indexOf(`${word}${at}z`)
    return { name, isPath: question < 0 || start < question }
  })
  return { ok: true, address: { parts, places, origin: parsed.origin } }
}

function formFault(
  { protocol, username, password, host, hash, pathname, search }: URL,
  word: string,
): string | undefined {
  if (protocol !== "https:" && protocol !== "http:") return "must be an https address"
  if (username !== "" || password !== "" || host.includes(word)) {
    return "must have its placeholders behind the host, and no user or password in it"
  }
  if (hash !== "") return "must not have a #: nothing behind one is sent"
  return `${pathname}${search}`.length > 4_000 ? "is longer than 4,000 characters" : undefined
}

function wordNotIn(url: string): string {
  let word = "place"
  while (url.toLowerCase().includes(word)) word += "x"
  return word
}
