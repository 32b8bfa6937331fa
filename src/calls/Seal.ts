import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

/**
 * Encrypts bytes for whoever sends a request again: the database has only hashes of what the secret is made of, so nobody else can
 * decrypt what it stores. AES-256-GCM with a key derived from the secret and `purpose`.
 */
export const seal = (secret: string, purpose: string, content: Uint8Array): Buffer => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, derived(secret, purpose), nonce)
  const sealed = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** `undefined` when it was sealed with another secret or for another purpose, or was modified. */
export const unseal = (secret: string, purpose: string, sealed: Uint8Array): Buffer | undefined => {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, derived(secret, purpose), bytes.subarray(0, nonceBytes))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16
const keyBytes = 32

const derived = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "", purpose, keyBytes))
