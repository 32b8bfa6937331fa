import * as Schema from "effect/Schema"
import { efforts } from "../../domain/Chat.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { capabilities } from "../../domain/Model.ts"
import { cursorOfList, cursorParameter, limitParameter, pageOf } from "./Page.ts"
import { HealthOut } from "./Route.ts"
import { sentId } from "./SentId.ts"

const rates = {
  input: Schema.Number.annotations({ description: "Price of uncached input tokens." }),
  output: Schema.Number.annotations({ description: "Price of output tokens." }),
  cache_read: Schema.NullOr(Schema.Number).annotations({
    description: "Price of input tokens read from a cache; null: unknown, the input price applies."
  }),
  cache_write: Schema.NullOr(Schema.Number).annotations({
    description: "Price of input tokens written to a cache; null: unknown, the input price applies."
  })
}

const Tier = Schema.Struct({
  above_prompt_tokens: Schema.Int.annotations({ description: "Applies to calls with more prompt tokens than this." }),
  ...rates
})

const PricesOut = Schema.Struct({
  ...rates,
  tiers: Schema.Array(Tier).annotations({ description: "Prices for longer prompts, ascending." })
})

const tokens = (description: string) =>
  Schema.NullOr(Schema.Int).annotations({ description: `${description}, in tokens; null where it is not documented.` })

export const CatalogModelOut = Schema.Struct({
  id: Schema.String.annotations({ description: "Value to send as `model`." }),
  provider: Schema.String.annotations({ description: "Id of its provider." }),
  name: Schema.String.annotations({ description: "Display name." }),
  alias: Schema.String.annotations({ description: "Name of the model at all of its providers." }),
  listed: Schema.Boolean.annotations({ description: "Whether `auto` may choose it and `GET /v1/models` lists it." }),
  prices: Schema.NullOr(PricesOut).annotations({
    description: "Prices in micro-USD per million tokens; null: unknown, so that no call can be charged for it."
  }),
  context_tokens: tokens("Maximum length of prompt and completion together"),
  input_tokens: tokens("Maximum prompt length"),
  output_tokens: tokens("Maximum completion length"),
  capabilities: Schema.Record({
    key: Schema.Literal(...capabilities),
    value: Schema.NullOr(Schema.Boolean).annotations({ description: "Whether it is supported; null: unknown." })
  }).annotations({ description: "Capabilities of the model." }),
  reasoning_efforts: Schema.NullOr(Schema.Array(Schema.Literal(...efforts))).annotations({
    description:
      "Reasoning efforts that a request can select, lowest first; null: it does not reason, or the effort cannot be selected."
  }),
  quality: Schema.Number.annotations({ description: "Estimated quality of its responses, 0 to 1." }),
  health: HealthOut
}).annotations({ identifier: "CatalogModelOut" })
export type CatalogModelOut = typeof CatalogModelOut.Type

export const CatalogPage = pageOf("CatalogPage", CatalogModelOut, "by id in code point order")

const maxIdCharacters = 300

/** The catalog has no ids of the kind that other lists have: it continues after the last model's id. */
const Cursor = cursorOfList("catalog", Schema.String.pipe(Schema.minLength(1), Schema.maxLength(maxIdCharacters)))

export const CatalogParameters = Schema.Struct({
  project_id: Schema.optional(
    sentId(
      ProjectId,
      "A project in which the caller has any role: adds the models that are callable only with the project's own credentials."
    )
  ),
  limit: limitParameter,
  cursor: cursorParameter(Cursor)
})

export const catalogCursor = Schema.encodeSync(Cursor)
