import type { JsonObject } from "../../../domain/Chat.ts"
import * as DataUrl from "../../../domain/DataUrl.ts"
import { documentFormatOf, imageFormats } from "../../../domain/MediaTypes.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { FileBlock, ImageBlock } from "../shared/Blocks.ts"

export interface LoweredBlocks {
  readonly blocks: ReadonlyArray<JsonObject>
}

/** Inline bytes only: neither the service nor the gateway fetches URLs. */
export const lowerImage = ({ param, url }: ImageBlock): LoweredBlocks | ProviderFailure => {
  const inline = DataUrl.parse(url)
  if (inline === undefined) {
    const message = DataUrl.faultOf(url, "The provider supports images as data: URLs only.")
    return { _tag: "RequestRejected", message, param }
  }
  const format = imageFormats.get(inline.mediaType)
  return format === undefined
    ? { _tag: "RequestRejected", message: "The provider supports JPEG, PNG, GIF and WebP images only.", param }
    : image(format, inline)
}

const image = (format: string, { base64 }: DataUrl.Inline): LoweredBlocks => ({
  blocks: [{ image: { format, source: { bytes: base64 } } }]
})

/** The documents of one request: their names must be unique. */
export class Documents {
  private readonly taken = new Set<string>()
  /** The last suffix used for each requested name, so that no suffix is tried twice. */
  private readonly lastNumber = new Map<string, number>()

  lower({ data, filename, param }: FileBlock): LoweredBlocks | ProviderFailure {
    const inline = data === undefined ? undefined : DataUrl.parse(data)
    if (inline === undefined) {
      const message = DataUrl.faultOf(data, "The provider supports files as data: URLs only.")
      return { _tag: "RequestRejected", message, param }
    }
    const imageFormat = imageFormats.get(inline.mediaType)
    if (imageFormat !== undefined) return image(imageFormat, inline)
    const format = documentFormatOf(inline.mediaType, filename)
    if (format === undefined) {
      return {
        _tag: "RequestRejected",
        message: "The provider supports PDF, Word, Excel, HTML, Markdown, CSV and text files only.",
        param: `${param}.file_data`
      }
    }
    if (inline.base64 === "") {
      return { _tag: "RequestRejected", message: "The file is empty.", param: `${param}.file_data` }
    }
    return { blocks: [{ document: { format, name: this.nameFor(filename), source: { bytes: inline.base64 } } }] }
  }

  private nameFor(filename: string | undefined): string {
    const wanted = nameOf(filename)
    const key = wanted.toLowerCase()
    let number = this.lastNumber.get(key) ?? 1
    let name = wanted
    while (this.taken.has(name.toLowerCase())) name = `${wanted}-${++number}`
    this.taken.add(name.toLowerCase())
    this.lastNumber.set(key, number)
    return name
  }
}

const maxNameCharacters = 150

/** Letters, digits, single spaces, hyphens and brackets; the extension has its own field. */
const nameOf = (filename: string | undefined): string =>
  (filename ?? "")
    .replace(/\.[A-Za-z0-9]{1,8}$/, "")
    .replace(/[^A-Za-z0-9 ()[\]-]+/g, " ")
    .replace(/ {2,}/g, " ")
    .trim()
    .slice(0, maxNameCharacters)
    .trimEnd() || "document"
