import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { MasterKey } from "../credentials/MasterKey.ts"
import { Timers } from "../domain/Timers.ts"

/** What a link leads to. */
export type Content =
  | { readonly kind: "images"; readonly id: string }
  | { readonly kind: "artifacts"; readonly id: string; readonly version: number }

export interface ContentLinksShape {
  /** Links work on every node; without a master key there is no such content. */
  readonly isAvailable: boolean
  readonly urlOf: (content: Content) => string
  /** What a URL leads to; `undefined` for a forged or an expired one. */
  readonly contentOf: (url: string) => Content | undefined
}

/** Signed links to images and artifacts: a frame without an origin sends no identity. */
export class ContentLinks extends Context.Tag("gateway/chat/ContentLinks")<ContentLinks, ContentLinksShape>() {
  static readonly layer: Layer.Layer<ContentLinks, never, MasterKey | Timers> = Layer.effect(
    this,
    Effect.gen(function* () {
      const master = yield* MasterKey
      const timers = yield* Timers
      const keys = yield* Effect.orElseSucceed(master.accepted("content links"), () => [randomBytes(32)])
      return make(master.isSet, keys, () => timers.now())
    })
  )
}

const hourSeconds = 3_600
/** A link works for so long, and up to an hour more: links of one hour are the same, so that browsers find them in their cache. */
const validHours = 12

export const make = (isAvailable: boolean, keys: ReadonlyArray<Buffer>, now: () => number): ContentLinksShape => {
  const signed = (key: Buffer, path: string, expires: number): string =>
    createHmac("sha256", key).update(`${path}?${expires}`).digest("base64url")
  return {
    isAvailable,
    urlOf: (content) => {
      const path = pathOf(content)
      const expires = (Math.ceil(now() / 1_000 / hourSeconds) + validHours) * hourSeconds
      const [current] = keys
      if (current === undefined) throw new Error("links are signed with a key")
      return `${path}?expires=${expires}&signature=${signed(current, path, expires)}`
    },
    contentOf: (url) => {
      const [, path = "", expires = "", signature = ""] =
        /^([^?]+)\?expires=(\d{1,12})&signature=([\w-]{43})(?:&download=1)?$/.exec(url) ?? []
      const content = contentAt(path)
      if (content === undefined || Number(expires) * 1_000 < now()) return undefined
      const given = Buffer.from(signature)
      const isOurs = keys.some((key) => timingSafeEqual(Buffer.from(signed(key, path, Number(expires))), given))
      return isOurs ? content : undefined
    }
  }
}

const pathOf = (content: Content): string =>
  content.kind === "images" ? `/content/images/${content.id}` : `/content/artifacts/${content.id}/${content.version}`

const contentAt = (path: string): Content | undefined => {
  const [, image] = /^\/content\/images\/([0-9a-f-]{36})$/.exec(path) ?? []
  if (image !== undefined) return { kind: "images", id: image }
  const [, id, version] = /^\/content\/artifacts\/([0-9a-f-]{36})\/(\d{1,4})$/.exec(path) ?? []
  return id === undefined ? undefined : { kind: "artifacts", id, version: Number(version) }
}
