import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, ProjectId, UserId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const Patterns = Schema.NullOr(Schema.Array(Schema.String))
const Price = Schema.NullOr(Int8)

const AdminProject = Schema.Struct({
  id: ProjectId,
  name: Schema.String,
  accountId: AccountId,
  /** The owner of the account. */
  userId: UserId,
  billingMode: Schema.Literal("managed", "byok"),
  allowedModels: Patterns,
  excludedModels: Patterns,
  allowedProviders: Patterns,
  excludedProviders: Patterns,
  maxInputPriceMicroUsdPerMillion: Price,
  maxOutputPriceMicroUsdPerMillion: Price,
  defaultAlpha: Schema.NullOr(Schema.Number),
  enableFallback: Schema.Boolean,
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})
/** A project of any account, with its policy. */
export type AdminProject = typeof AdminProject.Type

export interface AdminProjectStoreShape {
  readonly find: (id: ProjectId) => Effect.Effect<AdminProject | undefined, StoreUnavailable>
  /** Those of all accounts, newest first, those before `before`. */
  readonly list: (
    max: number,
    before: ProjectId | undefined
  ) => Effect.Effect<ReadonlyArray<AdminProject>, StoreUnavailable>
}

/** The projects of all accounts, for operators. */
export class AdminProjectStore extends Context.Tag("gateway/account/AdminProjectStore")<
  AdminProjectStore,
  AdminProjectStoreShape
>() {
  static readonly layer: Layer.Layer<AdminProjectStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const projects = sql.literal(`
    select p.id, p.name, p.account_id as "accountId", a.user_id as "userId", p.billing_mode as "billingMode",
      p.allowed_models as "allowedModels", p.excluded_models as "excludedModels",
      p.allowed_providers as "allowedProviders", p.excluded_providers as "excludedProviders",
      p.max_input_price_microusd_per_million as "maxInputPriceMicroUsdPerMillion",
      p.max_output_price_microusd_per_million as "maxOutputPriceMicroUsdPerMillion",
      p.default_alpha as "defaultAlpha", p.enable_fallback as "enableFallback",
      p.created_at as "createdAt", p.updated_at as "updatedAt"
    from project p join account a on a.id = p.account_id where p.deleted_at is null`)

  const find = SqlSchema.findOne({
    Request: ProjectId,
    Result: AdminProject,
    execute: (id) => sql`${projects} and p.id = ${id}`
  })
  const list = SqlSchema.findAll({
    Request: Schema.Struct({ max: Schema.Number, before: Schema.UndefinedOr(ProjectId) }),
    Result: AdminProject,
    execute: ({ before, max }) =>
      sql`${projects} and ${before === undefined ? sql`true` : sql`p.id < ${before}`} order by p.id desc limit ${max}`
  })

  return AdminProjectStore.of({
    find: (id) => fromSql(Effect.map(find(id), Option.getOrUndefined)),
    list: (max, before) => fromSql(list({ max, before }))
  })
})
