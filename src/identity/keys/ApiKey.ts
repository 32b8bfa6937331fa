import { hash } from "node:crypto"
import { crc32 } from "node:zlib"

const prefix = "mrg_sk_"
const secretLength = 32
const checksumLength = 6
/** The prefix, the secret and the checksum. */
const form = /^mrg_sk_[0-9A-Za-z]{38}$/
const shownLength = 12
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** `fill` overwrites the bytes it is given with random ones. */
export const mint = (fill: (bytes: Uint8Array) => void): string => {
  let body = prefix
  const bytes = new Uint8Array(2 * secretLength)
  while (body.length < prefix.length + secretLength) {
    fill(bytes)
    for (const byte of bytes) {
      // 248 = 4 × 62: the other eight values would make the first digits more likely.
      if (byte < 248 && body.length < prefix.length + secretLength) body += base62.charAt(byte % 62)
    }
  }
  return body + checksumOf(body)
}

/** Whether shape and checksum are valid: a typing error or junk is rejected without a database lookup. */
export const wellFormed = (key: string): boolean =>
  form.test(key) && checksumOf(key.slice(0, -checksumLength)) === key.slice(-checksumLength)

/** SHA-256 of the complete key, in hex. An unsalted hash is enough: the key has 190 random bits. */
export const hashOf = (key: string): string => hash("sha256", key, "hex")

/** The part of a key that may be shown after its creation. */
export const prefixOf = (key: string): string => key.slice(0, shownLength)

/** CRC-32 (IEEE) in base62, most significant digit first. */
export const checksumOf = (body: string): string => {
  let rest = crc32(body)
  let digits = ""
  for (let i = 0; i < checksumLength; i++) {
    digits = base62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
