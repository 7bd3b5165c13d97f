/**
 * Files that people attach to a message, as parts of what the model is asked: images and PDFs as they are, text as text, and of
 * everything else why not. Nothing that comes with a file is believed (its name, kind, size and address are somebody's), and
 * nothing of it is logged. Knows no run and no model.
 */
import { isRecord } from "../core/json.ts"
import type { Part } from "../core/parts.ts"
import { clip, oneLine } from "./blocks/text.ts"
import type { Front } from "./front.ts"

export interface Attached {
  /** For the model, in order; what could not be handed over is told to it as well. */
  parts: Part[]
  /** For whoever attached them: a sentence for each that could not be handed over. */
  notes: string[]
}

/** How many files of one message are handed over, and how many bytes of them in all. */
export interface FileLimits {
  files: number
  megabytes: number
}

/** The most characters of one text file. */
const MOST_TEXT = 100_000
/** ms that all downloads of one message may take: whoever wrote it waits. */
const WITHIN = 20_000

/** The `files` of an event, as Slack sends them. Never rejects. */
export async function partsOf(
  { client, log, files: limits }: Pick<Front, "client" | "log" | "files">,
  files: unknown,
): Promise<Attached> {
  const all = Array.isArray(files) ? files.map((file: unknown) => (isRecord(file) ? file : {})) : []
  const over = AbortSignal.timeout(WITHIN)
  const attached: Attached = { parts: [], notes: [] }
  let room = limits.megabytes * 1_000_000
  for (const [index, file] of all.slice(0, MOST_NAMED).entries()) {
    const found = index < limits.files ? await whole(client, file) : undefined
    const name = nameOf(found ?? file)
    const got = index < limits.files ? await read(client, found, room, over) : { why: tooMany(limits.files) }
    if ("bytes" in got) room -= got.bytes.length
    const part = "bytes" in got ? partOf(name, got.bytes) : got
    if ("type" in part) attached.parts.push(part)
    else {
      log.info({ why: part.why }, "an attached file was not handed over")
      leaveOut(attached, `“${name}” was not handed to the agent: ${part.why}.`)
    }
  }
  const rest = all.length - MOST_NAMED
  if (rest > 0) leaveOut(attached, `${rest} more files were not handed to the agent: ${tooMany(limits.files)}.`)
  return attached
}

/** Files of one message that are told of one by one. */
const MOST_NAMED = 20

function leaveOut({ parts, notes }: Attached, sentence: string): void {
  notes.push(sentence)
  parts.push({ type: "text", text: `[A file was attached that you can't read: ${sentence}]` })
}

const tooMany = (most: number): string =>
  most === 0 ? "this bot takes no files" : `at most ${most} at once ${most === 1 ? "is" : "are"}`

const nameOf = (file: Fields): string => clip(oneLine(text(file["name"]) ?? "a file"), 120).toWellFormed()

type Fields = Record<string, unknown>
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

interface Unread {
  /** A clause. */
  why: string
}

type Client = Front["client"]

/** A file that Slack keeps, downloaded; at most `room` bytes of it. `file`: undefined when Slack tells nothing of it. */
async function read(
  client: Client,
  file: Fields | undefined,
  room: number,
  over: AbortSignal,
): Promise<{ bytes: Buffer } | Unread> {
  if (!file) return { why: "Slack does not show it to me" }
  const why = unreadable(file, room)
  if (why !== undefined) return { why }
  const url = text(file["url_private_download"]) ?? text(file["url_private"]) ?? ""
  if (!isSlacks(url, client.slackApiUrl)) return { why: "it is not kept by Slack" }
  try {
    return await download(url, client.token ?? "", { file, room, over })
  } catch {
    return { why: over.aborted ? "Slack took too long to hand it over" : "it could not be downloaded" }
  }
}

/** From a shared channel comes only an id. */
async function whole(client: Client, file: Fields): Promise<Fields | undefined> {
  const id = text(file["id"])
  if (file["file_access"] !== "check_file_info" || id === undefined) return file
  try {
    const { file: found } = await client.files.info({ file: id })
    return isRecord(found) ? found : undefined
  } catch {
    return undefined
  }
}

/** Why it need not be asked for. */
function unreadable({ mode, is_external, size }: Fields, room: number): string | undefined {
  if (mode === "tombstone" || mode === "hidden_by_limit") return "it is not there any more"
  if (mode === "external" || is_external === true) return "it is not kept by Slack"
  return typeof size === "number" && size > room ? TOO_LARGE : undefined
}

const TOO_LARGE = "the files of the message are too large"

/** Whether the bot's token may be sent there. */
export function isSlacks(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address) || !URL.canParse(apiUrl)) return false
  const [url, api] = [new URL(address), new URL(apiUrl)]
  if (url.username !== "" || url.password !== "") return false
  const isLocal = api.hostname === "127.0.0.1" || api.hostname === "localhost" || api.hostname === "[::1]"
  return isLocal ? url.origin === api.origin : url.origin === "https://files.slack.com"
}

async function download(
  url: string,
  token: string,
  { file, room, over }: { file: Fields; room: number; over: AbortSignal },
): Promise<{ bytes: Buffer } | Unread> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: "manual", signal: over })
  try {
    // Without the right to read files Slack shows a page to sign in, or leads there.
    if (response.status !== 200) return { why: NOT_SHOWN }
    const bytes = await upTo(room, response)
    if (!bytes) return { why: TOO_LARGE }
    return isSignIn(response, file, bytes.length) ? { why: NOT_SHOWN } : { bytes }
  } finally {
    await response.body?.cancel().catch(() => undefined)
  }
}

const NOT_SHOWN = "Slack does not let me read it (the app may lack the scope files:read)"

/** A page, where the file is none, or not this long. */
function isSignIn({ headers }: Response, { mimetype, size }: Fields, length: number): boolean {
  const isPage = headers.get("content-type")?.startsWith("text/html") === true
  return isPage && (mimetype !== "text/html" || (typeof size === "number" && size !== length))
}

/** The body, or undefined when there is more of it. */
async function upTo(most: number, { body }: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += (chunk as Uint8Array).length
    if (length > most) return undefined
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks)
}

/** What it is by its bytes. */
function partOf(filename: string, bytes: Buffer): Part | Unread {
  if (bytes.length === 0) return { why: "it is empty" }
  const mediaType = kindOf(bytes)
  if (mediaType !== undefined) return { type: "file", mediaType, data: bytes.toString("base64"), filename }
  const said = textIn(bytes)
  if (said === undefined) return { why: "it is neither an image (PNG, JPEG, WebP, GIF) nor a PDF nor text" }
  const cut = said.length > MOST_TEXT
  const shown = cut ? said.slice(0, MOST_TEXT).toWellFormed() : said
  const more = cut ? `\n[${said.length - MOST_TEXT} more characters were left out]` : ""
  return { type: "text", text: `The attached file ${JSON.stringify(filename)}:\n\n${shown}${more}` }
}

/** By which bytes a file begins, as hex digits; a dot is any of them. */
const KINDS: [pattern: RegExp, mediaType: string][] = [
  [/^89504e470d0a1a0a/, "image/png"],
  [/^ffd8ff/, "image/jpeg"],
  [/^52494646.{8}57454250/, "image/webp"],
  [/^47494638(?:37|39)61/, "image/gif"],
  [/^255044462d/, "application/pdf"],
]

function kindOf(bytes: Buffer): string | undefined {
  const begin = bytes.subarray(0, 16).toString("hex")
  return KINDS.find(([pattern]) => pattern.test(begin))?.[1]
}

/** Bytes below a blank that a text may have: tabs, breaks, and what colours a log. */
const CONTROLS = new Set([8, 9, 10, 11, 12, 13, 27])

/** UTF-8 without what no text has. */
function textIn(bytes: Buffer): string | undefined {
  if (bytes.some((byte) => byte < 32 && !CONTROLS.has(byte))) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
