import { concat, message } from "./messages.js"

/**
 * The prepared statements of one connection among several that share a session: their names are told apart there by what stands
 * before them.
 */

const typeParse = 0x50
const typeBind = 0x42
const typeDescribe = 0x44
const typeClose = 0x43
const kindStatement = 0x53

/** Of a message: its type and its length. */
const headerBytes = 5

export class Statements {
  /** @type {Uint8Array} */
  #prefix
  /** In the session. @type {Set<string>} */
  #names = new Set()

  /** @param {number} connection */
  constructor(connection) {
    this.#prefix = encoder.encode(`${connection}/`)
  }

  /**
   * The message as it is sent to the session; `undefined` where it names no statement, and is sent as it is.
   *
   * @param {Uint8Array} given whole
   */
  named(given) {
    const at = nameAt(given)
    if (at === undefined || given[at] === 0) return undefined
    const named = concat(given.subarray(0, at), this.#prefix, given.subarray(at))
    new DataView(named.buffer).setInt32(1, named.length - 1)
    const [type] = named
    if (type === typeParse) this.#names.add(nameIn(named, at))
    else if (type === typeClose) this.#names.delete(nameIn(named, at))
    return named
  }

  /** Messages that close all of them. To close one that was refused is no error. */
  close() {
    const messages = [...this.#names].map(closeOf)
    this.#names.clear()
    return messages
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Where the message names a statement.
 *
 * @param {Uint8Array} given
 */
const nameAt = (given) => {
  switch (given[0]) {
    case typeParse:
      return headerBytes
    case typeBind:
      // behind the portal's name
      return given.indexOf(0, headerBytes) + 1
    case typeDescribe:
    case typeClose:
      return given[headerBytes] === kindStatement ? headerBytes + 1 : undefined
    default:
      return undefined
  }
}

/**
 * @param {Uint8Array} given
 * @param {number} at
 */
const nameIn = (given, at) => decoder.decode(given.subarray(at, given.indexOf(0, at)))

/** @param {string} name */
const closeOf = (name) => message("C", encoder.encode(`S${name}\0`))
