import { createHmac, hash, timingSafeEqual } from "node:crypto"

const tokenPrefix = "mrg_st_"
const codePrefix = "mrg_sc_"
const secretBytes = 32
const form = /^mrg_s[tc]_[A-Za-z0-9_-]{43}$/

type Fill = (bytes: Uint8Array) => void

/** A session's token with 256 random bits; `fill` overwrites the bytes it is given with random ones. */
export const mintToken = (fill: Fill): string => tokenPrefix + randomText(fill)

/** A sign-in code, as long as a token, so that guessing it is as hopeless. */
export const mintCode = (fill: Fill): string => codePrefix + randomText(fill)

/** Whether it can be a token at all; anything else is rejected without a lookup. */
export const isToken = (text: string): boolean => text.startsWith(tokenPrefix) && form.test(text)
export const isCode = (text: string): boolean => text.startsWith(codePrefix) && form.test(text)

/** SHA-256 in hex. An unsalted hash is enough for 256 random bits. */
export const hashOf = (secret: string): string => hash("sha256", secret, "hex")

/**
 * What a page sends with every request beside its cookie. It is derived from the session's token, which the page cannot read, so
 * that nothing more has to be stored.
 */
export const pageTokenOf = (token: string): string =>
  createHmac("sha256", token).update("page token").digest("base64url")

export const isPageTokenOf = (given: string, token: string): boolean => {
  const [left, right] = [Buffer.from(given), Buffer.from(pageTokenOf(token))]
  return left.length === right.length && timingSafeEqual(left, right)
}

const randomText = (fill: Fill): string => {
  const bytes = Buffer.alloc(secretBytes)
  fill(bytes)
  return bytes.toString("base64url")
}
