import * as Layer from "effect/Layer"
import {
  AccountLayer,
  type DatabaseError,
  DatabaseLayer,
  type DatabaseLayerOptions,
  Gateway,
  IdGenerator,
  type InvalidConfiguration,
  type Keys,
  LedgerLayer,
  PolicyLayer,
  ProviderLayer,
  Timers
} from "model-routing-gateway"

/** A gateway with accounts, of parts that the application chooses itself; each needs what stands below it. */
export const composed = (
  database: DatabaseLayerOptions
): Layer.Layer<Gateway | Keys, DatabaseError | InvalidConfiguration> =>
  Layer.merge(Gateway.layer, AccountLayer()).pipe(
    Layer.provideMerge(ProviderLayer({ simulated: true })),
    Layer.provideMerge(Layer.merge(PolicyLayer(), LedgerLayer())),
    Layer.provideMerge(DatabaseLayer(database)),
    Layer.provideMerge(IdGenerator.layer),
    Layer.provideMerge(Timers.layer)
  )
