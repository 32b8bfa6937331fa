import { createHash } from "node:crypto"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import type { ChatRequest } from "../../domain/Chat.ts"
import { writeExactly } from "../../domain/ExactJson.ts"
import type { PromptCache } from "../../domain/Model.ts"
import { attachmentTokens, bytesOf, toolBytes } from "./Prompt.ts"

/** The rules of the simulated providers' cache: as those of providers that cache every prompt by themselves. */
export const cacheRules: PromptCache = {
  mode: "auto",
  minTokens: 1_024,
  stepTokens: 128,
  ttlSeconds: 300,
  longTtl: null,
  guaranteed: true
}

/** A cached token costs the input rate divided by this. */
export const cacheReadDivisor = 10

/** Prefixes in memory, and up to as many that are unused for longer. */
const keptPrefixes = 10_000
const bytesPerToken = 4

/**
 * Which beginnings of prompts a simulated provider has seen: hashes only. A prefix ends with a tool or a message, and is kept for
 * `ttlSeconds` after its last use.
 */
export class SeenPrompts {
  private readonly usedAtMillis = new BoundedMap<string, number>(keptPrefixes)

  /** The tokens of the prompt that are read from the cache; all of the prompt is kept from then on. `owner` shares it with nobody. */
  read(owner: string, request: ChatRequest, imageTokens: number, nowMillis: number): number {
    let bytes = 0
    let tokens = 0
    let longest = 0
    let hash = owner
    const prefixes: Array<string> = []
    const add = (text: string, blockBytes: number, attached: number): void => {
      hash = createHash("sha1").update(hash).update(text).digest("base64")
      bytes += blockBytes
      tokens += attached
      const end = Math.floor(bytes / bytesPerToken) + tokens
      if (end < cacheRules.minTokens) return
      prefixes.push(hash)
      const usedAt = this.usedAtMillis.get(hash)
      if (usedAt !== undefined && nowMillis - usedAt <= cacheRules.ttlSeconds * 1_000) longest = end
    }
    for (const tool of request.tools) add(writeExactly(tool), toolBytes(tool), 0)
    for (const message of request.messages) {
      add(writeExactly(message), bytesOf(message), attachmentTokens(message, imageTokens))
    }
    for (const prefix of prefixes) this.keep(prefix, nowMillis)
    return Math.floor(longest / cacheRules.stepTokens) * cacheRules.stepTokens
  }

  private keep(prefix: string, nowMillis: number): void {
    this.usedAtMillis.set(prefix, nowMillis)
  }
}

/** Whether a prompt of this length can be cached at all: shorter ones are not hashed. */
export const isCacheable = (promptTokens: number): boolean => promptTokens >= cacheRules.minTokens
