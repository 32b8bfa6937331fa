import { blocksOf, canonicalOf, looks, looksOf, messageBlock, nothingFound, unmarked } from "./blocks.js"
import { idOf, keysOf, open, seal, sealLater } from "./seal.js"

/**
 * The sealed form of a sample. Its list of blocks is written as runs: of its base, the sample before it in the conversation, whose
 * response stands at the end of its list; of packs that other conversations of the day share; and of the blocks that it has alone,
 * whose text follows the header. So a conversation of n calls is stored once, not n times.
 *
 * @typedef {import("./blocks.js").Block} Block
 * @typedef {import("../../domain/CapturedCall.ts").BlockKind} BlockKind
 * @typedef {import("../../domain/CapturedCall.ts").CapturedMedia} CapturedMedia
 * @typedef {{ readonly [key: string]: unknown }} Facts
 * @typedef {{ readonly text: string, readonly refusal: string, readonly reasoning: ReadonlyArray<import("../../domain/Completion.ts").ReasoningBlock>,
 *   readonly toolCalls: ReadonlyArray<import("../../domain/Completion.ts").AnswerToolCall> }} Answered
 * @typedef {{ readonly id: string, readonly keys: ReadonlyArray<string> }} Base
 * @typedef {object} Job
 * @property {string} id
 * @property {string} project
 * @property {string} day
 * @property {Uint8Array} dayKey
 * @property {"full" | "fingerprint"} content
 * @property {Facts} facts
 * @property {Uint8Array | undefined} body the request of a chat completion
 * @property {{ readonly messages: ReadonlyArray<import("../../domain/Chat.ts").Message>, readonly tools: ReadonlyArray<import("../../domain/Chat.ts").Tool> } | undefined} prompt
 * @property {Answered | null} answer
 *
 * @typedef {object} Stored a block as it is read again; ids are there where only fingerprints are stored
 * @property {BlockKind} kind
 * @property {string | null} text
 * @property {number} bytes
 * @property {string | null} tool
 * @property {number} looks
 * @property {"5m" | "1h" | null} mark
 * @property {string | null} id
 * @property {string | null} canonicalId
 *
 * @typedef {[kind: number, bytes: number, tool: string | null, looks: number, mark: "5m" | "1h" | null, id?: string, canonicalId?: string]} Entry
 * @typedef {object} Header
 * @property {Facts} f facts of the call
 * @property {string | null} b base
 * @property {ReadonlyArray<number>} l runs: position in the base, or -1 for own blocks, or -2 for a shared pack; and how many, or which
 * @property {ReadonlyArray<string>} s ids of shared packs
 * @property {ReadonlyArray<Entry>} n own blocks; the response is the last where there is one
 * @property {0 | 1} r whether there is a response
 * @property {ReadonlyArray<CapturedMedia>} g
 * @property {ReadonlyArray<string>} c names of the tools that were called
 * @property {0 | 1} x truncated
 *
 * @typedef {object} Encoded
 * @property {Buffer} sealed
 * @property {string | null} base
 * @property {ReadonlyArray<{ readonly id: string, readonly sealed: Buffer }>} shared
 * @property {ReadonlyArray<string>} keys what the next sample of the conversation can refer to
 * @property {boolean} truncated
 * @property {boolean} mayFlow nothing in it belongs to one provider, and all of it is there
 */

/** @type {ReadonlyArray<BlockKind>} */
export const kinds = ["tool", "system", "user", "assistant", "tool_result"]

/** A sample whose new blocks are larger is kept without them. */
export const maxNewBytes = 1024 * 1024
/** Smaller ones cost more as a row of their own. */
const minSharedBytes = 512

/** @param {string} project @param {string} id */
export const contextOf = (project, id) => `sample ${project} ${id}`
/** @param {string} project @param {string} day @param {string} id */
export const sharedContextOf = (project, day, id) => `shared ${project} ${day} ${id}`

/** @param {Job} job @param {Base | null} base @returns {Encoded} */
export const encode = (job, base) => {
  const keys = keysOf(job.dayKey)
  const found = nothingFound(keys.id)
  const { messages, tools } = promptOf(job)
  const storedBlock = (/** @type {Block} */ block) => storedOf(block, job.content === "full" ? undefined : keys.id)
  const blocks = blocksOf(messages, tools, found).map(storedBlock)
  const response = job.answer === null ? undefined : storedBlock(messageBlock(messageOf(job.answer), found))
  const called = (job.answer?.toolCalls ?? []).map(({ name }) => name)
  const parts = { blocks, response, media: [...found.media.values()], called, isBound: found.isBound }
  const { plain, shared, ...encoded } = compose(job, base, parts, maxNewBytes)
  return {
    ...encoded,
    sealed: seal(keys.seal, contextOf(job.project, job.id), plain),
    shared: shared.map(({ id, plain: pack }) => ({
      id,
      sealed: seal(keys.seal, sharedContextOf(job.project, job.day, id), pack)
    }))
  }
}

/**
 * Encodes what was read again, on another base; without a limit, because its text is only moved, and away from the thread that calls
 * it, because it may be all the text of a conversation.
 *
 * @param {StoredJob} job @param {Base | null} base @param {Parts} parts @returns {Promise<Encoded>}
 */
export const rewrite = async (job, base, parts) => {
  const keys = keysOf(job.dayKey)
  const { plain, shared, ...encoded } = compose(job, base, parts, Number.POSITIVE_INFINITY)
  return {
    ...encoded,
    sealed: await sealLater(keys.seal, contextOf(job.project, job.id), plain),
    shared: await Promise.all(
      shared.map(async ({ id, plain: pack }) => ({
        id,
        sealed: await sealLater(keys.seal, sharedContextOf(job.project, job.day, id), pack)
      }))
    )
  }
}

/**
 * What is to be sealed.
 *
 * @typedef {Omit<Job, "body" | "prompt" | "answer">} StoredJob
 * @typedef {{ readonly blocks: ReadonlyArray<Stored>, readonly response: Stored | undefined, readonly media: ReadonlyArray<CapturedMedia>,
 *   readonly called: ReadonlyArray<string>, readonly isBound: boolean }} Parts
 * @param {StoredJob} job @param {Base | null} base @param {Parts} parts @param {number} maxBytes of new blocks
 * @returns {Omit<Encoded, "sealed" | "shared"> & { plain: Buffer, shared: ReadonlyArray<{ id: string, plain: Buffer }> }}
 */
const compose = (job, base, { blocks, called, isBound, media, response }, maxBytes) => {
  const keys = keysOf(job.dayKey)
  const isFull = job.content === "full"
  const known = new Map((base?.keys ?? []).map((key, at) => [key, at]))
  const shared = base === null && isFull ? sharedOf(blocks, keys.id) : []
  /** @type {Array<number>} */
  const runs = shared.flatMap((_, at) => [-2, at])
  /** @type {Array<Stored>} */
  const own = []
  const rest = blocks.slice(shared.reduce((sum, { blocks: some }) => sum + some.length, 0))
  for (const block of rest) {
    const at = known.get(keyOf(block, keys.id)) ?? -1
    const [start = -3, count = 0] = runs.slice(-2)
    const goesOn = at === -1 ? start === -1 : start >= 0 && start + count === at
    if (goesOn) runs[runs.length - 1] = count + 1
    else runs.push(at, 1)
    if (at === -1) own.push(block)
  }
  const all = response === undefined ? own : [...own, response]
  const truncated = isFull && newBytes(all, shared) > maxBytes
  /** @type {Header} */
  const header = {
    f: job.facts,
    b: truncated ? null : (base?.id ?? null),
    l: truncated ? [] : runs,
    s: truncated ? [] : shared.map(({ id }) => id),
    n: truncated
      ? [...blocks, ...(response === undefined ? [] : [response])].map((block) =>
          entryOf({ ...block, id: "", canonicalId: "" }, false)
        )
      : all.map((block) => entryOf(block, isFull)),
    r: response === undefined ? 0 : 1,
    g: media,
    c: called,
    x: truncated ? 1 : 0
  }
  const texts = isFull && !truncated ? all.map(({ text }) => Buffer.from(text ?? "")) : []
  return {
    plain: joined(header, texts),
    base: header.b,
    shared: truncated
      ? []
      : shared.map(({ blocks: some, id }) => ({
          id,
          plain: joined(
            some.map((block) => entryOf(block, true)),
            some.map(({ text }) => Buffer.from(text ?? ""))
          )
        })),
    keys: truncated
      ? []
      : [...blocks, ...(response === undefined ? [] : [response])].map((block) => keyOf(block, keys.id)),
    truncated,
    mayFlow: isFull && !truncated && !isBound && media.length === 0
  }
}

/** @param {Job} job */
const promptOf = ({ body, prompt }) => {
  if (prompt !== undefined) return prompt
  const { messages, tools } = JSON.parse(Buffer.from(body ?? new Uint8Array()).toString("utf8"))
  return { messages: messages.map(chatMessage), tools: (tools ?? []).map(chatPart) }
}

/** @typedef {{ readonly [key: string]: any }} Loose @param {Loose} message */
const chatMessage = (message) => {
  const { content, tool_calls, ...rest } = chatPart(message)
  return {
    ...rest,
    content: Array.isArray(content) ? content.map(chatPart) : content,
    tool_calls: tool_calls?.map(chatPart)
  }
}

/** Without the fields that only Messages has: in a chat completion they are unknown, and not passed on. @param {Loose} part @returns {Loose} */
const chatPart = ({ cache_control: _, is_error: __, ...part }) => part

/** As the client would send it back. @param {Answered} answer */
const messageOf = ({ reasoning, refusal, text, toolCalls }) => ({
  role: "assistant",
  content: text === "" ? null : text,
  ...(refusal !== "" && { refusal }),
  ...(toolCalls.length > 0 && {
    tool_calls: toolCalls.map(({ arguments: args, extraContent, id, kind, name }) => ({
      id,
      type: kind,
      ...(kind === "custom" ? { custom: { name, input: args } } : { function: { name, arguments: args } }),
      ...(extraContent !== null && { extra_content: extraContent })
    }))
  }),
  ...(reasoning.length > 0 && {
    reasoning_details: reasoning.map(({ id, kind, signature, text: content }) => ({
      type: `reasoning.${kind}`,
      ...(kind === "text" ? { text: content } : kind === "summary" ? { summary: content } : { data: content }),
      ...(signature !== null && { signature }),
      ...(id !== null && { id })
    }))
  })
})

/** With a key also its ids, which are not stored beside its text. @param {Block} block @param {Uint8Array | undefined} key @returns {Stored} */
const storedOf = (block, key) => ({
  kind: block.kind,
  text: block.text,
  bytes: Buffer.byteLength(block.text),
  tool: block.tool,
  looks: looksOf(block),
  mark: block.mark,
  ...(key === undefined ? { id: null, canonicalId: null } : idsOf(block.kind, block.text, key))
})

/** @param {BlockKind} kind @param {string} text @param {Uint8Array} key */
const idsOf = (kind, text, key) => {
  /** @type {Loose} */
  const sent = JSON.parse(text)
  const block = unmarked(sent)
  return {
    id: idOf(key, `${kind}\0${block === sent ? text : JSON.stringify(block)}`),
    canonicalId: idOf(key, `canonical ${kind}\0${canonicalOf(block)}`)
  }
}

/** @param {Stored} block @param {Uint8Array} key @returns {{ id: string, canonicalId: string }} */
export const identify = ({ canonicalId, id, kind, text }, key) =>
  id !== null && canonicalId !== null ? { id, canonicalId } : idsOf(kind, text ?? "", key)

/** Of blocks that many samples of a conversation have in common; a block is only ever stored under one key. @type {WeakMap<Stored, string>} */
const knownKeys = new WeakMap()

/** What a block is stored once by: its text with its marks, so that each request is read again as it was sent. @param {Stored} block @param {Uint8Array} key */
const keyOf = (block, key) => {
  const { id, kind, mark, text } = block
  if (text === null) return `${id} ${mark}`
  const known = knownKeys.get(block) ?? idOf(key, `stored ${kind}\0${text}`)
  knownKeys.set(block, known)
  return known
}

/** The tools together, and each instruction before the first message of the user. @param {ReadonlyArray<Stored>} blocks @param {Uint8Array} key */
const sharedOf = (blocks, key) => {
  const tools = blocks.filter(({ kind }) => kind === "tool")
  const groups = tools.length === 0 ? [] : [tools]
  for (const block of blocks.slice(tools.length)) {
    if (block.kind !== "system") break
    groups.push([block])
  }
  /** @type {Array<{ id: string, blocks: ReadonlyArray<Stored> }>} */
  const shared = []
  for (const group of groups) {
    // only a beginning can be shared: the rest follows in the order of the prompt
    if (group.reduce((sum, { bytes }) => sum + bytes, 0) < minSharedBytes) break
    shared.push({ id: idOf(key, `pack\0${group.map((block) => keyOf(block, key)).join(" ")}`), blocks: group })
  }
  return shared
}

/** @param {ReadonlyArray<Stored>} own @param {ReadonlyArray<{ blocks: ReadonlyArray<Stored> }>} shared */
const newBytes = (own, shared) =>
  [...own, ...shared.flatMap(({ blocks }) => blocks)].reduce((sum, { bytes }) => sum + bytes, 0)

/** @param {Stored} block @param {boolean} hasText @returns {Entry} */
const entryOf = ({ bytes, canonicalId, id, kind, looks: bits, mark, tool }, hasText) =>
  hasText
    ? [kinds.indexOf(kind), bytes, tool, bits, mark]
    : [kinds.indexOf(kind), bytes, tool, bits, mark, id ?? "", canonicalId ?? ""]

/** @param {unknown} header @param {ReadonlyArray<Buffer>} texts */
const joined = (header, texts) => {
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(json.length)
  return Buffer.concat([length, json, ...texts])
}

/**
 * A sample with its own blocks; `undefined` when it does not open.
 *
 * @typedef {{ readonly header: Header, readonly own: ReadonlyArray<Stored> }} Opened
 * @param {Uint8Array} sealKey @param {string} project @param {string} id @param {Uint8Array} sealed @returns {Opened | undefined}
 */
export const openSample = (sealKey, project, id, sealed) => {
  const plain = open(sealKey, contextOf(project, id), sealed)
  if (plain === undefined) return undefined
  const { json, texts } = split(plain)
  /** @type {Header} */
  const header = JSON.parse(json)
  return { header, own: blocksFrom(header.n, texts) }
}

/** @param {Uint8Array} sealKey @param {string} project @param {string} day @param {string} id @param {Uint8Array} sealed @returns {ReadonlyArray<Stored> | undefined} */
export const openShared = (sealKey, project, day, id, sealed) => {
  const plain = open(sealKey, sharedContextOf(project, day, id), sealed)
  if (plain === undefined) return undefined
  const { json, texts } = split(plain)
  return blocksFrom(JSON.parse(json), texts)
}

/**
 * The blocks of the prompt and the response; `undefined` when the base or a pack is not there.
 *
 * @typedef {{ readonly blocks: ReadonlyArray<Stored>, readonly response: Stored | undefined }} Expanded
 * @param {Opened} opened @param {Expanded | undefined} base @param {(id: string) => ReadonlyArray<Stored> | undefined} sharedPack @returns {Expanded | undefined}
 */
export const expand = ({ header, own }, base, sharedPack) => {
  const response = header.r === 1 ? own.at(-1) : undefined
  if (header.x === 1) return { blocks: header.r === 1 ? own.slice(0, -1) : own, response }
  const before = base === undefined ? [] : [...base.blocks, ...(base.response === undefined ? [] : [base.response])]
  /** @type {Array<Stored>} */
  const blocks = []
  let next = 0
  for (let at = 0; at < header.l.length; at += 2) {
    const [start = 0, count = 0] = header.l.slice(at, at + 2)
    if (start === -2) {
      const pack = sharedPack(header.s[count] ?? "")
      if (pack === undefined) return undefined
      blocks.push(...pack)
    } else if (start === -1) {
      blocks.push(...own.slice(next, next + count))
      next += count
    } else {
      if (start + count > before.length) return undefined
      blocks.push(...before.slice(start, start + count))
    }
  }
  return { blocks, response }
}

/** @param {Buffer} plain */
const split = (plain) => {
  const length = plain.readUInt32LE(0)
  return { json: plain.toString("utf8", 4, 4 + length), texts: plain.subarray(4 + length) }
}

/** @param {ReadonlyArray<Entry>} entries @param {Buffer} texts @returns {ReadonlyArray<Stored>} */
const blocksFrom = (entries, texts) => {
  let at = 0
  return entries.map(([kind, bytes, tool, bits, mark, id, canonicalId]) => {
    const text = id === undefined ? texts.toString("utf8", at, at + bytes) : null
    if (text !== null) at += bytes
    return {
      kind: kinds[kind] ?? "user",
      text,
      bytes,
      tool,
      looks: bits,
      mark,
      id: id ?? null,
      canonicalId: canonicalId ?? null
    }
  })
}

/** @param {number} bits @returns {ReadonlyArray<import("../../domain/CapturedCall.ts").BlockLook>} */
export const looksFrom = (bits) => looks.filter((_, at) => (bits & (1 << at)) !== 0)
