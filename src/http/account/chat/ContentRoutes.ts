import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ContentLinks } from "../../../chat/ContentLinks.ts"
import { ContentStore } from "../../../chat/ContentStore.ts"
import { Objects } from "../../../chat/Objects.ts"
import { NotFound } from "../../../domain/AccountError.ts"
import { contentPaths } from "../../Paths.ts"
import { answered } from "../../server/RouterResponse.ts"

export interface ContentRoute {
  readonly method: "GET"
  readonly path: (typeof contentPaths)[number]
  readonly handler: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
}

/** Images and artifacts, by signed links: a frame without an origin has no identity. */
export class ContentRoutes extends Context.Tag("gateway/http/ContentRoutes")<
  ContentRoutes,
  ReadonlyArray<ContentRoute>
>() {
  static readonly layer: Layer.Layer<ContentRoutes, never, ContentLinks | ContentStore | Objects> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const links = yield* ContentLinks
  const contents = yield* ContentStore
  const objects = yield* Objects

  const image = (id: string) =>
    Effect.gen(function* () {
      const found = yield* contents.image(id)
      const bytes = found === undefined ? undefined : yield* objects.get(id)
      if (found === undefined || bytes === undefined) return yield* unknown
      return HttpServerResponse.uint8Array(bytes, {
        contentType: found.mediaType,
        headers: {
          ...contentHeaders,
          "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
          "content-disposition": "inline",
          "cross-origin-resource-policy": "same-origin"
        }
      })
    })

  /** As a page only in a frame: as a tab of its own it could lead that tab elsewhere. */
  const artifact = (id: string, version: number, isDownload: boolean, destination: string | undefined) =>
    Effect.gen(function* () {
      const found = yield* contents.contentOf(id, version)
      if (found === undefined) return yield* unknown
      const isFramed = !isDownload && destination === "iframe"
      return HttpServerResponse.uint8Array(new TextEncoder().encode(found.content), {
        contentType: `${found.mediaType}; charset=utf-8`,
        headers: {
          ...contentHeaders,
          vary: "sec-fetch-dest",
          "content-security-policy": artifactPolicy,
          "content-disposition": isFramed ? "inline" : attachment(found.name)
        }
      })
    })

  const handler = answered(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const content = links.contentOf(request.url)
      if (content === undefined) return yield* unknown
      return content.kind === "images"
        ? yield* image(content.id)
        : yield* artifact(
            content.id,
            content.version,
            request.url.endsWith("&download=1"),
            request.headers["sec-fetch-dest"]
          )
    })
  )

  return contentPaths.map((path): ContentRoute => ({ method: "GET", path, handler }))
})

/** The same for a link that is forged or expired, and for content that is gone. */
const unknown = new NotFound({ message: "Content not found, or the link has expired." })

const contentHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "private, max-age=3600"
} as const

/** Scripts of the artifact run, without an origin and without a way out. */
const artifactPolicy = [
  "sandbox allow-scripts",
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
  "connect-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'"
].join("; ")

/** The name in ASCII, and as it is. */
const attachment = (name: string): string =>
  `attachment; filename="${name.replace(/[^ !#-[\]-~]/g, "_")}"; filename*=UTF-8''${encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )}`
