/** A browser as far as our pages need one: it keeps cookies for their path, follows what it is told to, and sends forms. */
export class Visitor {
  readonly #cookies = new Map<string, string>()

  async get(url: string): Promise<Seen> {
    return this.#ask(url, { method: "GET" })
  }

  /** Presses the page's button. */
  async press({ url, html }: Seen, headers: Record<string, string> = {}): Promise<Seen> {
    const action = /<form method="post"(?: action="([^"]*)")?>/.exec(html)
    if (!action) throw new Error(`no form: ${html}`)
    const form = new URLSearchParams()
    for (const [, name = "", value = ""] of html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)) {
      form.set(name, value.replaceAll("&amp;", "&"))
    }
    const to = new URL(action[1] ?? url, url).href
    return this.#ask(to, { method: "POST", body: form, headers: { "sec-fetch-site": "same-origin", ...headers } })
  }

  async #ask(url: string, init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> }): Promise<Seen> {
    const { host } = new URL(url)
    const cookie = [...this.#cookies]
      .filter(([at]) => at.startsWith(`${host} `))
      .map(([at, value]) => `${at.slice(host.length + 1)}=${value}`)
    const headers = { ...init.headers, ...(cookie.length > 0 ? { cookie: cookie.join("; ") } : {}) }
    const answer = await fetch(url, { ...init, headers, redirect: "manual" })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/Max-Age=0/.test(set)) this.#cookies.delete(`${host} ${name}`)
      else this.#cookies.set(`${host} ${name}`, value)
    }
    const seen = { url, status: answer.status, html: await answer.text(), headers: answer.headers }
    const location = answer.headers.get("location")
    return location === null ? seen : this.get(new URL(location, url).href)
  }
}

export interface Seen {
  url: string
  status: number
  html: string
  headers: Headers
}

/** What a page says, without its marks. */
export const wordsOf = ({ html }: Seen): string =>
  html
    .replace(/^[\s\S]*<main>/, "")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
