// @ts-check
// The fault server and the table of the suite, bundled as they are now.
/** @import { Row } from "../../../test/faults/Catalogue.ts" */
import { importSources } from "../../lib/sources.mjs"

/**
 * A fault; a mode is how it is asked for and which texts are complete responses to it.
 *
 * @typedef {{
 *   number: number
 *   name: string
 *   fault: string
 *   atOrigin: boolean
 *   needsUsedConnection: boolean
 *   modes: ReadonlyArray<{ stream: boolean, wholes: ReadonlyArray<string> }>
 * }} FaultRow
 */

export const loadFaults = async () => {
  /** @type {typeof import("./sources.ts")} */
  const { catalogue, fullText, startFaultServer } = await importSources(new URL("./sources.ts", import.meta.url))
  return { startFaultServer, fullText, rows: [...catalogue.map((row) => rowOf(row, fullText)), reused(fullText)] }
}

/** @param {Row} row @param {string} fullText @returns {FaultRow} */
const rowOf = ({ atOrigin, fault, name, number, plain, stream }, fullText) => ({
  number,
  name,
  fault,
  atOrigin,
  needsUsedConnection: false,
  modes: [
    { stream: true, wholes: wholesOf(stream.alone, fullText) },
    ...(plain === null ? [] : [{ stream: false, wholes: wholesOf(plain.alone, fullText) }])
  ]
})

/** Not in the table, as it takes two calls: the first makes the connection a used one. @param {string} fullText @returns {FaultRow} */
const reused = (fullText) => ({
  number: 5,
  name: "reset of a connection that was used before",
  fault: "reset-reused",
  atOrigin: false,
  needsUsedConnection: true,
  modes: [true, false].map((stream) => ({ stream, wholes: [fullText] }))
})

/** What the faulty provider says, where that is all that it has to say; and what the healthy one says. @param {Row["stream"]["alone"]} alone @param {string} fullText */
const wholesOf = (alone, fullText) => (alone.ends === "answered" ? [fullText, alone.text] : [fullText])
