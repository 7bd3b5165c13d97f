/**
 * Where somebody is to sign in: whether that may be shown at all, and the window that shows it whole. Pure; it opens nothing
 * and answers nothing.
 */
import type { KnownBlock, ModalView } from "@slack/types"
import { windowOf } from "./forms.ts"
import { PRESS } from "./intent.ts"
import { LIMITS } from "./limits.ts"
import { bold, code, exactly, rich, section } from "./rich.ts"
import { cautions, clip, oneLine, toolName, visible } from "./text.ts"

/** An address that may be shown. */
export interface Place {
  ok: true
  /** As a browser goes there. */
  href: string
  host: string
  /** What of it may look like something else, as sentences. */
  warnings: string[]
}
export type PlaceOf = Place | { ok: false; why: string }

/**
 * Whether somebody may be sent there: https (http on this machine alone), no name or password in it, and a host that is
 * listed, by name or as `*.example.com` for what is below it. With nothing listed nowhere: the address comes from a tool at
 * work, and a wrong one is how passwords get stolen. `why` is a whole sentence.
 */
export function placeOf(raw: string, hosts: readonly string[]): PlaceOf {
  if (!URL.canParse(raw)) return no("what the tool gave is no address.")
  const url = new URL(raw)
  const { protocol, hostname: host, href } = url
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(host)
  if (protocol !== "https:" && !(protocol === "http:" && isLocal))
    return no("the address is not encrypted (https), so others could read what passes there.")
  if (url.username !== "" || url.password !== "")
    return no("the address has a name or password in it, by which it may look like another one.")
  if (href.length > LIMITS.url) return no("the address is too long for Slack.")
  if (!hosts.some((listed) => covers(listed.toLowerCase(), host)))
    return no(
      `${clip(oneLine(host), 300)} is not among the hosts where people may be asked to sign in. If it is right, whoever runs Countersign can add it to authorizationHosts.`,
    )
  return { ok: true, href, host, warnings: warningsOf(raw, href, host) }
}

const no = (why: string): PlaceOf => ({ ok: false, why })

const covers = (listed: string, host: string): boolean =>
  listed.startsWith("*.") ? host.endsWith(listed.slice(1)) : listed === host

function warningsOf(raw: string, href: string, host: string): string[] {
  const puny = /(?:^|\.)xn--/.test(host)
    ? ["Its name has letters that are not plain Latin ones; written here as a browser sends it, with xn--."]
    : []
  return [...puny, ...cautions(raw, visible(raw)), ...(/%[0-7][\da-f]/i.test(href) ? [ESCAPED] : [])]
}

const ESCAPED = "It has characters written as %… that browsers may show otherwise."

/** The window, for whoever asked for the run and nobody else. */
export function signInView(tool: string, { href, host, warnings }: Place): ModalView {
  const odd: KnownBlock[] =
    warnings.length === 0
      ? []
      : [rich(section(bold("⚠ Look closely"), ...warnings.slice(0, 8).map((it) => `\n• ${clip(visible(it), 300)}`)))]
  return windowOf("sign-in", [
    rich(
      section(
        code(toolName(tool)),
        " needs you to sign in at ",
        bold(host),
        ". Only you are shown this address; don't pass it on.",
      ),
      section(bold("The whole address")),
      exactly(visible(href)),
    ),
    ...odd,
    {
      type: "actions",
      elements: [
        {
          type: "button",
          action_id: PRESS.link,
          text: { type: "plain_text", text: `Open ${clip(host, 60)}`.slice(0, 75), emoji: false },
          accessibility_label: "Open the address in the browser",
          url: href,
        },
      ],
    },
    rich(
      section(
        "Check that the browser shows this very host before you type anything. Opening it answers nothing: when you are done, close this window and press “I have done it” on the card. The tool then looks whether it is so.",
      ),
    ),
  ])
}
