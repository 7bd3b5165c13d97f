/**
 * What stands beside a conversation with the app: what people might ask, and that something is under way. It knows no message.
 */

export interface Prompt {
  title: string
  message: string
}

export class Beside {
  /** By channel. */
  readonly #prompts = new Map<string, readonly Prompt[]>()
  /** By channel and thread. */
  readonly #statuses = new Map<string, string>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  suggest(channel: string, prompts: readonly Prompt[]): void {
    this.#prompts.set(channel, prompts)
    this.#changed()
  }

  /** Empty takes it away; so does whatever the app writes there. */
  setStatus(channel: string, thread: string, status: string): void {
    if (status === "" && !this.#statuses.delete(`${channel} ${thread}`)) return
    if (status !== "") this.#statuses.set(`${channel} ${thread}`, status)
    this.#changed()
  }

  promptsOf(channel: string): readonly Prompt[] {
    return this.#prompts.get(channel) ?? []
  }

  /** By thread. */
  statusesOf(channel: string): Record<string, string> {
    const own = [...this.#statuses].filter(([key]) => key.startsWith(`${channel} `))
    return Object.fromEntries(own.map(([key, status]) => [key.slice(channel.length + 1), status]))
  }
}
