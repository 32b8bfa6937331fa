import * as Schema from "effect/Schema"
import { efforts } from "../../domain/Chat.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { capabilities } from "../../domain/Model.ts"
import { pageOf, pageParameters } from "./Page.ts"
import { HealthOut } from "./Route.ts"
import { sentId } from "./SentId.ts"

const rates = {
  input: Schema.Number.annotations({ description: "Of uncached input tokens." }),
  output: Schema.Number.annotations({ description: "Of output tokens." }),
  cache_read: Schema.NullOr(Schema.Number).annotations({
    description: "Of input tokens read from a cache; null: unknown, then as input."
  }),
  cache_write: Schema.NullOr(Schema.Number).annotations({
    description: "Of input tokens written to a cache; null: unknown, then as input."
  })
}

const Tier = Schema.Struct({
  above_prompt_tokens: Schema.Int.annotations({ description: "For calls with a longer prompt than this." }),
  ...rates
})

const PricesOut = Schema.Struct({
  ...rates,
  tiers: Schema.Array(Tier).annotations({ description: "Prices of longer prompts, ascending." })
})

const tokens = (description: string) =>
  Schema.NullOr(Schema.Int).annotations({ description: `${description}, in tokens; null where it is not documented.` })

export const CatalogModelOut = Schema.Struct({
  id: Schema.String.annotations({ description: "Value to send as `model`." }),
  provider: Schema.String.annotations({ description: "Id of its provider." }),
  name: Schema.String.annotations({ description: "Display name." }),
  alias: Schema.String.annotations({ description: "The name that the model has at all of its providers." }),
  listed: Schema.Boolean.annotations({ description: "Whether `auto` may choose it and `GET /v1/models` lists it." }),
  prices: Schema.NullOr(PricesOut).annotations({
    description: "In micro-USD per million tokens; null: unknown, so that no call may be charged for it."
  }),
  context_tokens: tokens("Prompt and completion together"),
  input_tokens: tokens("The longest prompt"),
  output_tokens: tokens("The longest completion"),
  capabilities: Schema.Record({
    key: Schema.Literal(...capabilities),
    value: Schema.NullOr(Schema.Boolean).annotations({ description: "Whether it is supported; null: unknown." })
  }).annotations({ description: "What it can take and give." }),
  reasoning_efforts: Schema.NullOr(Schema.Array(Schema.Literal(...efforts))).annotations({
    description: "Efforts that a request may choose, lowest first; null: it does not reason, or cannot be told to."
  }),
  quality: Schema.Number.annotations({ description: "Estimate of the quality of its answers, 0 to 1." }),
  health: HealthOut
}).annotations({ identifier: "CatalogModelOut" })
export type CatalogModelOut = typeof CatalogModelOut.Type

/** By id, in code point order. */
export const CatalogPage = pageOf("CatalogPage", CatalogModelOut)

const maxIdCharacters = 300

/** The catalog has no ids of the kind that other lists have: its cursor is the last model's id, in base64url. */
const Cursor = Schema.StringFromBase64Url.pipe(Schema.minLength(1), Schema.maxLength(maxIdCharacters))

export const CatalogParameters = Schema.Struct({
  project_id: Schema.optional(
    sentId(
      ProjectId,
      "A project in which the caller has any role: adds the models that only its own credentials make callable."
    )
  ),
  limit: pageParameters.limit,
  cursor: Schema.optional(Cursor).annotations({ description: "`next_cursor` of the page before this one." })
})

export const catalogCursor = Schema.encodeSync(Cursor)
