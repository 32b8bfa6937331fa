import { createHmac, timingSafeEqual } from "node:crypto"

/** What the key of a proof is derived for. */
export const proofPurpose = "sign-in proof"

/** A proof older or newer than this is refused. */
export const maxAgeMillis = 60_000
const form = /^(\d{13})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/

/**
 * Shows that its maker has the master key: `<milliseconds>.<16 random bytes>.<HMAC-SHA256 of both>`. Whoever can read that key
 * could read all that is sealed, so that it is enough to sign in as the operator.
 */
export const make = (key: Uint8Array, nowMillis: number, fill: (bytes: Uint8Array) => void): string => {
  const nonce = Buffer.alloc(16)
  fill(nonce)
  const claim = `${Math.floor(nowMillis)}.${nonce.toString("base64url")}`
  return `${claim}.${macOf(key, claim)}`
}

/** Whether one of the keys has made it, now; using it only once is up to the caller. */
export const isValid = (proof: string, keys: ReadonlyArray<Uint8Array>, nowMillis: number): boolean => {
  const [, millis = "", nonce = "", mac = ""] = form.exec(proof) ?? []
  if (mac === "" || Math.abs(nowMillis - Number(millis)) > maxAgeMillis) return false
  return keys.some((key) => timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(key, `${millis}.${nonce}`))))
}

const macOf = (key: Uint8Array, claim: string): string => createHmac("sha256", key).update(claim).digest("base64url")
