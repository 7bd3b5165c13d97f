/**
 * Tools that are an HTTP endpoint of the configuration: args into an address, a query or a JSON body, the answer into a
 * result. It decides nothing about who may call them.
 */
import { TextDecoder } from "node:util"
import { defineTool, failure, outcomeUnknown, type Tool, type ToolContext } from "../agent/tool.ts"
import type { HttpTool } from "../config/http-tools.ts"
import { isRecord } from "../core/json.ts"
import type { Effects } from "../core/run.ts"
import type { ToolResult } from "../core/suspension.ts"
import { withoutOurs } from "./echo.ts"
import { type Answered, type Asked, exchange, NoAnswer } from "./exchange.ts"
import { checkHost, OutOfReach } from "./reach.ts"

type Args = Record<string, unknown>
type Schema = Record<string, unknown>

/** @throws TypeError naming the tool and all that is wrong with it. */
export function httpTool(settings: HttpTool): Tool {
  const { name, description, method, destructive } = settings
  const inputSchema = schemaOf(settings)
  const effects = settings.effects ?? (method === "GET" ? "none" : "once")
  const how = { clean: withoutOurs(settings.headers.secrets), effects }
  return defineTool({
    name,
    description,
    inputSchema,
    effects,
    destructive,
    source: "http",
    summary: (args) => summaryOf(settings, args),
    run: (args, ctx) => call(settings, how, args, ctx),
  })
}

/** What is wrong with a tool beyond what its settings say by themselves, each the end of a sentence about it. */
export function httpFaults(settings: HttpTool): string[] {
  const { url, query } = settings
  const { required, properties } = schemaOf(settings)
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name)
  const isKnown = (name: string): boolean => isRecord(properties) && Object.hasOwn(properties, name)
  const loose = url.places.filter(({ name, isPath }) => isPath && !isRequired(name))
  const strange = [...url.places.map(({ name }) => name), ...query].filter((name) => !isKnown(name))
  return [
    ...loose.map(({ name }) => `url has {${name}}, which inputSchema must require`),
    ...[...new Set(strange)].map((name) => `url or query has ${name}, which inputSchema does not know`),
    ...hostFaults(settings),
  ]
}

function hostFaults({ url, allowPrivate }: HttpTool): string[] {
  try {
    checkHost(new URL(url.origin), allowPrivate)
    return []
  } catch (error) {
    if (!(error instanceof OutOfReach)) throw error
    return [`${error.message}${error.mayBeAllowed ? ": say allowPrivate: true if that is meant" : ""}`]
  }
}

/** Without one of its own, a tool takes what its address has places for. */
function schemaOf({ inputSchema, url }: HttpTool): Schema {
  if (inputSchema !== undefined) return { type: "object", additionalProperties: false, ...inputSchema }
  const names = [...new Set(url.places.map(({ name }) => name))]
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]))
  return { type: "object", properties, required: names, additionalProperties: false }
}

function summaryOf(settings: HttpTool, args: Args): string {
  const { url } = requestOf(settings, args)
  return `${settings.method} ${url.host}${decoded(url.pathname)}`
}

function decoded(path: string): string {
  try {
    // A slash that is part of a value must not look like one between two.
    return decodeURIComponent(path.replaceAll(/%(?=2f|5c|25|[01]|7f)/gi, "%25"))
  } catch {
    return path
  }
}

/** Takes our own header values out. */
type Clean = (text: string) => string

interface How {
  clean: Clean
  effects: Effects
}

async function call(settings: HttpTool, how: How, args: Args, ctx: ToolContext = {}): Promise<ToolResult> {
  const { timeout, maxBytes, allowedHosts, allowPrivate, method } = settings
  let asked: Asked
  try {
    const limits = { timeout, maxBytes, allowedHosts, allowPrivate, signal: ctx.signal }
    asked = { ...requestOf(settings, args), method, ...limits }
  } catch (error) {
    if (error instanceof WrongPlace) return failure(`${error.message}. ${UNSENT}`)
    throw error
  }
  try {
    return resultOf(await exchange(asked), settings, how.clean)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return unanswered(error, how)
  }
}

const UNSENT = "Nothing was sent, so it was not executed."

/** A call that may have taken effect is never said not to have been executed. */
function unanswered({ message, came }: NoAnswer, { clean, effects }: How): ToolResult {
  const words = clean(message)
  if (came === "unsent") return failure(`${words}. ${UNSENT}`)
  if (came === "answered" || effects === "none") return failure(`${words}.`)
  return outcomeUnknown(`the request was sent, and ${words}`)
}

// --- the request

/** An arg that can't stand where it belongs. */
class WrongPlace extends Error {}

/** Slashes and backslashes too: some servers read `%2F` as one before they look at the path. */
const DOTS = /(?:^|[/\\])\.{1,2}(?:$|[/\\;])/

function requestOf({ url, method, query, headers }: HttpTool, args: Args): Pick<Asked, "url" | "headers" | "body"> {
  const address = addressWith(url, args)
  const places = new Set(url.places.map(({ name }) => name))
  const rest = Object.entries(args).filter(([name]) => !places.has(name))
  const hasBody = method !== "GET" && method !== "DELETE"
  const asked = (name: string): boolean => !hasBody || query.includes(name)
  for (const [name, value] of rest.filter(([name]) => asked(name))) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined) address.searchParams.append(name, textOf(one))
    }
  }
  const sent = rest.filter(([name]) => !asked(name))
  const body = sent.length > 0 ? JSON.stringify(Object.fromEntries(sent)) : undefined
  const usual = {
    accept: "application/json, text/*;q=0.9, */*;q=0.1",
    "user-agent": "Countersign",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  }
  return { url: address, headers: withOurs(usual, headers.values), body }
}

/** @throws WrongPlace for a value that would lead elsewhere than to where the configuration says. */
function addressWith({ parts, places, origin }: HttpTool["url"], args: Args): URL {
  const values = places.map(({ name, isPath }) => {
    const value = args[name]
    if (isPath || isGiven(value)) return encoded(name, value, isPath)
    return ""
  })
  const text = parts.map((part, index) => `${part}${values[index] ?? ""}`).join("")
  const url = new URL(text)
  // Whatever a value does to the shape of an address shows in this: a browser would write it otherwise.
  if (url.href !== text || url.origin !== origin) {
    const names = places.map(({ name }) => name).join(", ")
    throw new WrongPlace(`what was given for ${names} would make another address of it`)
  }
  return url
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

function encoded(name: string, value: unknown, isPath: boolean): string {
  if (!["string", "number", "boolean"].includes(typeof value)) {
    throw new WrongPlace(`${name} stands in the address, so it must be a text or a number`)
  }
  const text = String(value)
  if (isPath && text.trim() === "") throw new WrongPlace(`${name} is empty, which would make another address of it`)
  if (isPath && DOTS.test(text)) throw new WrongPlace(`${name} must not lead up or along a path (. or ..)`)
  // encodeURIComponent leaves these five, which some servers take for their own.
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

/** Ours replace the usual ones of the same name, in whatever case. */
function withOurs(usual: Record<string, string>, ours: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(ours).map((name) => name.toLowerCase()))
  return { ...Object.fromEntries(Object.entries(usual).filter(([name]) => !names.has(name))), ...ours }
}

// --- the result

function resultOf(answer: Answered, { maxBytes }: HttpTool, clean: Clean): ToolResult {
  const { status, isCut } = answer
  const body = clean(bodyOf(answer))
  const mark = isCut ? `\n[cut here: the answer has more than ${maxBytes.toLocaleString("en")} bytes]` : ""
  const isError = status < 200 || status > 299
  if (!isError && body !== "") return { output: `${body}${mark}`, isError }
  const moved =
    status >= 300 && status < 400
      ? `, to ${clean(answer.headers["location"] ?? "nowhere").slice(0, 500)}; not followed`
      : ""
  return { output: `HTTP ${status}${moved}${body === "" ? "" : `\n${body}${mark}`}`, isError }
}

/** As text; what is none is said, not shown. */
function bodyOf({ headers, body, isCut }: Answered): string {
  const type = headers["content-type"] ?? ""
  const [, charset = "utf-8"] = /charset="?([\w.:-]{1,40})/i.exec(type) ?? []
  if (body.includes(0) && !/^utf-?16/i.test(charset)) return binary(type, body.length, isCut)
  const text = decoderOf(charset).decode(body)
  const strange = text.length - text.replaceAll("\ufffd", "").length
  // One is where the answer was cut; more than a tenth is no text in any spelling.
  return strange > 1 + text.length / 10 ? binary(type, body.length, isCut) : text
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

const binary = (type: string, size: number, isCut: boolean): string =>
  `[${/^[\w.+-]{1,60}\/[\w.+-]{1,60}/.exec(type)?.[0] ?? "not text"}, ${isCut ? "more than " : ""}${size.toLocaleString("en")} bytes, not shown: it is no text]`
