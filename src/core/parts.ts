/** What one message to the model consists of. Data alone; which model takes what is not known here. */

/** `data` is base64, and the file's bytes are of the kind that `mediaType` says. */
export type Part = { type: "text"; text: string } | { type: "file"; mediaType: string; data: string; filename: string }

/** A transcript entry: what a person says, and what they attached. */
export const userMessage = (text: string, parts: readonly Part[] = []): string =>
  JSON.stringify({ role: "user", content: [{ type: "text", text: text.toWellFormed() }, ...parts] })
