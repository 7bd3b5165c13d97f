/**
 * Seals what is kept for people under the one key: whoever has Redis alone, or a link alone, can neither read nor change it, nor
 * put one person's in the place of another's. Knows no key's origin and nothing of what it seals.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { canonicalOwn } from "../../core/digest.ts"

/** What is sealed, and whose it is. It is not in the sealed text: who opens it must know. */
export type Place = readonly [what: string, ...whose: string[]]

const CIPHER = "aes-256-gcm"
/** Another way of sealing would have another number. */
const VERSION = 1
const NONCE = 12
const TAG = 16

export class Seal {
  readonly #key: Buffer

  /** @throws RangeError unless the key has 32 bytes. */
  constructor(key: Buffer) {
    if (key.length !== 32) throw new RangeError("a key has 32 bytes")
    this.#key = key
  }

  /** The same value sealed twice is two texts. They hold letters, digits, `-` and `_`. */
  close(place: Place, value: object): string {
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG })
    cipher.setAAD(aad(place))
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()])
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]).toString("base64url")
  }

  /** Undefined for whatever was not sealed under this key for this very place. */
  open(place: Place, text: string): unknown {
    const bytes = Buffer.from(text, "base64url")
    // One spelling alone: base64 lets others pass.
    if (bytes[0] !== VERSION || bytes.length < 1 + NONCE + TAG || bytes.toString("base64url") !== text) return undefined
    const [nonce, tag, sealed] = [bytes.subarray(1, 1 + NONCE), bytes.subarray(13, 13 + TAG), bytes.subarray(13 + TAG)]
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG })
      decipher.setAAD(aad(place))
      decipher.setAuthTag(tag)
      return JSON.parse(Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8"))
    } catch {
      return undefined
    }
  }
}

const aad = (place: Place): Buffer => Buffer.from(canonicalOwn(["countersign", VERSION, ...place]), "utf8")
