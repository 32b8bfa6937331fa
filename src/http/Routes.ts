import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { docs } from "./Docs.ts"
import { models } from "./ModelsHttp.ts"
import { openApiDocument } from "./OpenApiDocument.ts"
import { livez, metrics, readyz } from "./Operations.ts"
import { getOnly } from "./RouteAnswers.ts"

export interface RouteOptions {
  readonly metricsToken: Option.Option<Redacted.Redacted<string>>
  /** The node listens only to its own machine. */
  readonly isLoopback: boolean
}

/** Paths that are answered by the platform's router; the server knows no others beside the two POST endpoints. */
export const routedPaths: ReadonlySet<string> = new Set([
  "/v1/models",
  "/livez",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/docs"
])

const openApi = HttpLayerRouter.use((router) =>
  Effect.gen(function* () {
    const document = yield* Effect.cached(Effect.sync(() => HttpServerResponse.unsafeJson(openApiDocument())))
    yield* router.add("*", "/openapi.json", getOnly(document))
  })
)

export const routes = ({ isLoopback, metricsToken }: RouteOptions) =>
  Layer.mergeAll(models, livez, readyz, metrics(metricsToken, isLoopback), openApi, docs)
