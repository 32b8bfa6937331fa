import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { Idempotency, refusing } from "../../calls/Idempotency.ts"
import type { Caller } from "../../domain/Caller.ts"
import { defaultHeadHoldMillis, defaultHeartbeatMillis } from "../../domain/DefaultOptions.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { ConfigIssue, InvalidConfiguration } from "../../domain/InvalidConfiguration.ts"
import {
  issuesOfDuration,
  issuesOfNumber,
  millisBounds,
  millisOrZeroBounds,
  requireValid
} from "../../domain/OptionIssues.ts"
import { Timers } from "../../domain/Timers.ts"
import { Gateway } from "../../gateway/Gateway.ts"
import { chatEndpoint } from "../inference/ChatEndpoint.ts"
import { messagesEndpoint } from "../inference/MessagesEndpoint.ts"
import { responsesEndpoint } from "../inference/ResponsesEndpoint.ts"
import * as Drain from "../server/Drain.ts"
import type { AppDeps, RouteHandler } from "./Answering.ts"
import { countTokens, post } from "./InferenceApp.ts"
import { models } from "./ModelsApp.ts"
import { gatewayOfRoutes } from "./RouteCalls.ts"

/** How the routes behave towards clients. */
export interface HttpRoutesOptions {
  /** What comes before each path, without a slash at its end; `/`: nothing. Default `/v1`. */
  readonly prefix?: `/${string}`
  /** How long a stream's head waits for the first content, while a failure can still have a status; default 10 000. */
  readonly headHoldMillis?: number
  /** How long a stream may be silent before a comment keeps its connection alive; default 15 000. */
  readonly heartbeatMillis?: number
  /** How long running calls may go on when the routes are closed, before they end with an error; default 30 seconds. */
  readonly drainGrace?: Duration.DurationInput
}

/** The routes as handlers, by name: for a router other than `HttpLayerRouter`. Each needs the `Caller` that pays. */
export interface HttpHandlers {
  /** `POST /chat/completions` */
  readonly chatCompletions: RouteHandler
  /** `POST /responses` */
  readonly responses: RouteHandler
  /** `POST /messages`, Anthropic's format */
  readonly messages: RouteHandler
  /** `POST /messages/count_tokens` */
  readonly countTokens: RouteHandler
  /** `GET /models` */
  readonly models: RouteHandler
}

const defaultDrainGrace = Duration.seconds(30)

/**
 * The routes of the service as handlers for the platform's routers. When the scope closes, new calls are refused, running ones may
 * end within the grace, and what still runs then ends with an error. Other calls of the gateway go on. Fails with
 * `InvalidConfiguration` where an option is out of bounds.
 */
export const makeHttpHandlers = (
  options: HttpRoutesOptions = {}
): Effect.Effect<HttpHandlers, InvalidConfiguration, Gateway | IdGenerator | Scope.Scope | Timers> =>
  Effect.gen(function* () {
    yield* requireValid(() => issuesOfHttpRoutesOptions(options))
    const {
      drainGrace = defaultDrainGrace,
      headHoldMillis = defaultHeadHoldMillis,
      heartbeatMillis = defaultHeartbeatMillis
    } = options
    const gateway = gatewayOfRoutes(yield* Gateway)
    const drain = yield* Drain.make({ grace: Duration.decode(drainGrace) })
    const deps: AppDeps = {
      gateway,
      drain,
      idempotency: Option.getOrElse(yield* Effect.serviceOption(Idempotency), () => refusing),
      ids: yield* IdGenerator,
      timers: yield* Timers,
      headHoldMillis,
      heartbeatMillis
    }
    yield* Effect.addFinalizer(() => drain.drain({ abort: gateway.abort, stopListening: Effect.void }))
    return {
      chatCompletions: post(chatEndpoint, deps),
      responses: post(responsesEndpoint, deps),
      messages: post(messagesEndpoint, deps),
      countTokens: countTokens(deps),
      models: models(deps)
    }
  })

/**
 * Chat completions, Responses, Anthropic's Messages and the list of models for an application of `HttpLayerRouter`, an `HttpApi`
 * beside it too. The application authenticates: its middleware provides the `Caller` of each request. Errors have the statuses and
 * bodies of the service, and no stream ends as if it were whole after a failure. The body's limit is 20 MiB. `Idempotency-Key` is
 * honoured where `Idempotency` is provided, and else refused. Fails with `InvalidConfiguration` where an option is out of bounds.
 * `HttpLayerRouter.serve` takes its handler from the server before the routes close: a call that comes while they drain has no answer
 * then. The README of the library serves them so that it has one.
 *
 * @example
 * const routes = HttpRoutesLayer({ prefix: "/ai", drainGrace: "10 seconds" })
 */
export const HttpRoutesLayer = (
  options: HttpRoutesOptions = {}
): Layer.Layer<
  never,
  InvalidConfiguration,
  Gateway | HttpLayerRouter.HttpRouter | HttpLayerRouter.Request<"Requires", Caller> | IdGenerator | Timers
> =>
  HttpLayerRouter.use((router) =>
    Effect.gen(function* () {
      const { prefix: given = "/v1" } = options
      const prefix = given === "/" ? "" : given
      const handlers = yield* makeHttpHandlers(options)
      yield* router.add("POST", `${prefix}/chat/completions`, handlers.chatCompletions)
      yield* router.add("POST", `${prefix}/responses`, handlers.responses)
      yield* router.add("POST", `${prefix}/messages`, handlers.messages)
      yield* router.add("POST", `${prefix}/messages/count_tokens`, handlers.countTokens)
      yield* router.add("GET", `${prefix}/models`, handlers.models)
    })
  )

const issuesOfHttpRoutesOptions = ({
  drainGrace,
  headHoldMillis,
  heartbeatMillis,
  prefix
}: HttpRoutesOptions): ReadonlyArray<ConfigIssue> => [
  ...(prefix === undefined || prefix === "/" || /^\/.*[^/]$/.test(prefix)
    ? []
    : [{ path: "prefix", message: "must begin with a slash and end without one, or be / alone" }]),
  ...(headHoldMillis === undefined ? [] : issuesOfNumber(headHoldMillis, millisOrZeroBounds, "headHoldMillis")),
  ...(heartbeatMillis === undefined ? [] : issuesOfNumber(heartbeatMillis, millisBounds, "heartbeatMillis")),
  ...(drainGrace === undefined ? [] : issuesOfDuration(drainGrace, { orZero: true }, "drainGrace"))
]
