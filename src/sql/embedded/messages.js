// Of the wire protocol.

/**
 * A message with its type and length.
 *
 * @param {string} type
 * @param {Uint8Array} body
 */
export const message = (type, body) => {
  const bytes = new Uint8Array(5 + body.length)
  bytes[0] = type.charCodeAt(0)
  new DataView(bytes.buffer).setInt32(1, 4 + body.length)
  bytes.set(body, 5)
  return bytes
}

/** @param {ReadonlyArray<Uint8Array>} parts */
export const concat = (...parts) => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
