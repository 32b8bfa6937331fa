/** What comes before the content of a data: URL. */
export interface DataUrlHead {
  /** In lower case, without parameters; `text/plain` when the URL has none, as RFC 2397 defines. */
  readonly mediaType: string
  readonly isBase64: boolean
  /** Where its content begins. */
  readonly contentAt: number
}

/** `undefined` unless it is a data: URL with content. Reads no more than its beginning, whatever its length. */
export const headOf = (url: string): DataUrlHead | undefined => {
  if (!isDataUrl(url)) return undefined
  const comma = url.slice(0, maxHeadCharacters + 1).indexOf(",")
  if (comma === -1) return undefined
  const [type = "", ...parameters] = url.slice(5, comma).split(";")
  return {
    mediaType: mediaType(type),
    isBase64: parameters.at(-1)?.trim().toLowerCase() === "base64",
    contentAt: comma + 1
  }
}

const maxHeadCharacters = 1024

export const isDataUrl = (url: string): boolean => /^data:/i.test(url.slice(0, 5))

export const isWebAddress = (url: string): boolean => /^https?:/i.test(url)

/** Media types of images as providers spell them. */
const mediaType = (given: string): string => {
  const type = given.trim().toLowerCase()
  return type === "" ? "text/plain" : type === "image/jpg" || type === "image/pjpeg" ? "image/jpeg" : type
}

export const gif = "image/gif"

/** The images that almost every protocol takes, with Bedrock's names of their formats. */
export const imageFormats: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpeg"],
  ["image/png", "png"],
  [gif, "gif"],
  ["image/webp", "webp"]
])

export const pdf = "application/pdf"

export const isText = (mediaType: string): boolean =>
  mediaType.startsWith("text/") || /^application\/(?:json|xml|yaml|x-yaml|javascript|.+\+(?:json|xml))$/.test(mediaType)

/** Bedrock's name of a document's format, by its media type, else by its file name; `undefined` of a file that it does not take. */
export const documentFormatOf = (mediaType: string, filename: string | undefined): string | undefined =>
  documentFormats.get(mediaType) ?? extensionOf(filename) ?? (isText(mediaType) ? "txt" : undefined)

const documentFormats: ReadonlyMap<string, string> = new Map([
  [pdf, "pdf"],
  ["text/csv", "csv"],
  ["application/msword", "doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["text/html", "html"],
  ["text/markdown", "md"]
])

const formats: ReadonlySet<string> = new Set([...documentFormats.values(), "txt"])

/** Whether models read the content of a file as it is: its length is then that of its text. */
export const isTextFile = (mediaType: string, filename: string | undefined): boolean =>
  isText(mediaType) || (!imageFormats.has(mediaType) && textFormats.has(documentFormatOf(mediaType, filename) ?? ""))

const textFormats: ReadonlySet<string> = new Set(["txt", "csv", "html", "md"])

const extensionOf = (filename: string | undefined): string | undefined => {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(filename ?? "")?.[1]?.toLowerCase()
  return extension !== undefined && formats.has(extension) ? extension : undefined
}
