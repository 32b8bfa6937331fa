import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DocumentedApi } from "./OpenApiDocument.ts"
import { getOnly } from "./RouteAnswers.ts"

/**
 * The reference page. Its viewer is megabytes of script, so it is loaded when somebody first asks for the page; by then the
 * server's router is complete, and the page gets a small one of its own.
 */
export const docs = HttpLayerRouter.use((router) =>
  Effect.gen(function* () {
    const page = yield* Effect.cached(
      Effect.promise(() => import("@effect/platform/HttpApiSwagger")).pipe(
        Effect.flatMap((viewer) =>
          HttpLayerRouter.toHttpEffect(viewer.layerHttpLayerRouter({ api: DocumentedApi, path: "/docs" }))
        ),
        Effect.provideServiceEffect(Layer.CurrentMemoMap, Layer.makeMemoMap),
        Effect.scoped
      )
    )
    yield* router.add("*", "/docs", getOnly(Effect.orDie(Effect.flatten(page))))
  })
)
