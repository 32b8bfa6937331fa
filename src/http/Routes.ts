import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { InvalidRequest, type UnknownPath } from "../domain/GatewayError.ts"
import * as AccountPaths from "./account/AccountPaths.ts"
import { AccountRoutes } from "./account/AccountRoutes.ts"
import { feedback } from "./inference/FeedbackHandler.ts"
import { generation, key } from "./inference/KeyHandlers.ts"
import { model, models } from "./inference/ModelsHandler.ts"
import { route } from "./inference/RouteHandler.ts"
import { unknownPath } from "./MeantPath.ts"
import { docs, openApi } from "./operations/Documents.ts"
import { livez, metrics, readyz } from "./operations/Operations.ts"
import { modelPrefix, type RoutedName, routedPaths } from "./Paths.ts"

export interface RouteOptions {
  readonly metricsToken: Option.Option<Redacted.Redacted<string>>
  /** The server listens on a loopback address. */
  readonly isLoopback: boolean
}

type RouteHandler = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

const routed: ReadonlySet<string> = new Set(Object.values(routedPaths))

/** Whether the platform's router serves this path. */
export const isRouted = (path: string): boolean =>
  routed.has(path) || (path.startsWith(modelPrefix) && isModelId(path.slice(modelPrefix.length)))

/** Whether it could be a model's id. The router has no answer for a path whose percent signs encode nothing. */
const isModelId = (encoded: string): boolean => {
  try {
    return decodeURIComponent(encoded).split("/").every(isSegment)
  } catch {
    return false
  }
}

const isSegment = (text: string): boolean => /^[!-~]+$/.test(text) && text !== "." && text !== ".."

/** What the platform's router has for a request to the account API; an error is for the caller to send. */
export const accountRoute = (method: string, path: string): "routed" | InvalidRequest | UnknownPath => {
  const methods = AccountPaths.methodsOf(path)
  if (methods.length === 0) return unknownPath(path)
  const asked = method === "HEAD" ? "GET" : method
  if (methods.includes(asked)) return "routed"
  return new InvalidRequest({
    code: "method_not_allowed",
    message: `${method} is not allowed here; use ${methods.join(" or ")}.`,
    param: null
  })
}

/** One handler for each declared path. */
export const routes = ({ isLoopback, metricsToken }: RouteOptions) =>
  HttpLayerRouter.use((router) =>
    Effect.gen(function* () {
      const handlers: { readonly [Name in RoutedName]: RouteHandler } = {
        listModels: yield* models,
        previewRoute: yield* route,
        giveFeedback: yield* feedback,
        getKey: yield* key,
        getGeneration: yield* generation,
        livez,
        readyz: yield* readyz,
        metrics: yield* metrics(metricsToken, isLoopback),
        openApi: yield* openApi,
        docs: yield* docs
      }
      yield* router.add("*", `${modelPrefix}*`, yield* model)
      for (const name of routedNames) yield* router.add("*", routedPaths[name], handlers[name])
      for (const { handler, method, path } of yield* AccountRoutes) yield* router.add(method, path, handler)
    })
  )

const routedNames = Object.keys(routedPaths) as ReadonlyArray<RoutedName>
