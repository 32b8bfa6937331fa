import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { probeAll, probing, RefusedCredentials } from "../../src/app/CredentialProbes.ts"
import type { ProviderSettings } from "../../src/app/ProviderSettings.ts"
import type { ObservedCall } from "../../src/domain/CallObserver.ts"
import { CredentialId } from "../../src/domain/Ids.ts"
import { ProviderError, type ProviderFailure } from "../../src/domain/ProviderError.ts"
import { snapshot } from "../../src/observe/Exposition.ts"
import * as Providers from "../../src/provider/Providers.ts"
import type { Probed } from "../../src/provider/probe/Probe.ts"
import { model } from "../provider/protocols/calls.ts"

const secret = Redacted.make("sk-secret")

const settings: Parameters<typeof probing>[0] = {
  vendorVariables: new Map([["openai", "OPENAI_API_KEY"]]),
  bedrock: { region: "us-east-1", auth: { _tag: "Bearer", token: secret } },
  providers: [
    {
      id: "acme",
      apiKey: secret,
      apiKeyVariable: "ACME_KEY",
      models: [],
      connection: { _tag: "Vendor", vendor: "openai", baseUrl: null, outputCapField: null, billsAbortedCalls: null }
    },
    {
      id: "local",
      apiKey: null,
      apiKeyVariable: null,
      models: [],
      connection: { _tag: "Vendor", vendor: "openai", baseUrl: null, outputCapField: null, billsAbortedCalls: null }
    }
  ]
} satisfies Pick<ProviderSettings, "bedrock" | "providers" | "vendorVariables">

const accepted: Probed = { status: "accepted", detail: null, httpStatus: 200, latencyMillis: 1 }
const refused: Probed = { status: "refused", detail: "credential refused", httpStatus: 401, latencyMillis: 1 }
const away: Probed = { status: "unreachable", detail: "not reachable: dns", httpStatus: null, latencyMillis: 1 }

/** Providers that say one thing after the other, the last one forever. */
const providersThat = (says: Readonly<Record<string, ReadonlyArray<Probed>>>) => {
  const asked: Array<string> = []
  const providers = Object.entries(says).map(([id, all]) => ({
    id,
    open: () => {
      throw new Error("no call is made")
    },
    probe: () =>
      Effect.sync(() => {
        asked.push(id)
        const probed = all[Math.min(asked.filter((one) => one === id).length, all.length) - 1]
        if (probed === undefined) throw new Error("nothing to say")
        return probed
      })
  }))
  return { asked, layer: Providers.Providers.layerOf(providers) }
}

const logOf = (lines: Array<Record<string, unknown>>) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ annotations, logLevel, message }) => {
      lines.push({
        level: logLevel.label,
        message: String(message),
        ...Object.fromEntries(HashMap.toEntries(annotations))
      })
    })
  )

it.effect("every provider is asked, with the name of its variable", () =>
  Effect.gen(function* () {
    const { layer } = providersThat({
      openai: [accepted],
      "amazon-bedrock": [refused],
      acme: [away],
      local: [accepted]
    })
    const probed = yield* Effect.provide(probeAll(settings), layer)
    expect(probed.map(({ provider, status, variable }) => [provider, variable, status])).toEqual([
      ["openai", "OPENAI_API_KEY", "accepted"],
      ["amazon-bedrock", "AWS_BEARER_TOKEN_BEDROCK", "refused"],
      ["acme", "ACME_KEY", "unreachable"],
      ["local", null, "accepted"]
    ])
  })
)

it.scoped("what fails is logged with its variable, asked again, and logged again only when it changes", () =>
  Effect.gen(function* () {
    const lines: Array<Record<string, unknown>> = []
    const { asked, layer } = providersThat({
      openai: [refused, refused, accepted],
      "amazon-bedrock": [accepted],
      acme: [away],
      local: [accepted]
    })
    yield* Layer.build(probing(settings).pipe(Layer.provide([layer, RefusedCredentials.layer, logOf(lines)])))
    yield* TestClock.adjust("1 seconds")
    const openai = () => lines.filter(({ provider }) => provider === "openai")
    expect(openai()).toEqual([
      {
        level: "WARN",
        message: "the provider refuses its credential",
        provider: "openai",
        variable: "OPENAI_API_KEY",
        status: "refused",
        httpStatus: 401,
        detail: "credential refused",
        latencyMillis: 1
      }
    ])
    expect(lines.find(({ provider }) => provider === "acme")).toMatchObject({
      level: "WARN",
      message: "the provider is not reachable",
      variable: "ACME_KEY"
    })
    yield* TestClock.adjust("5 minutes")
    expect(openai()).toHaveLength(1)
    yield* TestClock.adjust("5 minutes")
    expect(openai().at(-1)).toMatchObject({ level: "INFO", message: "the provider accepts its credential" })
    yield* TestClock.adjust("1 hour")
    expect(asked.filter((one) => one === "openai")).toHaveLength(3)
    expect(asked.filter((one) => one === "local")).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain("sk-secret")
  })
)

/** A call that the provider has refused, for the credential of the service or that of a project. */
const refusedCall = (providerId: string, credentialId: CredentialId | null, reason: ProviderFailure) =>
  Effect.map(RefusedCredentials, ({ observer }) =>
    observer.attemptFailed?.({} as ObservedCall, {
      model: model({ id: `${providerId}/m`, providerId }),
      record: {
        provider: providerId,
        model: `${providerId}/m`,
        status: "error",
        error: null,
        cost: { amount_microusd: 0, currency: "USD", basis: "charged" },
        latency_ms: 1
      },
      error: new ProviderError({ providerId, reason }),
      firstContentMillis: null,
      credentialId,
      usage: null,
      finishReason: null,
      servedModel: null,
      number: 1,
      next: { _tag: "GiveUp" }
    })
  )

it.scoped("a provider that has accepted its credential is asked again when it refuses it in a call", () =>
  Effect.gen(function* () {
    const lines: Array<Record<string, unknown>> = []
    const { asked, layer } = providersThat({
      openai: [accepted, refused, accepted],
      "amazon-bedrock": [accepted],
      acme: [accepted],
      local: [accepted]
    })
    const context = yield* Layer.build(
      Layer.provideMerge(probing(settings), RefusedCredentials.layer).pipe(Layer.provide([layer, logOf(lines)]))
    )
    const call = (...sent: Parameters<typeof refusedCall>) => Effect.provide(refusedCall(...sent), context)
    const rejected = { _tag: "CredentialRejected" } as const
    yield* TestClock.adjust("1 hour")

    yield* call("openai", CredentialId.make("00000000-0000-7000-8000-000000000001"), rejected)
    yield* call("openai", null, { _tag: "RateLimited", retryAfterMillis: null })
    yield* TestClock.adjust("1 hour")
    expect(asked.filter((one) => one === "openai")).toHaveLength(1)

    yield* call("openai", null, rejected)
    yield* call("openai", null, rejected)
    yield* TestClock.adjust("1 seconds")
    expect(asked.filter((one) => one === "openai")).toHaveLength(2)
    expect(statuses()).toContain("openai refused")
    expect(lines.at(-1)).toMatchObject({ level: "WARN", variable: "OPENAI_API_KEY" })
    yield* TestClock.adjust("5 minutes")
    expect(statuses()).toContain("openai accepted")
    expect(asked.filter((one) => one === "acme")).toHaveLength(1)
  })
)

/** What the metric says of the providers now: those of their statuses that are 1. */
const statuses = (): ReadonlyArray<string> =>
  snapshot()
    .filter(({ name }) => name === "gateway_provider_credential_status")
    .flatMap(({ samples }) => samples)
    .filter((sample) => "value" in sample && sample.value === 1)
    .map(({ labels }) => labels.map(([, value]) => value).join(" "))
    .sort()

it.effect("what each provider says to its credential is a metric, until a reload takes the provider away", () =>
  Effect.gen(function* () {
    const { layer } = providersThat({
      openai: [refused, accepted],
      "amazon-bedrock": [accepted],
      acme: [away],
      local: [accepted]
    })
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(
      probing(settings).pipe(Layer.provide([layer, RefusedCredentials.layer, logOf([])])),
      scope
    )
    yield* TestClock.adjust("1 seconds")
    expect(statuses()).toEqual(["acme unreachable", "amazon-bedrock accepted", "local accepted", "openai refused"])
    yield* TestClock.adjust("5 minutes")
    expect(statuses()).toContain("openai accepted")
    expect(statuses()).not.toContain("openai refused")
    yield* Scope.close(scope, Exit.void)

    const next = { ...settings, providers: settings.providers.filter(({ id }) => id !== "acme") }
    yield* Effect.scoped(
      Effect.zipRight(
        Layer.build(probing(next).pipe(Layer.provide([layer, RefusedCredentials.layer]))),
        TestClock.adjust("1 seconds")
      )
    )
    expect(statuses()).toEqual(["amazon-bedrock accepted", "local accepted", "openai accepted"])
  })
)
