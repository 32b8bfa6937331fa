// @ts-check
// Text of the synthetic applications: prose, code, records and logs, long enough to be counted, without meaning.

/** @import { Random } from "./random.mjs" */

const words =
  "account address after agreement amount answer archive article batch before between branch button cache calendar change channel chapter charge check city claim client column commit company config contract copy country create currency customer date default delete delivery deploy detail device document domain draft early edit email engine entry error event export field file filter finish folder form format function group handle header history host import index input install invoice item job key label language later layout level library limit line link list local location log machine manager market member memory merge message method metric migrate minute model module month network never note number object office open option order output owner package page parameter parser partner path pattern payment period person phone plan policy price print process product profile project property provider queue quote range rate reader record refund region release report request reserve resource result return review role route rule sample schedule schema score screen search season section secret sequence server service session setting shape share shipment signal site source stage standard start state status step storage store stream string student subject summary supplier support switch system table target task team template tenant test text ticket time token topic total trace track trade transfer travel type update upload user value vendor version view volume warehouse week window worker write year zone".split(
    " "
  )

/** @param {Random} rng @param {number} count */
export const prose = (rng, count) => {
  /** @type {Array<string>} */
  const sentences = []
  for (let left = count; left > 0; ) {
    const length = Math.min(left, rng.int(6, 16))
    const picked = Array.from({ length }, () => rng.pick(words)).join(" ")
    sentences.push(`${picked.charAt(0).toUpperCase()}${picked.slice(1)}.`)
    left -= length
  }
  return sentences.join(" ")
}

/** @param {Random} rng @param {number} lines */
export const code = (rng, lines) =>
  Array.from({ length: lines }, (_, line) => {
    const [a, b, c] = [rng.pick(words), rng.pick(words), rng.pick(words)]
    const depth = "  ".repeat(rng.int(0, 3))
    return rng.pick([
      `${depth}const ${a}${line} = ${b}(${c}, ${rng.int(0, 999)})`,
      `${depth}if (${a}.${b} === "${c}") {`,
      `${depth}return ${a}[${rng.int(0, 9)}] ?? ${b}`,
      `${depth}// ${a} ${b} ${c}`,
      `${depth}}`
    ])
  }).join("\n")

/** @param {Random} rng @param {number} items */
export const records = (rng, items) => ({
  total: items,
  results: Array.from({ length: items }, () => ({
    id: rng.int(10_000, 99_999),
    [rng.pick(["name", "title", "subject"])]: prose(rng, rng.int(2, 5)),
    status: rng.pick(["open", "closed", "waiting"]),
    amounts: [rng.int(1, 500), rng.int(1, 500)],
    address: { city: rng.pick(words), zone: rng.pick(words), number: rng.int(1, 300) }
  }))
})

/** Lines that all differ in more than their digits. @param {Random} rng @param {number} lines */
export const log = (rng, lines) =>
  Array.from(
    { length: lines },
    () => `${rng.pick(["info", "warn"])} ${rng.pick(words)}/${rng.pick(words)}: ${prose(rng, rng.int(5, 10))}`
  ).join("\n")

/** One line over and over with another number. @param {Random} rng @param {number} lines */
export const repeatedLog = (rng, lines) => {
  const line = prose(rng, 9)
  return Array.from({ length: lines }, (_, at) => `progress ${at * 3 + rng.int(0, 2)} of ${lines * 3}: ${line}`).join(
    "\n"
  )
}

/** @param {Random} rng @param {number} length */
export const base64 = (rng, length) => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  return Array.from({ length }, () => alphabet[rng.int(0, 63)]).join("")
}

/** @param {Random} rng @param {string} name @param {number} size words of its description */
export const tool = (rng, name, size) => ({
  type: /** @type {const} */ ("function"),
  function: {
    name,
    description: prose(rng, size),
    parameters: {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: rng.int(2, 5) }, (_, at) => [
          `${rng.pick(words)}_${at}`,
          { type: rng.pick(["string", "integer"]), description: prose(rng, rng.int(5, 12)) }
        ])
      )
    }
  }
})
