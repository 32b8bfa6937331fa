import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import { anthropicList } from "../../wire/models/AnthropicModelList.ts"
import { modelList } from "../../wire/models/ModelList.ts"
import { rateLimitHeaders } from "../RateLimitHeaders.ts"
import { anthropicFormat, openAiFormat } from "../WireFormat.ts"
import { type AppDeps, answering, jsonResponse, type RouteHandler } from "./Answering.ts"

/** The models that the caller may use: OpenAI's list, or with an `anthropic-version` header Anthropic's. */
export const models = (deps: AppDeps): RouteHandler =>
  answering(deps, formatFor, ({ request }) =>
    Effect.map(deps.gateway.models, ({ configurations, models, rateLimits }) =>
      jsonResponse(
        formatFor(request) === openAiFormat
          ? modelList(models, configurations, pathOf(request))
          : anthropicList(models, configurations, new URL(request.url, "http://localhost").searchParams),
        200,
        { vary: "anthropic-version, authorization", ...rateLimitHeaders(rateLimits) }
      )
    )
  )

/** As the client has sent it: the router of an application may have cut off what it is mounted at. */
const pathOf = ({ originalUrl }: HttpServerRequest.HttpServerRequest): string =>
  new URL(originalUrl, "http://localhost").pathname

const formatFor = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  headers["anthropic-version"] === undefined ? openAiFormat : anthropicFormat
