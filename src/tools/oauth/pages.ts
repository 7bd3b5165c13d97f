/**
 * The pages on which a person signs in, as HTML: no script, nothing from elsewhere, and every foreign word as text. Pure; knows
 * neither requests nor what is stored.
 */
import { createHash } from "node:crypto"

/** Who it is for, and for what. Foreign words. */
export interface About {
  server: string
  /** Where that is. */
  host: string
  /** As Slack has them. */
  person: string
  workspace: string
}

export interface Page {
  status: number
  html: string
}

const STYLE = `
:root { color-scheme: light dark; --ground: #f4f4f2; --card: #fff; --ink: #1d1c1d; --soft: #5c5b60; --line: #dcdad6; --act: #0f6a4f; --on-act: #fff; --mark: #b3261e; --mark-ground: #fdf1ef }
@media (prefers-color-scheme: dark) { :root { --ground: #17181a; --card: #222427; --ink: #ecebea; --soft: #a9a8ad; --line: #3a3c40; --act: #3fae87; --on-act: #0d1512; --mark: #ffb4a9; --mark-ground: #33211f } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif }
main { width: 100%; max-width: 30rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow-wrap: anywhere }
.name { margin: 0 0 1.25rem; color: var(--soft); font-size: .875rem; letter-spacing: .02em }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; font-weight: 650; text-wrap: balance }
p { margin: 0 0 1rem }
.soft { color: var(--soft) }
.mark { padding: .75rem 1rem; border-left: 3px solid var(--mark); border-radius: 0 6px 6px 0; background: var(--mark-ground) }
form { margin: 1.5rem 0 0 }
button { width: 100%; padding: .75rem 1rem; border: 0; border-radius: 8px; background: var(--act); color: var(--on-act); font: inherit; font-weight: 600; cursor: pointer }
button:hover { filter: brightness(1.08) }
button:focus-visible { outline: 3px solid var(--act); outline-offset: 3px }
`

/** What a browser may do with a page of ours: nothing but show it, and send its own form to `forms`. */
export function policyFor(forms: string): string {
  const style = createHash("sha256").update(STYLE).digest("base64")
  return `default-src 'none'; style-src 'sha256-${style}'; form-action ${forms}; base-uri 'none'; frame-ancestors 'none'`
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

/** Foreign text on one line, without anything that can't be seen, as a part of HTML. */
function text(foreign: string, max = 80): string {
  const line = foreign
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim()
  const short = line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line
  return `<bdi>${short.replaceAll(/[&<>"']/g, (one) => ENTITIES[one] ?? "")}</bdi>`
}

function page(status: number, title: string, body: string): Page {
  const plain = title.replaceAll(/<[^>]*>/g, "")
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${plain} · Countersign</title><style>${STYLE}</style></head>
<body><main><p class="name">Countersign</p><h1>${title}</h1>${body}</main></body></html>
`
  return { status, html }
}

const whose = ({ person }: About): string => `<strong>@${text(person)}</strong>`

const warning = (about: About): string =>
  `<p class="mark">Are you ${whose(about)}? If not, close this page: whoever goes on lends their own account to somebody else’s runs.</p>`

/** Where somebody comes from Slack. */
export const startPage = (about: About): Page =>
  page(
    200,
    `Connect ${text(about.server)} for @${text(about.person)}’s runs`,
    `<p>Countersign will use <strong>${text(about.server)}</strong> (${text(about.host)}) with the account that you sign in with, in runs that ${whose(about)} of the workspace ${text(about.workspace)} asks for, and in no others.</p>
${warning(about)}
<form method="post"><button>Go on to sign in</button></form>`,
  )

/** What they come back with, kept in the page until they press. */
export function finishPage(about: About, action: string, fields: Readonly<Record<string, string>>): Page {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${attribute(value)}">`,
  )
  return page(
    200,
    `Finish: ${text(about.server)} for @${text(about.person)}`,
    `<p>${text(about.host)} has let you in. With one more press Countersign may use it in ${whose(about)}’s runs, in the workspace ${text(about.workspace)}.</p>
${warning(about)}
<form method="post" action="${attribute(action)}">${inputs.join("")}<button>Finish</button></form>`,
  )
}

const attribute = (value: string): string => value.replaceAll(/[&<>"']/g, (one) => ENTITIES[one] ?? "")

/** `button`: what is pressed on the card; `undo`: the command that takes it back. */
export const donePage = (about: About, { button, undo }: { button: string; undo: string }): Page =>
  page(
    200,
    `${text(about.server)} is connected for @${text(about.person)}`,
    `<p>Go back to Slack and press <strong>${text(button)}</strong> on the card: the run goes on with it. You can close this page.</p>
<p class="soft">To take it back, give the command <strong>${text(undo, 120)}</strong> in Slack.</p>`,
  )

/** Of something that can't go on; `words` are whole sentences, foreign ones among them. */
export const wordsPage = (status: number, title: string, words: string): Page =>
  page(status, text(title), `<p>${text(words, 600)}</p>`)

/** What is said where it doesn't go on. */
export const WORDS = {
  busy: wordsPage(503, "One moment", "Too many people are signing in just now. Please try again in a minute."),
  trouble: wordsPage(
    503,
    "That did not work",
    "Something is wrong on our side just now. Please try again in a minute; nothing has changed.",
  ),
  nothing: wordsPage(404, "There is nothing here", "Countersign’s pages for signing in are reached from Slack alone."),
  method: wordsPage(405, "That can’t be done here", "This page can be opened, and its button pressed."),
  foreign: wordsPage(
    403,
    "That did not come from here",
    "Another page tried to go on in your name. If you came from Slack, open the address there again.",
  ),
  tooLarge: wordsPage(413, "That is too much", "What your browser sent is larger than anything that belongs here."),
  oldLink: wordsPage(
    410,
    "This sign-in is over",
    "It was answered, it ran out, or its address is not complete. In Slack, press the button on the card once more, or ask for it anew.",
  ),
  late: wordsPage(
    410,
    "This sign-in is over",
    `It was finished already, or took longer than ten minutes. In Slack, open the address again to begin anew.`,
  ),
  browser: wordsPage(
    403,
    "This was begun in another browser",
    "A sign-in is finished in the browser that began it. If you did not begin one, close this page: somebody may want to use your account.",
  ),
}
