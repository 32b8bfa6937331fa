import { createHash } from "node:crypto"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { routedPaths } from "../Paths.ts"
import { getOnly } from "../server/RouterResponse.ts"
import { DocumentedApi } from "./OpenApiDocument.ts"

/**
 * The API reference page. The viewer is megabytes of script, so it is loaded at the first request for the page; the server's
 * router is complete by then, so the page has a router of its own.
 */
export const docs = Effect.gen(function* () {
  const page = yield* Effect.cached(
    Effect.promise(() => import("@effect/platform/HttpApiSwagger")).pipe(
      Effect.flatMap((viewer) =>
        HttpLayerRouter.toHttpEffect(viewer.layerHttpLayerRouter({ api: DocumentedApi, path: routedPaths.docs }))
      ),
      Effect.provideServiceEffect(Layer.CurrentMemoMap, Layer.makeMemoMap),
      Effect.flatMap((viewer) => Effect.map(viewer, guarded)),
      Effect.orDie,
      Effect.scoped
    )
  )
  return getOnly(page)
})

/** The page may run its own scripts and styles and call this service; all other origins are blocked. */
const guarded = (page: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(page, {
    "content-security-policy": [
      "default-src 'none'",
      `script-src ${scriptsOf(page).join(" ")}`,
      "style-src 'unsafe-inline'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'"
    ].join("; "),
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY"
  })

const scriptStart = "<script>"
const scriptEnd = "</script>"

/** The hash of each inline script, as a source of the policy. */
const scriptsOf = ({ body }: HttpServerResponse.HttpServerResponse): ReadonlyArray<string> => {
  if (body._tag !== "Uint8Array") return ["'none'"]
  const text = Buffer.from(body.body).toString("utf8")
  const sources: Array<string> = []
  for (let start = text.indexOf(scriptStart); start >= 0; ) {
    const end = text.indexOf(scriptEnd, start)
    const script = text.slice(start + scriptStart.length, end)
    sources.push(`'sha256-${createHash("sha256").update(script).digest("base64")}'`)
    start = text.indexOf(scriptStart, end)
  }
  return sources
}
