import { createHash, createHmac, hash } from "node:crypto"

/**
 * One sign-in at the issuer, from the redirect there to the redirect back. The browser keeps a secret in a cookie: the time of the
 * beginning, and random bytes. All else is derived from it, so that only this browser can end what it began, whoever changes the time
 * has another sign-in, and the gateway stores no more than a hash, of those that have ended.
 */
export interface SignInFlow {
  /** In hex. */
  readonly hash: string
  readonly state: string
  readonly nonce: string
  /** Of PKCE. */
  readonly codeVerifier: string
  readonly codeChallenge: string
}

const timeBytes = 6
const randomBytes = 32
const form = /^[A-Za-z0-9_-]{51}$/

export const mintSecret = (fill: (bytes: Uint8Array) => void, nowMillis: number): string => {
  const bytes = Buffer.alloc(timeBytes + randomBytes)
  bytes.writeUIntBE(Math.floor(nowMillis), 0, timeBytes)
  fill(bytes.subarray(timeBytes))
  return bytes.toString("base64url")
}

/** When the sign-in of this secret began; `undefined` of what is none. */
export const begunMillisOf = (secret: string): number | undefined =>
  form.test(secret) ? Buffer.from(secret, "base64url").readUIntBE(0, timeBytes) : undefined

export const flowOf = (secret: string): SignInFlow => {
  const derived = (purpose: string) => createHmac("sha256", secret).update(purpose).digest("base64url")
  const codeVerifier = derived("code verifier")
  return {
    hash: hash("sha256", secret, "hex"),
    state: derived("state"),
    nonce: derived("nonce"),
    codeVerifier,
    codeChallenge: createHash("sha256").update(codeVerifier).digest("base64url")
  }
}
