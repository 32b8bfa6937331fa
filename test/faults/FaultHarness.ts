import type { Model } from "../../src/domain/Model.ts"
import { model } from "../provider/protocols/calls.ts"
import { type InProcess, type Settled, startInProcess } from "../support/InProcess.ts"
import { type ClientVerdict, type VerdictRequest, verdictOf } from "./ClientVerdict.ts"
import { type FaultServer, startFaultServer } from "./FaultServer.ts"

/** A provider of its own for one test, so that no other test's faults are held against it. */
export interface Place {
  readonly provider: string
  readonly fault: string
  readonly atOrigin: boolean
}

/** What one call came to, on both sides. */
export interface Called {
  readonly seen: ClientVerdict
  readonly settled: Settled
}

export interface FaultHarness {
  readonly server: FaultServer
  readonly gateway: InProcess
  /** The provider's only faulty model, by its id: nobody else may be asked. */
  readonly alone: (place: Place, asked: VerdictRequest) => Promise<Called>
  /** The faulty model first, then a healthy one of the same provider, then a healthy provider. */
  readonly withOthers: (place: Place, asked: VerdictRequest) => Promise<Called>
  readonly stop: () => Promise<void>
}

export const spare = "spare/ok"
const prices = { input: 1_000_000, output: 2_000_000, cacheRead: null, cacheWrite: null, tiers: [] }

/** A twentieth of what the gateway grants by default; the head of a stream is out before its first content is late. */
const scaled = {
  deadlines: { firstContentMillis: 750, plainAnswerMillis: 1_500, idleMillis: 1_000, totalMillis: 30_000 },
  headHoldMillis: 500
}

export const startFaultHarness = async (places: ReadonlyArray<Place>, isScaled: boolean): Promise<FaultHarness> => {
  const server = await startFaultServer()
  const gateway = await startInProcess({
    origins: Object.fromEntries([
      ["spare", server.upstream.baseUrl],
      ...places.map(({ atOrigin, fault, provider }) => [
        provider,
        (atOrigin ? server.origins[fault] : undefined) ?? server.upstream.baseUrl
      ])
    ]),
    models: [
      route("spare", "ok", "ok", { quality: 0.5 }),
      ...places.flatMap(({ fault, provider }) => [
        route(provider, "faulty", fault, { quality: 0.9, contextTokens: 50_000 }),
        route(provider, "sibling", "ok", { quality: 0.7 })
      ])
    ],
    policy: { defaultAlpha: 1 },
    connectMillis: 250,
    ...(isScaled ? scaled : {})
  })

  const settlementOf = async (requestId: string): Promise<Settled> => {
    for (;;) {
      const found = gateway.settlements.find((settled) => settled.hold.callId === requestId)
      if (found !== undefined) return found
      await gateway.settled(gateway.settlements.length + 1)
    }
  }
  const call = async (requested: string, asked: VerdictRequest): Promise<Called> => {
    const seen = await verdictOf(gateway.url, requested, asked)
    return { seen, settled: await settlementOf(seen.requestId) }
  }
  return {
    server,
    gateway,
    alone: ({ provider }, asked) => call(`${provider}/faulty`, asked),
    withOthers: ({ provider }, asked) =>
      call("auto", { ...asked, more: { ...asked.more, models: { allow: [`${provider}/*`, spare] } } }),
    stop: async () => {
      await gateway.stop()
      await server.stop()
    }
  }
}

const route = (providerId: string, name: string, upstreamModel: string, more: Partial<Model>): Model =>
  model({ id: `${providerId}/${name}`, providerId, upstreamModel, alias: `${providerId}-${name}`, prices, ...more })
