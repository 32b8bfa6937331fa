import { inflateSync } from "node:zlib"

/** Counts the pages of the PDF files of one request. */
export interface PdfPages {
  /** At least one, whatever the file holds. */
  readonly of: (file: Buffer) => number
}

/** No provider reads more pages of one file. */
const maxPages = 1_000
/** What is assumed of a file whose objects cannot be read, as those of an encrypted one: many providers read no more pages. */
const assumedPages = 100
/** Of all files of a request: a hostile one takes no longer to read. */
const maxInflatedBytes = 8_000_000
const maxInflatedStreams = 500
const maxNames = 100_000
const maxNodes = 300
/** A stream that cannot be inflated counts as that long. */
const maxStreamBytes = 2_000_000
/** Between the type of an object stream and its content. */
const maxDictionaryBytes = 1_024
/** How far the entries of a node of the page tree are looked for; those of a node with 1,000 pages have 10 KB. */
const maxNodeBytes = 16_384

/**
 * Pages are counted by their objects, and by the counts in the page tree, where one object may stand for many pages. Both may be in
 * compressed object streams. Objects that an update of the file has replaced count too: for money the number may be too high.
 */
export const make = (): PdfPages => {
  let bytesLeft = maxInflatedBytes
  let streamsLeft = maxInflatedStreams
  let namesLeft = maxNames
  let nodesLeft = maxNodes

  /** The objects in the stream whose dictionary has its type at this place; `undefined`: they cannot be read. */
  const inflated = (file: Buffer, at: number): Buffer | undefined => {
    const head = file.subarray(at, at + maxDictionaryBytes)
    const keyword = head.indexOf("stream")
    const content = head.indexOf("\n", keyword) + 1
    if (keyword === -1 || content === 0 || bytesLeft <= 0 || streamsLeft <= 0) return undefined
    const maxOutputLength = Math.min(bytesLeft, maxStreamBytes)
    streamsLeft -= 1
    bytesLeft -= maxOutputLength
    try {
      // it knows its own end: to search for the keyword after each would read a hostile file many times
      const objects = inflateSync(file.subarray(at + content, at + content + maxStreamBytes), { maxOutputLength })
      bytesLeft += maxOutputLength - objects.length
      return objects
    } catch {
      return undefined
    }
  }

  /** The page objects, and the highest count of a node of the page tree. */
  const pagesIn = (objects: Buffer): readonly [pages: number, count: number] => {
    let pages = 0
    let count = 0
    for (let at = objects.indexOf(page); at !== -1 && namesLeft > 0; at = objects.indexOf(page, at + page.length)) {
      namesLeft -= 1
      if (!isTypeBefore(objects, at)) continue
      const end = at + page.length
      if (endsName(objects[end])) pages += 1
      else if (objects[end] === letterS && endsName(objects[end + 1]) && nodesLeft > 0) {
        nodesLeft -= 1
        count = Math.max(count, countOfNode(objects, at))
      }
    }
    return [pages, count]
  }

  return {
    of: (file) => {
      let [pages, count] = pagesIn(file)
      for (let at = file.indexOf(objectStream); at !== -1; at = file.indexOf(objectStream, at + objectStream.length)) {
        const objects = inflated(file, at)
        if (objects === undefined) return bounded(Math.max(assumedPages, pages, count))
        const [more, other] = pagesIn(objects)
        pages += more
        count = Math.max(count, other)
      }
      return bounded(Math.max(namesLeft > 0 ? 1 : assumedPages, pages, count))
    }
  }
}

const bounded = (pages: number): number => Math.min(maxPages, pages)

const objectStream = "/ObjStm"
const page = "/Page"
const type = Buffer.from("/Type")

const isTypeBefore = (objects: Buffer, at: number): boolean => {
  let end = at
  while (isSpace(objects[end - 1])) end -= 1
  return end >= type.length && type.compare(objects, end - type.length, end) === 0
}

/** The count in the dictionary around a place. */
const countOfNode = (objects: Buffer, at: number): number => {
  const from = edgeOf(objects, at, -1, less, greater)
  const node = objects.toString("latin1", from, edgeOf(objects, at, 1, greater, less))
  return Number(/\/Count\s+(\d{1,9})/.exec(node)?.[1] ?? 0)
}

/** Where the dictionary around a place ends in one direction: its brackets there are those that none before them matches. */
const edgeOf = (objects: Buffer, at: number, step: 1 | -1, closing: number, opening: number): number => {
  const last = Math.min(objects.length, Math.max(0, at + step * maxNodeBytes))
  let depth = 0
  let place = at
  while (place !== last) {
    const byte = objects[place]
    if ((byte === closing || byte === opening) && objects[place + step] === byte) {
      if (byte === opening) depth += 1
      else if (depth === 0) return place
      else depth -= 1
      place += step
      if (place === last) break
    }
    place += step
  }
  return place
}

const less = 0x3c
const greater = 0x3e
const letterS = 0x73
const spaces: ReadonlySet<number | undefined> = new Set([0x00, 0x09, 0x0a, 0x0c, 0x0d, 0x20])
const isSpace = (byte: number | undefined): boolean => spaces.has(byte)
const delimiters: ReadonlySet<number> = new Set(Buffer.from("()<>[]{}/%"))
/** Whether a name has ended before this byte. */
const endsName = (byte: number | undefined): boolean => byte === undefined || isSpace(byte) || delimiters.has(byte)
