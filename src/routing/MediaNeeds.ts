import type { FilePart } from "../domain/Chat.ts"
import { documentFormatOf, gif, headOf, imageFormats, isTextFile, isWebAddress, pdf } from "../domain/MediaTypes.ts"
import type { Capability } from "../domain/Model.ts"
import { type ProtocolId, protocolIds } from "../domain/Support.ts"

/** A kind of image or file that not every protocol can be sent. */
export interface MediaNeed {
  /** The key in `excluded`. */
  readonly reason: string
  /** For the error message "does not support …". */
  readonly what: string
  readonly capability: Capability
  readonly protocols: ReadonlySet<ProtocolId>
  /** Of these protocols a model needs the capability not: they are sent the text. */
  readonly asText?: ReadonlySet<ProtocolId>
}

/** Of an image as a data: URL. One that cannot be read is wrong at every model, and needs nothing. */
export const needOfImage = (url: string): MediaNeed | undefined => {
  const type = headOf(url)?.mediaType
  return type === undefined ? undefined : needOfImageType(type)
}

const needOfImageType = (type: string): MediaNeed | undefined =>
  type === gif ? gifImage : imageFormats.has(type) ? undefined : imageType

export const needOfFile = ({ file_data: data, file_id: id, filename }: FilePart["file"]): MediaNeed | undefined => {
  if (data === undefined) return id === undefined ? undefined : fileById
  if (isWebAddress(data)) return fileByAddress
  const type = headOf(data)?.mediaType
  if (type === undefined || type === pdf) return undefined
  if (imageFormats.has(type)) return needOfImageType(type)
  if (isTextFile(type, filename)) return textFile
  return documentFormatOf(type, filename) === undefined ? fileType : documentType
}

const allBut = (...others: ReadonlyArray<ProtocolId>): ReadonlySet<ProtocolId> =>
  new Set(protocolIds.filter((id) => !others.includes(id)))

const imageType: MediaNeed = {
  reason: "unsupported_image_type",
  what: "images of this type",
  capability: "vision",
  protocols: allBut("anthropic-messages", "bedrock-converse")
}

const gifImage: MediaNeed = {
  reason: "unsupported_gif",
  what: "GIF images",
  capability: "vision",
  protocols: allBut("gemini")
}

/** In place of `file-input`. */
const textFile: MediaNeed = {
  reason: "unsupported_text_file",
  what: "text files",
  capability: "file-input",
  protocols: allBut(),
  asText: new Set<ProtocolId>(["openai-chat"])
}

const fileByAddress: MediaNeed = {
  reason: "unsupported_file_url",
  what: "files by URL",
  capability: "file-input",
  protocols: new Set<ProtocolId>(["anthropic-messages", "simulated"])
}

const fileById: MediaNeed = {
  reason: "unsupported_file_id",
  what: "files by id",
  capability: "file-input",
  protocols: allBut("gemini", "bedrock-converse")
}

/** Documents of office programs, and files whose name alone says that they are documents. */
const documentType: MediaNeed = {
  reason: "unsupported_document_type",
  what: "documents of this type",
  capability: "file-input",
  protocols: allBut("anthropic-messages")
}

const fileType: MediaNeed = {
  reason: "unsupported_file_type",
  what: "files of this type",
  capability: "file-input",
  protocols: allBut("anthropic-messages", "bedrock-converse")
}

export const mediaNeeds: ReadonlyArray<MediaNeed> = [
  imageType,
  gifImage,
  textFile,
  fileByAddress,
  fileById,
  documentType,
  fileType
]
