import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Random from "effect/Random"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import { Idempotency, type IdempotencyShape } from "../../src/calls/Idempotency.ts"
import { IdempotencyStore } from "../../src/calls/IdempotencyStore.ts"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { IdGenerator, type IdGeneratorShape } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { CallRunner, type CallRunnerShape } from "../../src/gateway/CallRunner.ts"
import { defaultOptions } from "../../src/gateway/GatewayOptions.ts"
import { Ledger, type LedgerShape } from "../../src/ledger/Ledger.ts"
import { LedgerStore } from "../../src/ledger/LedgerStore.ts"
import * as Recovery from "../../src/ledger/Recovery.ts"
import { RecoveryStore } from "../../src/ledger/RecoveryStore.ts"
import { StoreHealth } from "../../src/ledger/StoreHealth.ts"
import { RateLimits } from "../../src/policy/RateLimits.ts"
import type { ProviderCall } from "../../src/provider/Provider.ts"
import { Providers } from "../../src/provider/Providers.ts"
import { Health } from "../../src/routing/Health.ts"
import { RetryBudget } from "../../src/routing/RetryBudget.ts"
import * as FixedPolicy from "../../src/testing/doubles/FixedPolicy.ts"
import type { VirtualTimers } from "../../src/testing/doubles/VirtualTimers.ts"
import type { Dice } from "./Dice.ts"
import { Link } from "./Link.ts"
import { NodeScheduler } from "./NodeScheduler.ts"
import type { SimulatedDatabase } from "./SimulatedDatabase.ts"
import { makeProvider, models, providerIds, type SimulatedAttempt } from "./SimulatedProviders.ts"

export interface SimulatedNodeOptions {
  readonly id: string
  readonly clock: VirtualTimers
  readonly database: SimulatedDatabase
  readonly dice: Dice
  readonly ids: IdGeneratorShape
  /** How long the answer to a call is. */
  readonly wordsOf: (call: ProviderCall) => number
  readonly opened: (attempt: SimulatedAttempt) => void
}

/** One process of the gateway: the program itself, on simulated providers, time and database. */
export class SimulatedNode {
  readonly id: string
  readonly link: Link
  readonly scheduler: NodeScheduler
  /** Requests that count against the concurrency limits. */
  admitted = 0
  isStopped = false
  private readonly scope = Effect.runSync(Scope.make())
  private readonly runtime: Runtime.Runtime<CallRunner | Idempotency | Ledger | Timers>

  constructor(options: SimulatedNodeOptions) {
    this.id = options.id
    this.scheduler = new NodeScheduler(options.clock)
    this.link = new Link(options.clock, options.database, this.scheduler, options.dice)
    options.database.beat(this.id)
    const built = Effect.runFork(
      Layer.toRuntime(this.layer(options)).pipe(
        Scope.extend(this.scope),
        Effect.withRandom(Random.make(options.dice.next()))
      ),
      { scheduler: this.scheduler }
    )
    while (this.scheduler.drain()) {}
    const exit = built.unsafePoll()
    if (exit?._tag !== "Success") throw new Error(`a node did not start: ${exit}`)
    this.runtime = exit.value
  }

  get runner(): CallRunnerShape {
    return Context.get(this.runtime.context, CallRunner)
  }

  get idempotency(): IdempotencyShape {
    return Context.get(this.runtime.context, Idempotency)
  }

  get ledger(): LedgerShape {
    return Context.get(this.runtime.context, Ledger)
  }

  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> {
    return Runtime.runFork(this.runtime)(effect, { scheduler: this.scheduler })
  }

  /** As by SIGKILL: nothing more happens in it. */
  kill(): void {
    this.isStopped = true
    this.scheduler.stop()
  }

  private layer({ database, dice, ids, opened, wordsOf }: SimulatedNodeOptions) {
    const { id, link } = this
    const ignored = Effect.mapError((cause: unknown) => cause as never)
    const store = Layer.succeed(LedgerStore, {
      apply: (reservations, settlements) => link.send(() => database.apply(id, reservations, settlements)),
      lockedAccounts: () => Effect.dieMessage("no row is ever locked"),
      balance: () => Effect.dieMessage("no simulated call asks for a balance"),
      checkInvariants: Effect.succeed([])
    })
    const unavailable = Effect.mapError((cause: unknown) => new StoreUnavailable({ cause }))
    const { claims } = database
    const idempotency = Layer.succeed(IdempotencyStore, {
      claim: (claim) => unavailable(link.send(() => claims.claim(id, claim))),
      release: (run) => unavailable(link.send(() => claims.release(run))),
      releaseLost: (running) => unavailable(link.send(() => claims.releaseLost(id, running))),
      sweep: Effect.void
    })
    const recovery = Layer.succeed(RecoveryStore, {
      isAlone: false,
      beat: ignored(link.send(() => database.beat(id))),
      sweep: (_, maxCallDuration) => ignored(link.send(() => database.sweep(id, Duration.toMillis(maxCallDuration)))),
      expireAll: Effect.succeed(0)
    })
    const rateLimits = Layer.succeed(RateLimits, {
      admit: () =>
        Effect.sync(() => {
          this.admitted += 1
          let isReleased = false
          const release = () => {
            if (!isReleased) this.admitted -= 1
            isReleased = true
          }
          return { release, status: { requests: null, tokens: null } }
        })
    })
    const providers = providerIds.map((provider) => makeProvider(provider, this.scheduler, dice, wordsOf, opened))
    return Layer.mergeAll(
      CallRunner.layerWith(defaultOptions),
      Recovery.layer(),
      Idempotency.layer.pipe(Layer.provide(idempotency))
    ).pipe(
      Layer.provideMerge(Ledger.layer),
      Layer.provide(StoreHealth.layer),
      Layer.provide([
        store,
        Catalog.layerOf(models),
        Providers.layerOf(providers),
        FixedPolicy.layerPolicy(),
        FixedPolicy.layerConfigurations(),
        rateLimits,
        Health.layer,
        RetryBudget.layer
      ]),
      Layer.provide(recovery),
      Layer.provide(Layer.succeed(IdGenerator, ids)),
      Layer.provide(Logger.remove(Logger.defaultLogger)),
      Layer.provideMerge(Timers.layerOf(this.scheduler.timers))
    )
  }
}
