/** What the bytes of an image say of it. */
export interface ImageType {
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp"
  readonly width: number
  readonly height: number
}

/** By the first bytes and the header alone, never by a name; `undefined` for whatever is none of the four. */
export const imageTypeOf = (bytes: Uint8Array): ImageType | undefined => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return png(data) ?? gif(data) ?? webp(data) ?? jpeg(data)
}

const png = (data: Buffer): ImageType | undefined =>
  data.length >= 24 &&
  data.toString("latin1", 0, 8) === "\x89PNG\r\n\x1a\n" &&
  data.toString("latin1", 12, 16) === "IHDR"
    ? { mediaType: "image/png", width: data.readUInt32BE(16), height: data.readUInt32BE(20) }
    : undefined

const gif = (data: Buffer): ImageType | undefined =>
  data.length >= 10 && /^GIF8[79]a$/.test(data.toString("latin1", 0, 6))
    ? { mediaType: "image/gif", width: data.readUInt16LE(6), height: data.readUInt16LE(8) }
    : undefined

const webp = (data: Buffer): ImageType | undefined => {
  if (data.length < 30 || data.toString("latin1", 0, 4) !== "RIFF" || data.toString("latin1", 8, 12) !== "WEBP") {
    return undefined
  }
  const mediaType = "image/webp"
  switch (data.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { mediaType, width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff }
    case "VP8L": {
      const bits = data.readUInt32LE(21)
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case "VP8X":
      return { mediaType, width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** The frame header is behind other segments, each with its length. */
const jpeg = (data: Buffer): ImageType | undefined => {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= data.length) {
    if (data[at] !== 0xff) return undefined
    const marker = data[at + 1] ?? 0
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (isFrame(marker)) {
      return { mediaType: "image/jpeg", height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) }
    }
    at += 2 + data.readUInt16BE(at + 2)
  }
  return undefined
}

/** Start of frame; three markers of its range mean something else. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
