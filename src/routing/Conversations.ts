import { BoundedMap } from "../domain/BoundedMap.ts"
import type { ChatRequest, Message } from "../domain/Chat.ts"
import type { ProjectId } from "../domain/Ids.ts"
import type { TimersShape } from "../domain/Timers.ts"
import { isInToolLoop } from "../domain/ToolLoop.ts"
import type { Affinity } from "./Arrange.ts"

/** Where a request stands in its conversation. Numbers only: nothing of a message can be read from them. */
export interface Place {
  /** Of all messages of the request, or of its `prompt_cache_key`. */
  readonly own: number
  readonly affinity: Affinity | undefined
}

export interface Conversations {
  readonly placeOf: (project: ProjectId, request: ChatRequest) => Place
  /** A call at this place was answered by the model. */
  readonly answered: (place: Place, modelId: string, promptTokens: number) => void
}

/** Providers keep a cached prompt for about this long after its last use. */
const cacheMillis = 300_000
/** A tool may run long before its result is sent. */
const keptMillis = 3_600_000
/** Conversations in memory, and up to as many that are silent for longer. */
const keptConversations = 50_000
/** Messages that a client may add to the last request: an answer, results of tools, a turn of the user. */
const maxAddedMessages = 64
/** Of each message its beginning and its end are read, so that long conversations cost little. */
const readLength = 48

interface Entry {
  readonly modelId: string
  readonly promptTokens: number
  readonly atMillis: number
}

/** Which model has answered each conversation last, in memory and per node. */
export const make = (timers: TimersShape): Conversations => {
  const entries = new BoundedMap<number, Entry>(keptConversations)
  const affinityOf = (entry: Entry, inToolLoop: boolean, now: number): Affinity => ({
    modelId: entry.modelId,
    cachedTokens: now - entry.atMillis <= cacheMillis ? entry.promptTokens : 0,
    inToolLoop
  })
  return {
    placeOf: (project, request) => {
      const { messages, promptCacheKey } = request
      const inToolLoop = isInToolLoop(messages)
      const now = timers.now()
      const seed = hashText(hashText(start, project), project)
      const places =
        promptCacheKey === undefined ? placesOf(seed, messages) : [numberOf(hashText(seed, promptCacheKey))]
      const own = places.at(-1) ?? 0
      const known = promptCacheKey === undefined ? places.slice(0, -1).reverse() : places
      for (const place of known) {
        const entry = entries.get(place)
        if (entry !== undefined && now - entry.atMillis <= keptMillis) {
          return { own, affinity: affinityOf(entry, inToolLoop, now) }
        }
      }
      return { own, affinity: undefined }
    },
    answered: ({ own }, modelId, promptTokens) => {
      entries.set(own, { modelId, promptTokens, atMillis: timers.now() })
    }
  }
}

interface Hash {
  readonly high: number
  readonly low: number
}

const start: Hash = { high: 0x811c9dc5, low: 0x9e3779b9 }

/** The hash after each of the last messages; the last is that of all. */
const placesOf = (seed: Hash, messages: ReadonlyArray<Message>): ReadonlyArray<number> => {
  const places: Array<number> = []
  let hash = seed
  const from = messages.length - maxAddedMessages
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]
    if (message === undefined) continue
    hash = hashMessage(hash, message)
    if (at >= from) places.push(numberOf(hash))
  }
  return places
}

/** What a client sends back as it was: the role, the text, and which tools were called. */
const hashMessage = (before: Hash, message: Message): Hash => {
  let hash = hashText(before, message.role)
  const { content } = message
  if (typeof content === "string") hash = hashText(hash, content)
  else for (const part of content ?? []) hash = hashText(hash, "text" in part ? part.text : part.type)
  if (message.role === "assistant") for (const call of message.tool_calls ?? []) hash = hashText(hash, call.id)
  return hash
}

/** Two hashes of 32 bits in one pass over the length, the beginning and the end. */
const hashText = (before: Hash, text: string): Hash => {
  let high = Math.imul(before.high ^ text.length, 0x01000193)
  let low = Math.imul(before.low ^ text.length, 0x85ebca6b)
  const head = Math.min(text.length, readLength)
  for (let at = 0; at < head; at++) {
    high = Math.imul(high ^ text.charCodeAt(at), 0x01000193)
    low = Math.imul(low ^ text.charCodeAt(at), 0xc2b2ae35)
  }
  for (let at = Math.max(head, text.length - readLength); at < text.length; at++) {
    high = Math.imul(high ^ text.charCodeAt(at), 0x01000193)
    low = Math.imul(low ^ text.charCodeAt(at), 0xc2b2ae35)
  }
  return { high: high ^ (high >>> 15), low: low ^ (low >>> 13) }
}

/** 53 bits of the two. */
const numberOf = ({ high, low }: Hash): number => (high >>> 0) * 0x200000 + ((low >>> 0) & 0x1fffff)
