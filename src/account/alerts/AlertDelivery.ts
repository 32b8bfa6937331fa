import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { dateAt } from "../../domain/Dates.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { periodically } from "../../domain/Periodic.ts"
import { Egress } from "../../egress/Egress.ts"
import { AlertNotification } from "../../wire/account/Alerts.ts"
import { AlertStore, type DueEvent } from "./AlertStore.ts"
import { signatureOf, WebhookSecrets } from "./WebhookSecrets.ts"

export interface AlertDeliveryShape {
  /** Notes the thresholds that are reached now. */
  readonly evaluate: Effect.Effect<void, StoreUnavailable>
  /** Sends what is due, until nothing is; an event of which it is not known whether it arrived is sent again later. */
  readonly deliver: Effect.Effect<void, StoreUnavailable>
}

/** Watches what projects spend, and tells their webhooks. Any number of nodes may do so. */
export class AlertDelivery extends Context.Tag("gateway/account/AlertDelivery")<AlertDelivery, AlertDeliveryShape>() {
  static readonly layer: Layer.Layer<AlertDelivery, never, AlertStore | Egress | WebhookSecrets> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const interval = Duration.seconds(10)
/** Leaves the embedded database, which does one thing at a time, to calls. */
const pauseBetweenPortions = Duration.millis(100)
const maxAtOnce = 16
/** After each attempt but the last: about a day together. Each is longer than an attempt can take. */
export const retryAfterSeconds = [10, 60, 300, 1_800, 7_200, 28_800, 43_200]
const maxAttempts = retryAfterSeconds.length + 1

/** In the background; each of the two goes on while the other one waits. */
export const watching: Layer.Layer<never, never, AlertDelivery> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { deliver, evaluate } = yield* AlertDelivery
    yield* periodically(interval, "what projects spend could not be compared with their thresholds", evaluate)
    yield* periodically(interval, "alerts of spend could not be delivered", deliver)
  })
)

const make = Effect.gen(function* () {
  const store = yield* AlertStore
  const egress = yield* Egress
  const secrets = yield* WebhookSecrets

  const evaluateAfter = (after: ProjectId | undefined, at: Date): Effect.Effect<void, StoreUnavailable> =>
    Effect.flatMap(store.evaluate(after, at), (last) =>
      last === undefined
        ? Effect.void
        : Effect.delay(
            Effect.suspend(() => evaluateAfter(last, at)),
            pauseBetweenPortions
          )
    )

  /** `undefined` when it has arrived. */
  const errorOfSending = (event: DueEvent) =>
    Effect.gen(function* () {
      const secret = yield* secrets.open(event.projectId, event.sealedSecret)
      if (secret === undefined) return "secret_unreadable"
      const body = yield* Effect.orDie(encodeNotification(notificationOf(event)))
      const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
      return yield* egress
        .post({
          url: event.url,
          headers: {
            "content-type": "application/json",
            "webhook-id": event.id,
            "webhook-timestamp": String(seconds),
            "webhook-signature": signatureOf(secret, event.id, seconds, body)
          },
          body
        })
        .pipe(
          Effect.map((status) => (status >= 200 && status < 300 ? undefined : `status_${status}`)),
          Effect.catchAll(({ reason }) => Effect.succeed(reason))
        )
    })

  const send = (event: DueEvent) =>
    Effect.flatMap(errorOfSending(event), (error) =>
      error === undefined
        ? Effect.flatMap(Clock.currentTimeMillis, (now) => store.delivered(event.id, dateAt(now)))
        : store.failed(event.id, error, event.attempts >= maxAttempts)
    )

  const deliver: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const due = yield* store.take(dateAt(now), maxAtOnce, retryAfterSeconds)
    yield* Effect.forEach(due, send, { concurrency: maxAtOnce, discard: true })
    if (due.length === maxAtOnce) yield* deliver
  })

  return AlertDelivery.of({
    evaluate: Effect.flatMap(Clock.currentTimeMillis, (now) => evaluateAfter(undefined, dateAt(now))),
    deliver
  })
})

const encodeNotification = Schema.encode(Schema.parseJson(AlertNotification))

const notificationOf = (event: DueEvent): typeof AlertNotification.Type => ({
  type: "alert.threshold_reached",
  timestamp: event.firedAt,
  data: {
    id: event.id,
    project_id: event.projectId,
    project_name: event.projectName,
    threshold: event.threshold,
    period_start: event.periodStart,
    spent_microusd: event.spentMicroUsd,
    limit_microusd: event.limitMicroUsd,
    fired_at: event.firedAt
  }
})
