import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import OpenAI from "openai"
import { Feedback } from "../../src/account/feedback/Feedback.ts"
import { KeyStatus } from "../../src/account/keys/KeyStatus.ts"
import { RequestLog } from "../../src/account/requests/RequestLog.ts"
import { Idempotency } from "../../src/calls/Idempotency.ts"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { NotFound } from "../../src/domain/AccountError.ts"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { defaultTimeouts } from "../../src/domain/DefaultOptions.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import type { Model } from "../../src/domain/Model.ts"
import { Timers, type TimersShape } from "../../src/domain/Timers.ts"
import type { Deadlines } from "../../src/gateway/Deadlines.ts"
import { Gateway } from "../../src/gateway/Gateway.ts"
import { AccountRoutes } from "../../src/http/account/AccountRoutes.ts"
import { ClientAddress } from "../../src/http/ClientAddress.ts"
import { Dashboard } from "../../src/http/dashboard/Dashboard.ts"
import { PersonSecurity } from "../../src/http/inference/PersonSecurity.ts"
import { Security } from "../../src/http/inference/Security.ts"
import { LoadShedding } from "../../src/http/overload/LoadShedding.ts"
import { Drain } from "../../src/http/server/Drain.ts"
import { Readiness } from "../../src/http/server/Readiness.ts"
import { Server } from "../../src/http/server/Server.ts"
import { type Hold, Ledger, type Settlement } from "../../src/ledger/Ledger.ts"
import type { Scopes } from "../../src/ledger/Scopes.ts"
import type { ProjectPolicy, RoutingConfiguration } from "../../src/policy/Policy.ts"
import { type RateLimitOptions, RateLimits } from "../../src/policy/RateLimits.ts"
import { Providers } from "../../src/provider/Providers.ts"
import * as Auth from "../../src/provider/transport/Auth.ts"
import * as HttpProvider from "../../src/provider/transport/HttpProvider.ts"
import { Transport } from "../../src/provider/transport/Transport.ts"
import { configured } from "../../src/provider/vendors/Configured.ts"
import { Health } from "../../src/routing/Health.ts"
import { RetryBudget } from "../../src/routing/RetryBudget.ts"
import * as FixedKeys from "../../src/testing/doubles/FixedKeys.ts"
import * as FixedPolicy from "../../src/testing/doubles/FixedPolicy.ts"
import * as MemoryIdempotency from "../../src/testing/doubles/MemoryIdempotency.ts"
import { MemoryLedger } from "../../src/testing/doubles/MemoryLedger.ts"

export const caller: CallerShape = {
  keyId: KeyId.make("00000000-0000-7000-8000-000000000001"),
  projectId: ProjectId.make("00000000-0000-7000-8000-000000000002"),
  accountId: AccountId.make("00000000-0000-7000-8000-000000000003"),
  billingMode: "managed"
}

/** The key of `caller`; nothing here checks its form. */
export const callerKey = "a-key-of-this-test"

export interface InProcessOptions {
  readonly models: ReadonlyArray<Model>
  /** Where each provider of the models is, as a `baseUrl`. */
  readonly origins: Readonly<Record<string, string>>
  /** The built-in vendor that a provider is, credential and all; one that is not named takes chat completions. */
  readonly vendors?: Readonly<Record<string, string>>
  readonly policy?: Partial<ProjectPolicy>
  readonly configurations?: ReadonlyArray<RoutingConfiguration>
  readonly deadlines?: Partial<Deadlines>
  readonly connectMillis?: number
  readonly maxAttempts?: number
  readonly rateLimits?: RateLimitOptions
  readonly headHoldMillis?: number
  readonly heartbeatMillis?: number
  readonly drainGrace?: Duration.DurationInput
  readonly creditMicroUsd?: number
  readonly timers?: TimersShape
  /** In place of the real one. */
  readonly loadShedding?: Layer.Layer<LoadShedding>
  /** Replaces the ledger in memory; `openScopes` then opens its scopes before the first call. */
  readonly ledger?: Layer.Layer<Ledger | Scopes, unknown, Timers | IdGenerator>
  readonly openScopes?: Effect.Effect<void, unknown, Scopes>
}

/** What is read of calls and keys: without a database there are none. */
const withoutDatabase = Layer.mergeAll(
  Layer.succeed(KeyStatus, { of: () => Effect.succeedNone }),
  Layer.succeed(Feedback, { give: () => Effect.fail(new NotFound({ message: "Call not found." })) }),
  Layer.succeed(RequestLog, {
    page: () => Effect.succeed({ items: [], next: null }),
    all: () => Stream.empty,
    find: () => Effect.succeedNone,
    isOpen: () => Effect.succeed(false)
  })
)

/** A settlement as the gateway has handed it to the ledger. */
export interface Settled extends Settlement {
  readonly hold: Hold
}

/** The gateway with its own listener in this process: everything real but keys, policy and, unless given, the ledger. */
export interface InProcess {
  readonly url: string
  readonly client: OpenAI
  readonly post: (path: string, body: unknown, init?: RequestInit) => Promise<Response>
  /** Every settlement so far, in order. */
  readonly settlements: ReadonlyArray<Settled>
  /** Resolves once so many calls are settled, with the last of them. */
  readonly settled: (count: number) => Promise<Settled>
  /** Violated invariants of the ledger, once all settlements are written. */
  readonly audit: () => Promise<ReadonlyArray<string>>
  readonly held: () => Promise<number>
  readonly spent: () => Promise<number>
  readonly run: <A, E>(effect: Effect.Effect<A, E, Ledger | Scopes>) => Promise<A>
  /** Refuses new calls; resolves once none runs any more. */
  readonly drain: () => Promise<void>
  readonly stop: () => Promise<void>
}

const offered = (options: InProcessOptions) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const [transport, timers] = [yield* Transport, yield* Timers]
      const providers = Object.entries(options.origins).map(([id, baseUrl]) => {
        const name = options.vendors?.[id]
        const kind = name === undefined ? ({ protocol: "openai-chat" } as const) : { vendor: name }
        const vendor = configured({ id, baseUrl, ...kind })
        if (vendor === undefined) throw new Error(`not a base URL, or no such vendor: ${baseUrl}`)
        const auth = name === undefined ? Auth.none : vendor.auth(Redacted.make("a-secret"))
        return HttpProvider.make({ ...vendor, auth, transport, timers, reportDefect: () => {} })
      })
      return Layer.merge(Providers.layerOf(providers), Catalog.layerOf(options.models))
    })
  ).pipe(Layer.provide(Transport.layer({ connectMillis: options.connectMillis ?? 5_000 })))

/** Tests with another ledger send no `Idempotency-Key`. */
const neverIdempotent = Layer.succeed(Idempotency, { begin: () => Effect.dieMessage("nothing is kept here") })

const noLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

export const startInProcess = async (options: InProcessOptions): Promise<InProcess> => {
  const settlements: Array<Settled> = []
  const waiting: Array<{ readonly count: number; readonly resolve: (settled: Settled) => void }> = []
  const watched = Layer.effect(
    Ledger,
    Effect.map(Ledger, (ledger) => ({
      ...ledger,
      settle: (hold: Hold, settlement: Settlement) =>
        Effect.map(ledger.settle(hold, settlement), () => {
          const settled = { ...settlement, hold }
          settlements.push(settled)
          for (const waiter of waiting) if (settlements.length >= waiter.count) waiter.resolve(settled)
        })
    }))
  ).pipe(
    Layer.provideMerge(
      options.ledger === undefined
        ? MemoryIdempotency.layer.pipe(
            Layer.provideMerge(MemoryLedger.layerFunded(options.creditMicroUsd ?? 25_000_000))
          )
        : Layer.merge(neverIdempotent, options.ledger)
    )
  )

  const timers = options.timers === undefined ? Timers.layer : Layer.succeed(Timers, options.timers)
  const base = IdGenerator.layer.pipe(Layer.provideMerge(timers))
  const knowledge = Layer.mergeAll(
    FixedKeys.layer({ [callerKey]: caller }),
    FixedPolicy.layerPolicy(options.policy),
    FixedPolicy.layerConfigurations(options.configurations),
    RateLimits.layerMemory(options.rateLimits ?? { key: noLimit, project: noLimit }),
    Health.layer,
    RetryBudget.layer,
    offered(options),
    watched
  )
  const gateway = Gateway.layerAndRunner({
    deadlines: { ...defaultTimeouts, ...options.deadlines },
    maxAttempts: options.maxAttempts ?? 4
  })
  const services = Layer.mergeAll(
    gateway,
    Security.layer.pipe(Layer.provide(ClientAddress.layer([]))),
    options.loadShedding ?? LoadShedding.layer,
    Drain.layer({ grace: Duration.decode(options.drainGrace ?? 0) })
  ).pipe(Layer.provideMerge(knowledge), Layer.provideMerge(base))
  const server = Server.layer({
    host: "127.0.0.1",
    port: 0,
    headHoldMillis: options.headHoldMillis ?? 10_000,
    heartbeatMillis: options.heartbeatMillis ?? 15_000,
    metricsToken: Option.none(),
    isLoopback: true
  }).pipe(
    Layer.provide(
      Layer.succeed(Readiness, { check: Effect.succeed(true), outage: () => undefined, violations: () => ({}) })
    ),
    Layer.provide(AccountRoutes.layerNone),
    Layer.provide(Dashboard.layerNone),
    Layer.provide(PersonSecurity.layerNone),
    Layer.provide(withoutDatabase),
    Layer.provide(NodeHttpServer.layerContext)
  )
  const runtime = ManagedRuntime.make(server.pipe(Layer.provideMerge(services)))
  const { port } = (await runtime.runPromise(Server)).address
  if (options.openScopes !== undefined) await runtime.runPromise(options.openScopes)
  const url = `http://127.0.0.1:${port}`
  const balance = () => runtime.runPromise(Effect.flatMap(Ledger, (ledger) => ledger.balance(caller.accountId)))
  return {
    url,
    client: new OpenAI({ apiKey: callerKey, baseURL: `${url}/v1`, maxRetries: 0 }),
    post: (path, body, init) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        ...init
      }),
    settlements,
    settled: (count) => {
      const last = settlements[count - 1]
      return last === undefined ? new Promise((resolve) => waiting.push({ count, resolve })) : Promise.resolve(last)
    },
    audit: () =>
      runtime.runPromise(Effect.flatMap(Ledger, (ledger) => Effect.zipRight(ledger.flushed, ledger.checkInvariants))),
    held: async () => (await balance()).heldMicroUsd,
    spent: async () => (await balance()).spentMicroUsd,
    run: (effect) => runtime.runPromise(effect),
    drain: () =>
      runtime.runPromise(
        Effect.flatMap(Drain, (drain) => drain.drain({ abort: Effect.void, stopListening: Effect.void }))
      ),
    stop: () => runtime.dispose()
  }
}
