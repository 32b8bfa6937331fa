import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { DocumentedApi } from "./OpenApiDocument.ts"
import { getOnly } from "./RouteAnswers.ts"

/**
 * The reference page. Its viewer is megabytes of script, so it is loaded when somebody first asks for the page.
 */
export const docs = HttpLayerRouter.use((router) =>
  Effect.gen(function* () {
    const page = yield* Effect.cached(
      Effect.promise(() => import("@effect/platform/HttpApiSwagger")).pipe(
        Effect.flatMap((viewer) =>
          HttpLayerRouter.toHttpEffect(viewer.layerHttpLayerRouter({ api: DocumentedApi, path: "/docs" }))
        ),
        Effect.scoped
      )
    )
    const answer: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, never> = Effect.flatten(page) as never
    yield* router.add("*", "/docs", getOnly(Effect.orDie(answer)))
  })
)
