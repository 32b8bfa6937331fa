import { idOf } from "./seal.js"

/**
 * What is kept of an image, audio or file: its type, its size and an id, never a byte or an address.
 *
 * @typedef {{ id: string, type: "image" | "audio" | "file", mediaType: string | null, bytes: number | null,
 *   pixels: { width: number, height: number } | null }} Media
 */

/** Enough for the header of an image, in characters of base64. */
const headerCharacters = 65_536
const dataUrl = /^data:([a-zA-Z0-9.+/-]{0,100})[^,]{0,200},/

/** @param {Uint8Array} key @param {Media["type"]} type @param {string} source a data URL, an address, or base64 @param {string | null} [mediaType] @returns {Media} */
export const mediaOf = (key, type, source, mediaType = null) => {
  const id = idOf(key, `media\0${source}`)
  const found = dataUrl.exec(source.slice(0, 400))
  if (found === null && mediaType === null) return { id, type, mediaType: null, bytes: null, pixels: null }
  const data = found === null ? source : source.slice(found[0].length)
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0
  return {
    id,
    type,
    mediaType: found === null ? mediaType : found[1] || null,
    bytes: Math.floor((data.length * 3) / 4) - padding,
    pixels: type === "image" ? pixelsOf(Buffer.from(data.slice(0, headerCharacters), "base64")) : null
  }
}

/** @param {Buffer} bytes */
const pixelsOf = (bytes) => {
  if (bytes.length >= 24 && bytes.readUInt32BE(0) === 0x89504e47) {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  }
  if (bytes.length >= 10 && bytes.toString("latin1", 0, 3) === "GIF") {
    return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  }
  return bytes.length >= 4 && bytes.readUInt16BE(0) === 0xffd8 ? pixelsOfJpeg(bytes) : null
}

/** The size stands in the first segment of a start of frame. @param {Buffer} bytes */
const pixelsOfJpeg = (bytes) => {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}
