import { randomUUID } from "node:crypto"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Stripe } from "stripe"
import { PaymentProviderFailed } from "../../domain/AccountError.ts"
import type { PaymentId } from "../../domain/Ids.ts"
import { paced } from "../../domain/PacedLog.ts"
import { whyOf } from "../../domain/RootCause.ts"
import { Timers, type TimersShape } from "../../domain/Timers.ts"
import { fetchOf } from "../../egress/ClientFetch.ts"
import type { PaymentEvent, PaymentFact } from "./PaymentFact.ts"
import { eventOf, sessionOf } from "./StripeEvents.ts"
import { isOfOtherMode, modeOfKey } from "./StripeMode.ts"

export interface Opened {
  readonly sessionId: string
  readonly url: string
}

export interface CheckoutsShape {
  readonly provider: "stripe" | "test"
  /** Whether payments are taken now. */
  readonly isOpen: () => boolean
  /** Opens the page on which the buyer pays; the same payment gets the same session, unless the provider failed meanwhile. */
  readonly open: (
    payment: { readonly id: PaymentId; readonly amountCents: number },
    publicUrl: string
  ) => Effect.Effect<Opened, PaymentProviderFailed>
  /** What the provider knows of a session now; `undefined` where only the session's own page knows. */
  readonly fetch: (sessionId: string) => Effect.Effect<PaymentFact | undefined, PaymentProviderFailed>
  /** Unset without a webhook: the event of a body with a right signature, `none` for one that concerns no payment of ours. */
  readonly verify?: (body: Buffer, signature: string) => Effect.Effect<Option.Option<PaymentEvent>, "wrong signature">
}

export interface StripeOptions {
  readonly secretKey: Redacted.Redacted
  readonly webhookSecret: Redacted.Redacted | null
  /** `null`: Stripe's own. */
  readonly apiUrl: string | null
}

/** Where people pay; `null`: nowhere. */
export class Checkouts extends Context.Tag("gateway/account/Checkouts")<Checkouts, CheckoutsShape | null>() {
  static readonly layerNone: Layer.Layer<Checkouts> = Layer.succeed(this, null)

  /** A page of this service where nothing is paid. */
  static readonly layerTest = (isOpen: () => boolean): Layer.Layer<Checkouts> =>
    Layer.succeed(this, {
      provider: "test",
      isOpen,
      open: (_, publicUrl) =>
        Effect.sync(() => {
          const sessionId = randomUUID()
          return { sessionId, url: `${publicUrl}/checkout/test?session=${sessionId}` }
        }),
      fetch: () => Effect.succeed(undefined)
    })

  /** Stripe's client is loaded only here: it is large. */
  static readonly layerStripe = (
    options: StripeOptions
  ): Layer.Layer<Checkouts, never, HttpClient.HttpClient | Timers> =>
    Layer.effect(
      this,
      Effect.gen(function* () {
        const timers = yield* Timers
        const http = yield* HttpClient.HttpClient
        const { default: Client } = yield* Effect.promise(() => import("stripe"))
        const client = new Client(Redacted.value(options.secretKey), {
          ...clientOptions(options.apiUrl),
          httpClient: Client.createFetchHttpClient(fetchOf(http))
        })
        return ofStripe(client, options, timers)
      })
    )
}

const timeoutMillis = 10_000
const webhookToleranceSeconds = 300

const clientOptions = (apiUrl: string | null) => {
  const common = { maxNetworkRetries: 1, timeout: timeoutMillis, telemetry: false }
  if (apiUrl === null) return common
  const { hostname, port, protocol } = new URL(apiUrl)
  return { ...common, host: hostname, port, protocol: protocol === "http:" ? ("http" as const) : ("https" as const) }
}

const ofStripe = (client: Stripe, { secretKey, webhookSecret }: StripeOptions, timers: TimersShape): CheckoutsShape => {
  const paceRequests = paced(timers, tellMillis)
  const paceWebhooks = paced(timers, tellMillis)
  const paceModes = paced(timers, tellMillis)
  const mode = modeOfKey(Redacted.value(secretKey))
  const sent = <A>(send: () => Promise<A>) =>
    Effect.tryPromise(send).pipe(
      Effect.tapError(({ error }) =>
        paceRequests(Effect.annotateLogs(Effect.logWarning("Stripe has not taken a request"), faultOf(error)))
      ),
      Effect.mapError(
        () =>
          new PaymentProviderFailed({ message: "The payment provider could not be reached, or rejected the request." })
      )
    )
  return {
    provider: "stripe",
    isOpen: () => true,
    open: ({ amountCents, id }, publicUrl) =>
      Effect.flatMap(
        sent(() => {
          const created = (idempotencyKey: string) =>
            client.checkout.sessions.create(sessionParameters(id, amountCents, publicUrl), { idempotencyKey })
          // a fault of Stripe's own is its answer to this key for a day; nobody has been given the page that it may have made
          return created(id).catch((error) =>
            isFaultOfStripe(error) ? created(`${id}:${randomUUID()}`) : Promise.reject(error)
          )
        }),
        ({ id: sessionId, url }) =>
          url === null
            ? Effect.fail(new PaymentProviderFailed({ message: "The payment provider has no page for this payment." }))
            : Effect.succeed({ sessionId, url })
      ),
    fetch: (sessionId) =>
      Effect.flatMap(
        sent(() => client.checkout.sessions.retrieve(sessionId)),
        (session) =>
          Effect.mapError(
            sessionOf(session),
            () =>
              new PaymentProviderFailed({
                message: "The payment provider describes the payment in an unexpected form."
              })
          )
      ),
    ...(webhookSecret === null
      ? {}
      : {
          verify: (body, signature) =>
            Effect.try({
              try: () =>
                client.webhooks.constructEvent(
                  body,
                  signature,
                  Redacted.value(webhookSecret),
                  webhookToleranceSeconds,
                  undefined,
                  timers.now()
                ),
              catch: () => "wrong signature" as const
            }).pipe(
              Effect.filterOrFail(
                () => secondsOf(signature) <= timers.now() / 1_000 + webhookToleranceSeconds,
                () => "wrong signature" as const
              ),
              Effect.tapError(() => paceWebhooks(unsigned)),
              Effect.flatMap((event) =>
                isOfOtherMode(mode, event.livemode)
                  ? Effect.as(paceModes(ofOtherMode), Option.none<PaymentEvent>())
                  : Either.match(eventOf(event), { onLeft: ignored, onRight: Effect.succeed })
              )
            )
        })
  }
}

/** The log has a line about each fault this often at most. */
const tellMillis = 60_000

const unsigned = Effect.annotateLogs(Effect.logWarning("a webhook has no signature of Stripe"), {
  variable: "STRIPE_WEBHOOK_SECRET"
})

const ofOtherMode = Effect.annotateLogs(
  Effect.logWarning("a payment event of Stripe is ignored: one of both, it or the key, is of Stripe's test mode"),
  { variable: "STRIPE_SECRET_KEY" }
)

const isFaultOfStripe = (error: unknown): boolean => Predicate.isRecord(error) && Number(error["statusCode"]) >= 500

/** Without Stripe's own message, which may have parts of the key. */
const faultOf = (error: unknown): Readonly<Record<string, unknown>> => {
  const { code, detail, requestId, statusCode, type } = Predicate.isRecord(error) ? error : {}
  const status = typeof statusCode === "number" ? statusCode : null
  return {
    status,
    ...(status === null && { reason: whyOf(detail ?? error) }),
    ...(typeof type === "string" && { type }),
    ...(typeof code === "string" && { code }),
    ...(typeof requestId === "string" && { stripeRequestId: requestId }),
    ...((status === 401 || status === 403) && { variable: "STRIPE_SECRET_KEY" })
  }
}

/** The signed time, as Stripe's client reads it: the client refuses only one that is too old. */
const secondsOf = (signature: string): number => {
  const times = signature.split(",").filter((part) => part.startsWith("t="))
  return Number.parseInt(times.at(-1)?.slice(2) ?? "", 10)
}

/** Not told to the provider, which would only send it again. */
const ignored = (error: ParseResult.ParseError) => {
  const paths = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ path }) => path.join("."))
  return Effect.as(
    Effect.logWarning(`a payment event of Stripe is ignored: its ${[...new Set(paths)].join(", ")} cannot be used`),
    Option.none<PaymentEvent>()
  )
}

const sessionParameters = (
  id: PaymentId,
  amountCents: number,
  publicUrl: string
): Stripe.Checkout.SessionCreateParams => {
  const returnUrl = `${publicUrl}/dashboard/checkout/{CHECKOUT_SESSION_ID}`
  return {
    mode: "payment",
    client_reference_id: id,
    success_url: returnUrl,
    cancel_url: returnUrl,
    // what is refunded or disputed then has the currency of the credit
    adaptive_pricing: { enabled: false },
    line_items: [
      {
        quantity: 1,
        price_data: { currency: "usd", unit_amount: amountCents, product_data: { name: "Credit for model calls" } }
      }
    ]
  }
}
