import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refusals } from "../account/requests/Refusals.ts"
import { Idempotency } from "../calls/Idempotency.ts"
import { IdempotencyStore } from "../calls/IdempotencyStore.ts"
import { Capture } from "../capture/Capture.ts"
import type * as Settings from "../config/Settings.ts"
import { CredentialStore } from "../credentials/CredentialStore.ts"
import { ProjectCredentials } from "../credentials/ProjectCredentials.ts"
import { SealedCredentials } from "../credentials/SealedCredentials.ts"
import { CallObservers } from "../domain/CallObserver.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { Timers } from "../domain/Timers.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { ClientAddress } from "../http/ClientAddress.ts"
import { Security } from "../http/inference/Security.ts"
import { minLimitEmbedded } from "../http/overload/AdaptiveLimit.ts"
import { LoadShedding } from "../http/overload/LoadShedding.ts"
import { Drain } from "../http/server/Drain.ts"
import { ApiKeyStore } from "../identity/keys/ApiKeyStore.ts"
import { ApiKeys } from "../identity/keys/ApiKeys.ts"
import { AccountStore } from "../identity/projects/AccountStore.ts"
import { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { InvariantCheck } from "../ledger/InvariantCheck.ts"
import { InvariantCheckStore } from "../ledger/InvariantCheckStore.ts"
import { LedgerLayer } from "../ledger/Ledger.ts"
import { LedgerNode } from "../ledger/LedgerNodeStore.ts"
import { maxCallDurationOf } from "../ledger/Recovery.ts"
import * as AttemptLog from "../observe/AttemptLog.ts"
import * as CallMetrics from "../observe/CallMetrics.ts"
import { CallTrails } from "../observe/CallTrails.ts"
import { PolicyLayer } from "../policy/PolicyLayer.ts"
import { PolicyStore } from "../policy/PolicyStore.ts"
import { RoutingConfigurationStore } from "../policy/RoutingConfigurationStore.ts"
import { ProviderLayer } from "../provider/ProviderLayer.ts"
import { QualitySnapshotStore } from "../routing/evidence/QualitySnapshotStore.ts"
import { QualitySnapshots } from "../routing/evidence/QualitySnapshots.ts"
import { OutputLengths } from "../routing/quality/OutputLengths.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { Database } from "../sql/Database.ts"
import { accountServices, masterKeyLayer } from "./AccountServices.ts"
import { activityServices, describeFailure, refusals } from "./ActivityServices.ts"
import { alertServices } from "./AlertServices.ts"
import { analysisServices } from "./AnalysisServices.ts"
import { captureServices } from "./CaptureServices.ts"
import { chatServices } from "./ChatServices.ts"
import { RefusedCredentials } from "./CredentialProbes.ts"
import { credentialVariables, providerOptions } from "./ProviderSettings.ts"
import { viewOf } from "./reload/LiveSettings.ts"
import { stoppedCalls } from "./StoppedCalls.ts"

/** Every service but the listener, on an open and migrated database: nothing has been written for the settings yet. */
export const services = (settings: Settings.Settings) => {
  const base = IdGenerator.layer.pipe(Layer.provideMerge(Timers.layer))
  const stores = Layer.mergeAll(
    AccountStore.layer,
    ApiKeyStore.layer,
    RoutingConfigurationStore.layer,
    // the same node as in the ledger: a layer is built once
    IdempotencyStore.layer.pipe(Layer.provide(LedgerNode.layer)),
    PolicyStore.layer,
    ProjectStore.layer
  ).pipe(Layer.provideMerge(ChangeNotifications.layer))
  const sealing = SealedCredentials.layer.pipe(
    Layer.provideMerge(CredentialStore.layer),
    Layer.provideMerge(masterKeyLayer(settings))
  )
  const maxCallDuration = maxCallDurationOf(settings.timeouts)
  const gateway = Gateway.layerAndRunner(
    viewOf(() => ({ deadlines: settings.timeouts, maxAttempts: settings.fallback.maxAttempts }))
  ).pipe(
    Layer.provide(observers(settings)),
    Layer.provide(ProjectCredentials.layer),
    Layer.provideMerge(ProviderLayer(providerOptions(settings))),
    Layer.provideMerge(PolicyLayer({ rateLimits: viewOf(() => settings.rateLimits) })),
    Layer.provideMerge(LedgerLayer({ maxCallDuration }))
  )
  const http = Layer.mergeAll(
    Security.layer,
    loadShedding,
    Drain.layer({ grace: settings.drainGrace, delay: settings.drainDelay }),
    Idempotency.layer
  ).pipe(Layer.provideMerge(ApiKeys.layer), Layer.provideMerge(ClientAddress.layer(settings.trustedProxies)))
  const check = InvariantCheck.layer.pipe(Layer.provide(InvariantCheckStore.layer(Duration.toSeconds(maxCallDuration))))
  return Layer.mergeAll(
    http,
    check,
    alertServices(settings),
    analysisServices,
    chatServices(settings),
    stoppedCalls
  ).pipe(
    Layer.provideMerge(accountServices(settings)),
    Layer.provideMerge(activityServices(settings)),
    Layer.provideMerge(gateway),
    Layer.provideMerge(captureServices),
    Layer.provideMerge(Layer.mergeAll(refusals, CallTrails.layer, RefusedCredentials.layer)),
    Layer.provideMerge(QualitySnapshots.layer.pipe(Layer.provide(QualitySnapshotStore.layer))),
    Layer.provideMerge(OutputLengths.layer),
    Layer.provideMerge(sealing),
    Layer.provideMerge(stores),
    Layer.provideMerge(base)
  )
}

const loadShedding = Layer.unwrapEffect(
  Effect.map(Database, ({ kind }) => LoadShedding.layerOf(kind === "embedded" ? minLimitEmbedded : undefined))
)

/** Metrics, the log of failed attempts, refusals, the attempts of running calls, collections of projects, and refused credentials. */
const observers = (settings: Settings.Settings) =>
  Layer.scoped(
    CallObservers,
    Effect.gen(function* () {
      const attemptLog = yield* AttemptLog.make({
        variableOf: (provider) => credentialVariables(settings).get(provider)
      })
      const refusals = yield* Refusals
      const trails = yield* CallTrails
      const capture = yield* Capture
      const credentials = yield* RefusedCredentials
      return [
        CallMetrics.make(describeFailure),
        attemptLog,
        refusals.observer,
        trails.observer,
        capture.observer,
        credentials.observer
      ]
    })
  )
