/**
 * How Slack keeps text: `&`, `<` and `>` as entities, except in the control sequences of mrkdwn. It knows nothing of blocks.
 * https://docs.slack.dev/messaging/formatting-message-text
 */

/** What may stand between `<` and `>`: a person, channel, group, broadcast, date or link, with an optional label. */
const CONTROL =
  /^(?:@[UW]\w+|#[CG]\w+|!subteam\^S\w+|!(?:here|channel|everyone)|!date\^.+|https?:\/\/\S+?|mailto:\S+?)(?:\|[^<>]*)?$/

const ampersands = (text: string): string => text.replace(/&(?!(?:amp|lt|gt);)/g, "&amp;")
const angles = (text: string): string => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** A `plain_text` as stored: no control sequences; an entity that is already there stays one. */
export const escapePlain = (text: string): string => angles(ampersands(text))

/** Mrkdwn as stored: control sequences stay, any other angle bracket becomes text. */
export const escapeMrkdwn = (text: string): string =>
  ampersands(text).replace(/<([^<>]*)>|[<>]/g, (whole, inner: string | undefined) =>
    inner !== undefined && CONTROL.test(inner) ? whole : angles(whole),
  )

/** What somebody typed, as stored: every character is text. */
export const escapeTyped = (text: string): string => angles(text.replaceAll("&", "&amp;"))

/** With the names of these people that stand behind an @, in whatever case, as Slack's own box makes mentions of them. */
export const named = (text: string, people: readonly { id: string; name: string }[]): string =>
  text.replaceAll(/(?<![\w@.<])@([\w.-]*\w)/g, (whole, name: string) => {
    const person = people.find((one) => one.name === name.toLowerCase())
    return person ? `<@${person.id}>` : whole
  })
