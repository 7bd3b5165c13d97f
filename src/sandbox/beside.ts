/**
 * What stands beside a conversation with the app: what people might ask, and that something is under way. It knows no message.
 */

export interface Prompt {
  title: string
  message: string
}

/** ms that Slack shows a status for which nothing comes. */
const SHOWN_FOR = 120_000

export class Beside {
  /** By channel. */
  readonly #prompts = new Map<string, readonly Prompt[]>()
  /** By channel and thread. */
  readonly #statuses = new Map<string, string>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  suggest(channel: string, prompts: readonly Prompt[]): void {
    this.#prompts.set(channel, prompts)
    this.#changed()
  }

  /** Empty takes it away; so do whatever the app writes there, and time. */
  setStatus(channel: string, thread: string, status: string): void {
    const key = `${channel} ${thread}`
    clearTimeout(this.#timers.get(key))
    this.#timers.delete(key)
    if (status === "" && !this.#statuses.delete(key)) return
    if (status !== "") {
      this.#statuses.set(key, status)
      this.#timers.set(key, setTimeout(() => this.setStatus(channel, thread, ""), SHOWN_FOR).unref())
    }
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
