import * as Schema from "effect/Schema"
import { maxExplorationShare } from "../../domain/ExplorationShare.ts"
import { within } from "../validation/SchemaParts.ts"
import { patternList, StoredPatterns } from "./Patterns.ts"
import { PolicyReplayOut } from "./Replay.ts"
import { strict } from "./Strict.ts"

const maxPatterns = 2_000
const maxPrice = 1_000_000_000_000

export const Patterns = patternList(maxPatterns)
type List = typeof Patterns | typeof StoredPatterns
const allowing = (what: string, list: List) =>
  Schema.optionalWith(Schema.NullOr(list), { default: () => null }).annotations({
    description: `Allowed ${what}, as ids, \`<prefix>/*\` or \`*\`; null and default: all.`
  })
const excluding = (what: string, list: List) =>
  Schema.optionalWith(list, { default: () => [], nullable: true }).annotations({
    description: `Excluded ${what}, in the same form; exclusions take precedence.`
  })
const lists = (list: List) => ({
  allowed_models: allowing("models", list),
  excluded_models: excluding("models", list),
  allowed_providers: allowing("providers", list),
  excluded_providers: excluding("providers", list)
})

export const Alpha = Schema.NullOr(within({ type: "number", minimum: 0, maximum: 1 }))
const ExplorationShare = within({ type: "number", minimum: 0, maximum: maxExplorationShare })
export const Price = Schema.NullOr(within({ type: "integer", minimum: 0, maximum: maxPrice }))
const price = (of: string) =>
  Schema.optionalWith(Price, { default: () => null }).annotations({
    description: `Excludes models whose ${of} tokens cost more, in micro-USD per million; null and default: any price.`
  })

export const capsAndFallback = {
  max_input_price_microusd_per_million: price("input"),
  max_output_price_microusd_per_million: price("output"),
  enable_fallback: Schema.optionalWith(Schema.Boolean, { default: () => true, nullable: true }).annotations({
    description: "false: only the first candidate of a request is tried. Default true."
  })
}

export const PolicyInput = strict({
  ...lists(Patterns),
  default_alpha: Schema.optionalWith(Alpha, { default: () => null }).annotations({
    description:
      "Default quality-versus-cost weight: 0 is cheapest, 1 is highest quality; null and default: the gateway's default."
  }),
  exploration_share: Schema.optionalWith(ExplorationShare, { default: () => 0, nullable: true }).annotations({
    description: `Share of \`auto\` calls for which one of the models close to the best is tried instead of it, at most ${maxExplorationShare}; 0 and default: none.`
  }),
  ...capsAndFallback
}).annotations({
  identifier: "PolicyInput",
  description: "Models and providers that the keys of a project may use; omitted fields are unrestricted."
})
export type PolicyInput = typeof PolicyInput.Type

export const PolicyOut = Schema.Struct({
  ...PolicyInput.fields,
  ...lists(StoredPatterns),
  policy_version: Schema.Int.annotations({
    description: "Incremented by every change of the policy or of the project's routing configurations."
  }),
  managed_by_configuration: Schema.Boolean.annotations({
    description: "Whether it is managed by GATEWAY_CONFIG and can be changed only there."
  })
}).annotations({ identifier: "PolicyOut" })
export type PolicyOut = typeof PolicyOut.Type

const Eligible = Schema.Struct({
  models: Schema.Array(Schema.String).annotations({ description: "Ids, in code point order." })
})

export const PolicySimulationOut = Schema.Struct({
  before: Eligible.annotations({ description: "The models that keys may use under the current policy." }),
  after: Eligible.annotations({ description: "The models that keys may use under the requested policy." }),
  becomes_empty: Schema.Array(Schema.String).annotations({
    description: "`auto` and each `auto:<slug>` that has eligible models now and would have none."
  }),
  replay: PolicyReplayOut
}).annotations({ identifier: "PolicySimulationOut" })
export type PolicySimulationOut = typeof PolicySimulationOut.Type
