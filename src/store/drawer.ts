/**
 * Texts that belong to no run, each under a name and for some time: what is kept between a person's visits. All of it is in the
 * first shard. Knows nothing of what they say: whoever puts something here has sealed it.
 */
import type { Connection } from "./connection.ts"

export class Drawer {
  readonly #connection: Connection
  readonly #before: string

  /** `before`: what all its keys begin with. */
  constructor(connection: Connection, before: string) {
    this.#connection = connection
    this.#before = before
  }

  /** Reads one; with `ms` it stays so long from now on. */
  async read(name: string, ms?: number): Promise<string | undefined> {
    const text = await this.#do((redis, key) => (ms === undefined ? redis.get(key) : redis.getex(key, "PX", ms)), name)
    return text ?? undefined
  }

  async put(name: string, text: string, ms: number): Promise<void> {
    await this.#do((redis, key) => redis.set(key, text, "PX", ms), name)
  }

  /** Reads one and takes it out: of several who try, one has it. When Redis' reply is lost, it is lost with it. */
  async take(name: string): Promise<string | undefined> {
    return (await this.#do((redis, key) => redis.getdel(key), name)) ?? undefined
  }

  /** Puts `to` in the place of `from`, if that is what stands there. Undefined is none. */
  async swap(name: string, from: string | undefined, to: string | undefined, ms = 0): Promise<boolean> {
    const args = [this.#before + name, from ?? "", to ?? "", String(ms)]
    return (await this.#connection.surely(() => this.#connection.run("swap", args))) === 1
  }

  #do<T>(command: (redis: ReturnType<Connection["at"]>, key: string) => Promise<T>, name: string): Promise<T> {
    const key = this.#before + name
    return this.#connection.surely(() => command(this.#connection.at(key), key))
  }
}
