/** Where commands and replies of Redis' protocol (RESP 2 and 3) begin and end. Knows no command's meaning. */

const CR = 0x0d

/** The index behind the value that begins at `at`; -1 when it is not there as a whole yet. */
export function endOf(bytes: Buffer, at: number): number {
  const line = bytes.indexOf(CR, at)
  if (line === -1 || line + 1 >= bytes.length) return -1
  const next = line + 2
  const type = String.fromCharCode(bytes[at] ?? 0)
  const count = Number(bytes.toString("latin1", at + 1, line))
  if ("$=!".includes(type)) {
    if (count < 0) return next
    return next + count + 2 <= bytes.length ? next + count + 2 : -1
  }
  if ("*~>".includes(type)) return endOfAll(bytes, next, count)
  return type === "%" ? endOfAll(bytes, next, 2 * count) : next
}

function endOfAll(bytes: Buffer, at: number, count: number): number {
  let end = at
  for (let i = 0; i < count; i++) {
    end = endOf(bytes, end)
    if (end === -1) return -1
  }
  return end
}

/** The words of a command as a client sends it. */
export function wordsOf(command: Buffer): string[] {
  const words: string[] = []
  let at = command.indexOf(CR) + 2
  while (at < command.length) {
    const line = command.indexOf(CR, at)
    const length = Number(command.toString("latin1", at + 1, line))
    words.push(command.toString("utf8", line + 2, line + 2 + length))
    at = line + 2 + length + 2
  }
  return words
}

/** Takes whole values out of a stream of bytes. */
export class Frames {
  #left: Buffer = Buffer.alloc(0)

  take(chunk: Buffer): Buffer[] {
    let bytes = this.#left.length === 0 ? chunk : Buffer.concat([this.#left, chunk])
    const whole: Buffer[] = []
    for (let end = next(bytes); end !== -1; end = next(bytes)) {
      whole.push(bytes.subarray(0, end))
      bytes = bytes.subarray(end)
    }
    this.#left = bytes
    return whole
  }
}

const next = (bytes: Buffer): number => (bytes.length === 0 ? -1 : endOf(bytes, 0))
