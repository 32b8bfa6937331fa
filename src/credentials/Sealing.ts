import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"

/**
 * Encrypts what must be readable again: AES-256-GCM with a key that is derived from the master key. `context` is authenticated
 * too, so that a sealed value opens only where it belongs.
 */
export const seal = (key: Uint8Array, context: string, content: string): Buffer => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(content, "utf8"), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** With the first key that opens it; `undefined` when none does, in another context, or when it was modified. */
export const open = (keys: ReadonlyArray<Uint8Array>, context: string, sealed: Uint8Array): string | undefined => {
  for (const key of keys) {
    const opened = openWith(key, context, sealed)
    if (opened !== undefined) return opened
  }
  return undefined
}

export const openWith = (key: Uint8Array, context: string, sealed: Uint8Array): string | undefined => {
  if (sealed.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    const content = decipher.update(sealed.subarray(nonceBytes + tagBytes))
    return Buffer.concat([content, decipher.final()]).toString("utf8")
  } catch {
    return undefined
  }
}

/** Tells two sealings apart, and nothing of what they have sealed. */
export const versionOf = (sealed: Uint8Array): string =>
  Buffer.from(sealed.subarray(0, nonceBytes)).toString("base64url")

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16
