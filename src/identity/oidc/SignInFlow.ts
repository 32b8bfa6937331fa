import { createHash, createHmac, hash } from "node:crypto"

/**
 * One sign-in at the issuer, from the redirect there to the redirect back. The browser keeps a random secret in a cookie; all else is
 * derived from it, so that only this browser can end what it began and the gateway stores no more than a hash.
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

const secretBytes = 32

export const mintSecret = (fill: (bytes: Uint8Array) => void): string => {
  const bytes = Buffer.alloc(secretBytes)
  fill(bytes)
  return bytes.toString("base64url")
}

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
