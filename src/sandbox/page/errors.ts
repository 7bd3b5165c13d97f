/** Slack's words for what it says when an app does not answer well. */

const known: Record<string, string> = {
  no_connection: "The local Slack cannot be reached.",
  not_in_channel: "You are not in this conversation.",
  channel_not_found: "You are not in this conversation.",
}

const words = (error: string): string => known[error] ?? `The local Slack says “${error}”.`

const silent = ["operation_timeout", "dispatch_failed", "app_not_responding"]

/** For a slash command, as Slackbot says it under the box. */
export function commandError(command: string, error: string): string {
  if (error === "operation_timeout") return `${command} failed with the error “operation_timeout”.`
  if (error === "dispatch_failed") return `${command} failed with the error “dispatch_failed”.`
  if (error === "unknown_command") return `${command} is not a valid command.`
  return words(error)
}

/** For a press of a button, beside it. */
export const pressError = (error: string): string =>
  silent.includes(error) ? "This app did not respond. (operation_timeout)" : words(error)

/** For the submit button of a modal. */
export const submitError = (error: string): string =>
  silent.includes(error) ? "We had some trouble connecting. Try again?" : words(error)
