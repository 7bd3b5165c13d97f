/**
 * Processes for bots. To start one costs seconds, so several bots share one: each is dead for everybody when its wires are
 * cut, and the process is killed (SIGKILL) when the last of its bots is. Two bots of one cell never share a process.
 */
import { fork, type ChildProcess } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Order, Report } from "./bot.process.ts"

export interface Seat {
  pid: number
  /** The bot is dead. */
  leave(): void
  /** Resolves when its process is. */
  gone: Promise<void>
}

interface Car {
  child: ChildProcess
  pid: number
  given: number
  taken: number
  gone: Promise<void>
  pending: Map<number, (report: Report) => void>
}

/** Bots that start at the same time; more only hold each other up. */
const AT_ONCE = 4
/** How long a bot is started again and again before it is given up, ms: Slack may hang for a minute meanwhile. */
const START_WITHIN = 90_000
/** From one start in vain to the next, ms. */
const AGAIN = 1000

export class Fleet {
  readonly #seats: number
  readonly #cars = new Set<Car>()
  readonly #waiting: (() => void)[] = []
  #orders = 0
  #starting = 0

  /** `seats`: how many bots one process gets in its life; with 1 each bot is a process of its own. */
  constructor(seats: number) {
    this.#seats = seats
  }

  /** Starts a bot, in none of the processes `not`; resolves when it is connected to Slack and Redis. */
  async start(order: Omit<Order, "id">, not: readonly number[] = []): Promise<Seat> {
    while (this.#starting >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#starting += 1
    try {
      return await this.#start(order, not)
    } finally {
      this.#starting -= 1
      this.#waiting.shift()?.()
    }
  }

  async #start(order: Omit<Order, "id">, not: readonly number[]): Promise<Seat> {
    const car = [...this.#cars].find(({ given, pid }) => given < this.#seats && !not.includes(pid)) ?? this.#launch()
    car.given += 1
    car.taken += 1
    for (const until = performance.now() + START_WITHIN; ;) {
      const { fault } = await this.#ordered(car, order)
      if (fault === undefined) return { pid: car.pid, leave: () => this.#left(car), gone: car.gone }
      // A busy machine answers too late for a start; whoever looks after a bot starts it again.
      if (performance.now() > until) throw new Error(`a bot did not start: ${fault}`)
      await new Promise((resolve) => setTimeout(resolve, AGAIN))
    }
  }

  #ordered({ pending, child }: Car, order: Omit<Order, "id">): Promise<Report> {
    const id = (this.#orders += 1)
    return new Promise<Report>((resolve) => {
      pending.set(id, (report) => {
        pending.delete(id)
        resolve(report)
      })
      // It may have died since it was chosen.
      child.send({ ...order, id } satisfies Order, (error) => error && pending.get(id)?.({ id, fault: error.message }))
    })
  }

  #launch(): Car {
    const source = fileURLToPath(new URL("../source.mjs", import.meta.url))
    const program = fileURLToPath(new URL("./bot.process.ts", import.meta.url))
    const child = fork(source, [program], { execArgv: [], env: { PATH: process.env["PATH"] }, stdio: "inherit" })
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
    const car: Car = { child, pid: child.pid ?? 0, given: 0, taken: 0, gone, pending: new Map() }
    child.on("message", (report: Report) => car.pending.get(report.id)?.(report))
    child.on("exit", (code, signal) => {
      this.#cars.delete(car)
      const fault = `its process ended (${signal ?? code})`
      for (const [id, tell] of car.pending) tell({ id, fault })
    })
    this.#cars.add(car)
    return car
  }

  #left(car: Car): void {
    car.taken -= 1
    if (car.taken > 0 || car.given < this.#seats) return
    this.#cars.delete(car)
    car.child.kill("SIGKILL")
  }

  close(): void {
    for (const { child } of this.#cars) child.kill("SIGKILL")
    this.#cars.clear()
  }
}
