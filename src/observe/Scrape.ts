import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Exposition, snapshot } from "./Exposition.ts"

/** What a scrape of this service sees: the metrics of this process, unless a Layer says more. */
export class Scrape extends Context.Reference<Scrape>()("gateway/observe/Scrape", {
  defaultValue: (): Effect.Effect<Exposition> => Effect.sync(snapshot)
}) {}
