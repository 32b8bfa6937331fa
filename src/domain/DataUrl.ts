import { headOf, isDataUrl } from "./MediaTypes.ts"

/** Content of a data: URL. */
export interface Inline {
  /** In lower case, without parameters; `text/plain` when the URL has none, as RFC 2397 defines. */
  readonly mediaType: string
  /** Standard alphabet, padded, without whitespace. */
  readonly base64: string
}

/** `undefined` unless it is a data: URL whose content can be read. */
export const parse = (url: string): Inline | undefined => {
  const head = headOf(url)
  if (head === undefined) return undefined
  const body = url.slice(head.contentAt)
  const base64 = head.isBase64 ? standard(body) : fromPercent(body)
  return base64 === undefined ? undefined : { mediaType: head.mediaType, base64 }
}

/** The content of a text; `undefined` where it cannot be read. */
export const textOf = (url: string): string | undefined => bytesOf(url)?.toString("utf8")

/** The content; `undefined` where it cannot be read. */
export const bytesOf = (url: string): Buffer | undefined => {
  const inline = parse(url)
  return inline && Buffer.from(inline.base64, "base64")
}

/** What to say of a URL that cannot be parsed: `otherwise` of one that is no data: URL. */
export const faultOf = (url: string | undefined, otherwise: string): string =>
  url !== undefined && isDataUrl(url)
    ? "The data: URL cannot be read: it has to be data:<media type>;base64,<content in base64>."
    : otherwise

/** Almost all bodies are in standard form and pass one check; the others are decoded and normalized. */
const standard = (body: string): string | undefined => {
  if (isStandard(body)) return body
  const decoded = unescaped(body)
  if (decoded === undefined) return undefined
  const bare = withoutPadding(decoded.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/"))
  if (bare.length % 4 === 1) return undefined
  const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, "=")
  return isStandard(padded) ? padded : undefined
}

/** A regular expression would backtrack at each `=`. */
export const withoutPadding = (base64: string): string => {
  let end = base64.length
  while (base64.charCodeAt(end - 1) === equalsSign) end--
  return base64.slice(0, end)
}

const equalsSign = 0x3d

const isStandard = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const fromPercent = (body: string): string | undefined => {
  const text = unescaped(body)
  return text === undefined ? undefined : Buffer.from(text, "utf8").toString("base64")
}

const unescaped = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
