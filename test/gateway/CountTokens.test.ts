import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { ProjectCredentials } from "../../src/credentials/ProjectCredentials.ts"
import type { ProviderCredential } from "../../src/domain/ProviderCredential.ts"
import {
  Caller,
  Catalog,
  type ChatRequest,
  CredentialId,
  Gateway,
  Health,
  IdGenerator,
  Policy,
  Providers,
  RateLimits,
  RetryBudget,
  RoutingConfigurations,
  Timers
} from "../../src/index.ts"
import { openPolicy, type ProjectPolicy } from "../../src/policy/ProjectPolicy.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { controls } from "../routing/models.ts"
import { inVirtualTime } from "./virtualTime.ts"

const noLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

const credential: ProviderCredential = {
  id: CredentialId.make("018f0000-0000-7000-8000-000000000001"),
  providerId: "own",
  secret: Redacted.make("secret"),
  version: "1",
  allowedModels: null
}

/** `one/m` is the service's; `own/m` can be called with a credential of the project alone. */
const setUp = (credentials: ReadonlyArray<ProviderCredential> | null, policy: ProjectPolicy = openPolicy) => {
  const timers = VirtualTimers.make()
  const script = () => ScriptedProvider.answer("hi")
  const providers = ["one", "own"].map((id) => ({
    ...ScriptedProvider.make({ id, timers, script }),
    takesCredentials: true
  }))
  const service = [testModel("one/m")]
  const layer = Gateway.layer.pipe(
    Layer.provide([
      Catalog.layerOf(service, [...service, testModel("own/m")]),
      Providers.layerOf(providers),
      Layer.succeed(Policy, { ofProject: () => Effect.succeed(policy) }),
      Layer.succeed(RoutingConfigurations, { ofProject: () => Effect.succeed([]) }),
      Layer.succeed(ProjectCredentials, { ofProject: () => Effect.succeed(credentials) }),
      RateLimits.layerMemory({ key: noLimit, project: noLimit }),
      Health.layer,
      RetryBudget.layer
    ]),
    Layer.provideMerge(MemoryLedger.layerFunded(1_000_000)),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Layer.succeed(Timers, timers))
  )
  const billingMode = credentials === null ? "managed" : "byok"
  const run = <A, E>(program: Effect.Effect<A, E, Gateway | Caller>) =>
    inVirtualTime(timers, program).pipe(
      Effect.provideService(Caller, { ...TestGateway.testCaller, billingMode }),
      Effect.provide(layer)
    )
  return run
}

/** What a count and a call of the same request come to: "ok" or the error's code. */
const both = (asked: Partial<ChatRequest>) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const count = yield* Effect.either(gateway.countTokens(request(asked)))
    const call = yield* Effect.either(gateway.complete(request({ ...asked, stream: false })))
    return [count, call].map((one) => (one._tag === "Right" ? "ok" : one.left._tag))
  })

describe("A count of tokens", () => {
  it.effect("knows the models that only the credentials of the project can call", () =>
    setUp([credential])(
      Effect.gen(function* () {
        expect(yield* both({ model: "own/m" })).toEqual(["ok", "ok"])
        expect(yield* both({ model: "auto" })).toEqual(["ok", "ok"])
      })
    )
  )

  it.effect("says of what the request excludes, and of what has no credential, the same as a call", () =>
    setUp([credential])(
      Effect.gen(function* () {
        const excluded = ["NoEligibleModel", "NoEligibleModel"]
        const denied = controls({ models: { allow: null, deny: ["own/m"] } })
        expect(yield* both({ model: "own/m", routing: denied })).toEqual(excluded)
        expect(yield* both({ model: "auto", routing: denied })).toEqual(excluded)
        const nothing = controls({ models: { allow: [], deny: [] } })
        expect(yield* both({ model: "auto", routing: nothing })).toEqual(excluded)
        expect(yield* both({ model: "one/m" })).toEqual(excluded)
      })
    )
  )

  it.effect("says of what the project excludes the same as a call", () =>
    setUp(null, { ...openPolicy, models: { allow: null, deny: ["one/m"] } })(
      Effect.gen(function* () {
        expect(yield* both({ model: "one/m" })).toEqual(["ModelNotFound", "ModelNotFound"])
        expect(yield* both({ model: "auto" })).toEqual(["NoEligibleModel", "NoEligibleModel"])
      })
    )
  )

  it.effect("does not know them for a project whose calls use the service's credentials", () =>
    setUp(null)(
      Effect.gen(function* () {
        expect(yield* both({ model: "own/m" })).toEqual(["ModelNotFound", "ModelNotFound"])
      })
    )
  )
})
