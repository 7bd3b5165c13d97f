/**
 * The files of the page, read from one folder and nothing beside it.
 */
import { readFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { extname } from "node:path"

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
}

const HEADERS = {
  "content-security-policy":
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
}

/** Answers with a file of the folder; `/` is its index.html. A path may have letters, digits, `-`, `_`, `.` and folders only. */
export async function pageFile(folder: URL | undefined, path: string, response: ServerResponse): Promise<void> {
  const name = path === "/" ? "index.html" : path.slice(1)
  const type = TYPES[extname(name)]
  const plain = /^(?:[\w-]+\/)*[\w-][\w.-]*$/.test(name)
  const body = folder && type && plain ? await readFile(new URL(name, folder)).catch(() => undefined) : undefined
  if (!body || !type) {
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" })
    response.end("not found")
    return
  }
  response.writeHead(200, { ...HEADERS, "content-type": type })
  response.end(body)
}
