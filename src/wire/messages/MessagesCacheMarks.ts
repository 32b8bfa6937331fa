import type { CacheControl } from "../../domain/Chat.ts"
import { object, oneOf, optional } from "../validation/Fields.ts"

/** Reads the `cache_control` of blocks and keeps the longest time that one of them asks for. */
export class CacheMarks {
  longest: "5m" | "1h" | undefined

  /** For a spread: nothing where the block has no mark. */
  of(block: { readonly [key: string]: unknown }, param: string): { readonly cache_control?: CacheControl } {
    const mark = this.read(block["cache_control"], `${param}.cache_control`)
    return mark === undefined ? unmarked : { cache_control: mark }
  }

  read(value: unknown, param: string): CacheControl | undefined {
    const given = optional(value, param, object)
    if (given === undefined) return undefined
    const type = oneOf("ephemeral")(given["type"], `${param}.type`)
    const ttl = optional(given["ttl"], `${param}.ttl`, oneOf("5m", "1h"))
    this.longest = this.longest === "1h" || ttl === "1h" ? "1h" : "5m"
    return ttl === undefined ? { type } : { type, ttl }
  }
}

const unmarked: { readonly cache_control?: CacheControl } = {}
