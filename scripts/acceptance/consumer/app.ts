// An application with an HttpApi of its own, the gateway's routes beside it, two providers of its own and spans in OpenTelemetry.
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import {
  Caller,
  type CallerShape,
  finishEvent,
  Gateway,
  HttpRoutesLayer,
  makeModel,
  makeProvider,
  makeRequest,
  ProductionLayer,
  Timers,
  textEvent,
  usageEvent
} from "model-routing-gateway"

const limits = { prices: { input: 1_000_000, output: 1_000_000 }, contextTokens: 8_192, outputTokens: 1_024 }

/** Better than the other one, and never answers. */
const silent = {
  provider: makeProvider("silent", () => Stream.never),
  models: [makeModel({ id: "silent/large", quality: 0.9, ...limits })]
}
const steady = {
  provider: makeProvider("steady", () =>
    Stream.make(textEvent("All is well."), finishEvent(), usageEvent({ inputTokens: 5, outputTokens: 3 })).pipe(
      Stream.withSpan("steady.answer")
    )
  ),
  models: [makeModel({ id: "steady/small", quality: 0.3, ...limits })]
}

/** Follows the current Clock. */
export const onTestClock = ProductionLayer({
  database: { directory: ":memory:" },
  providers: { providers: [silent, steady] },
  timers: Timers.layerClock
})

export const onRealClock = ProductionLayer({
  database: { directory: ":memory:" },
  providers: { providers: [steady] }
})

export const ask = Effect.flatMap(Gateway, (gateway) =>
  Effect.flatMap(
    makeRequest({ model: "auto", alpha: 1, max_tokens: 50, messages: [{ role: "user", content: "How are you?" }] }),
    (request) => gateway.complete(request)
  )
)

// @ts-expect-error the compiler knows the fields of a request
export const misspelt = () => makeRequest({ modle: "auto", messages: [] })

const shop = HttpApi.make("shop").add(
  HttpApiGroup.make("orders").add(HttpApiEndpoint.get("count", "/orders/count").addSuccess(Schema.Number))
)
const orders = HttpApiBuilder.group(shop, "orders", (handlers) => handlers.handle("count", () => Effect.succeed(7)))

/** The application's routes and those of the gateway; whoever asks, this caller pays. */
export const routesFor = (caller: CallerShape) =>
  Layer.mergeAll(
    HttpLayerRouter.addHttpApi(shop).pipe(Layer.provide(orders)),
    HttpRoutesLayer().pipe(
      Layer.provide(
        HttpLayerRouter.middleware<{ provides: Caller }>()((app) => Effect.provideService(app, Caller, caller)).layer
      )
    )
  )
