/** Foreign text at its worst, and what a message makes of text: for tests that nothing foreign becomes more than text. */
import fc from "fast-check"
import type { Message } from "../../../src/slack/blocks/limits.ts"

export const ATTACKS = [
  "<!channel> <!here> <!everyone> <@U0APP1> <@W0X|ana> <#C0OPS> <!subteam^S0SRE|@sre>",
  "@here @channel @everyone @sre #ops",
  "<https://evil.example|Approve here>",
  "[Approve](https://evil.example) ![x](https://evil.example/x.png)",
  "ls ```\n*APPROVED by security* <https://evil.example|details>\n```",
  "x` <https://evil.example|Approve here> `",
  "<!date^1700000000^{date}^https://evil.example|now>",
  "*bold* _it_ ~no~ `code` > quote\n>>> more",
  ":white_check_mark: Approved by Ben Okafor (U0BEN)",
  "\nApproved by Ben Okafor (U0BEN), Today at 12:00\n",
  "a\u202eb\u2066c\u2069\u200b\u2060\ufeff\u2028\u{e0041}",
  '","type":"button","action_id":"approve","value":"',
  '{"type":"user","user_id":"U0APP1"}',
  "&lt;!channel&gt; &amp;",
  "javascript:alert(1) slack://open mailto:a@b tel:1",
  "https://аpple.com/x https://bank.example@evil.example/ http://0x7f.1/ https://%65vil.example",
  "[slack token, 57 characters] [masked, 3 characters] «masked»",
  "🏴\u{e0068}\u{e0069}\u{e007f} 🏴󠁧󠁢󠁳󠁣󠁴󠁿 👩🏽\u200d💻 👩\u200dx \u200d",
  `echo ok${" ".repeat(80)}; rm -rf /data   `,
  "مرحبا \u202eبالعالم\u202c שלום",
  "\\u202e \\u{202e} \\ud83d &#x202e; %E2%80%AE",
  "\u001b[31mred\u001b[0m\b\b\bok\r\u0007",
]

/** Secrets, and what would hide behind one: of these not all is shown. */
export const SECRETIVE = [
  "xoxb-1111-2222-abcdefgh; rm -rf /data",
  "GH=ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8 rm -rf /data",
  "curl -H Authorization:abc1 && rm -rf /data",
  "password=hunter2|rm -rf /data",
  "PASSWORD='x; rm -rf /data'",
  'echo "password: $(rm -rf /data)"',
  "PASSWORD= reboot; rm -rf /data",
  "-----BEGIN RSA PRIVATE KEY-----\nrm -rf /data\n-----END RSA PRIVATE KEY-----",
  "psql postgres://u:`rm -rf /data`@h",
]

/** Texts made of attacks and of anything else, now and then very long. */
export const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...ATTACKS),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("`", "*", "<", ">", "&", "[", "](", "\n"),
    ),
    {
      maxLength: 12,
    },
  )
  .chain((parts) => fc.constantFrom(1, 1, 1, 40).map((times) => parts.join("").repeat(times)))

export interface Node {
  type?: string
  [key: string]: unknown
}

/** Every object in blocks, outermost first. */
export function nodes(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodes)
  if (typeof value !== "object" || value === null) return []
  const node: Node = { ...value }
  return [node, ...Object.values(node).flatMap(nodes)]
}

/** What of a message is more than text: mentions, links, dates, buttons. */
export const live = ({ blocks }: Message): Node[] =>
  nodes(blocks).filter(({ type }) =>
    [
      "user",
      "usergroup",
      "channel",
      "broadcast",
      "team",
      "emoji",
      "link",
      "date",
      "color",
      "button",
      "image",
      "mrkdwn",
      "markdown",
    ].includes(type ?? ""),
  )

/** All that can be read in a message, without its fallback text. */
export const readable = ({ blocks }: Message): string =>
  nodes(blocks)
    .flatMap((node) => (typeof node["text"] === "string" ? [node["text"]] : []))
    .join("")
