import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, brotliCompressSync, brotliDecompressSync, constants } from "node:zlib"

/**
 * Under the key of a project and day: AES-256-GCM of what brotli leaves, and ids by HMAC, so that equal texts of two projects, or
 * of two days, have different ids. `context` is authenticated: a sealed value opens only where it belongs.
 *
 * @typedef {{ seal: Buffer, id: Buffer }} DayKeys
 */

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16
export const idBytes = 16
/** A sample is at most a few MiB: more is not what was sealed. */
const maxOpenedBytes = 64 * 1024 * 1024
/** 6.6 times smaller at 15 ms for 395 KB; higher levels take several times as long for some percent. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** @param {Uint8Array} dayKey @returns {DayKeys} */
export const keysOf = (dayKey) => ({
  seal: createHmac("sha256", dayKey).update("seal").digest(),
  id: createHmac("sha256", dayKey).update("id").digest()
})

/** @param {Uint8Array} key @param {string} text */
export const idOf = (key, text) =>
  createHmac("sha256", key)
    .update(text)
    .digest("hex")
    .slice(0, 2 * idBytes)

/** @param {Uint8Array} key @param {string} context @param {Uint8Array} content */
export const seal = (key, context, content) => encrypted(key, context, brotliCompressSync(content, brotli))

const compressed = promisify(brotliCompress)

/** The same on a thread of the pool. @param {Uint8Array} key @param {string} context @param {Uint8Array} content */
export const sealLater = async (key, context, content) => encrypted(key, context, await compressed(content, brotli))

/** @param {Uint8Array} key @param {string} context @param {Uint8Array} content */
const encrypted = (key, context, content) => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** `undefined` when the key or the context is another one, or it was modified. @param {Uint8Array} key @param {string} context @param {Uint8Array} sealed */
export const open = (key, context, sealed) => {
  if (sealed.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    const content = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()])
    return brotliDecompressSync(content, { maxOutputLength: maxOpenedBytes })
  } catch {
    return undefined
  }
}
