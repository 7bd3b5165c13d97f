/** Events from one that makes them to one that reads them. Knows nothing of what they say. */

export class Events<T> implements AsyncIterable<T> {
  readonly #waiting: { event: T; taken: () => void }[] = []
  #reader: (() => void) | undefined
  #end: { error?: unknown } | undefined

  push(event: T): void {
    this.#waiting.push({ event, taken: () => {} })
    this.#reader?.()
  }

  /** Resolves when the reader has the event and had a moment to act on it. */
  async handOver(event: T): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push({ event, taken: resolve })
      this.#reader?.()
    })
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }

  /** No more of them; with an `error`, the reader gets it after the last one. */
  end(how: { error?: unknown } = {}): void {
    this.#end ??= how
    this.#reader?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) {
        next.taken()
        yield next.event
      } else if (this.#end !== undefined) {
        if ("error" in this.#end) throw this.#end.error
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#reader = resolve
        })
        this.#reader = undefined
      }
    }
  }
}
