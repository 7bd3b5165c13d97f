/** Slack's words for what it says when an app does not answer well. */

const known: Record<string, string> = {
  no_connection: "The local Slack cannot be reached.",
  channel_not_found: "You are not in this conversation.",
  unreadable_file: "A file could not be read. Pick it again.",
  not_posted: "The message was not posted: you are not in this conversation.",
  no_such_action: "This was changed or removed in the meantime.",
  no_such_view: "This form was closed in the meantime.",
}

const words = (error: string): string => known[error] ?? `The app answered with “${error}”.`

const silent = ["operation_timeout", "dispatch_failed"]

/** For a slash command, as Slackbot says it under the box. */
export function commandError(command: string, error: string): string {
  if (error === "invalid_command") return `${command} is not a valid command.`
  if (error === "command_in_thread") return `${command} is not supported in threads. Sorry!`
  return known[error] ?? `${command} failed with the error “${error}”.`
}

/** For a press of a button, below it. */
export const pressError = (error: string): string =>
  silent.includes(error) ? `This app did not respond (${error}).` : words(error)

/** For the submit button of a modal; undefined when the fields say it themselves. */
export function submitError(error: string): string | undefined {
  if (error === "incomplete") return undefined
  return silent.includes(error) ? "We had some trouble connecting. Try again?" : words(error)
}
