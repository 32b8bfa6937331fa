import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Audit } from "../../audit/Audit.ts"
import { NotFound } from "../../domain/AccountError.ts"
import type { CurrentUserShape } from "../../domain/CurrentUser.ts"
import type { InvalidRequest, StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator, nextRequestId } from "../../domain/IdGenerator.ts"
import { AccountId, UserId } from "../../domain/Ids.ts"
import { microUsd } from "../../domain/Money.ts"
import { AccountStore } from "../../identity/projects/AccountStore.ts"
import { type User, UserStore } from "../../identity/users/UserStore.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { named } from "../../wire/account/Projects.ts"
import { within } from "../../wire/validation/SchemaParts.ts"
import { checkedInput } from "../input/CheckedInput.ts"

/** A person to be created, with the account that they own. */
export interface NewAccount {
  /** The person's name, as others of a project see it: 1 to 200 characters. */
  readonly name: string
  /** May give credit and see every project; default false. */
  readonly isOperator?: boolean
  /** What the account may spend from the start, in whole micro-USD; default 0. */
  readonly creditMicroUsd?: number
}

/** The people of the gateway, for programs that embed it. */
export interface AccountsShape {
  /** A new person with their account; the result is who they are for the other programs. */
  readonly create: (account: NewAccount) => Effect.Effect<CurrentUserShape, InvalidRequest | StoreUnavailable>
  /** A user who was created before, as the other programs ask for them. */
  readonly find: (user: UserId) => Effect.Effect<CurrentUserShape, NotFound | StoreUnavailable>
}

/**
 * Creates people with their accounts. What they may do is done by `Projects`, `Keys`, `Billing`, `ProjectPolicies` and
 * `ProjectRoutings`, each with the person as `CurrentUser`; every change is in their audit log.
 */
export class Accounts extends Context.Tag("gateway/account/Accounts")<Accounts, AccountsShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<
    Accounts,
    never,
    AccountStore | AccountTransactions | Audit | IdGenerator | Scopes | UserStore
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const checkNew = checkedInput(
  Schema.Struct({
    name: named("Name of the person, 1 to 200 characters."),
    credit_microusd: within({ type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
  })
)

/** Recorded in the audit log in place of the address of a request. */
const address = "program"

const make = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const users = yield* UserStore
  const scopes = yield* Scopes
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator

  const actorOf = ({ accountId, id, isOperator }: Pick<User, "accountId" | "id" | "isOperator">): CurrentUserShape => ({
    userId: id,
    accountId,
    isOperator,
    sessionId: null,
    transport: "bearer",
    address,
    requestId: nextRequestId(ids)
  })

  return Accounts.of({
    create: ({ creditMicroUsd = 0, isOperator = false, name }) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* checkNew({ name, credit_microusd: creditMicroUsd })
          const user = { id: UserId.make(ids.uuid()), accountId: AccountId.make(ids.uuid()), isOperator }
          const actor = actorOf(user)
          yield* accounts.create({ userId: user.id, accountId: user.accountId, name, isOperator })
          yield* scopes.open("account", user.accountId, null)
          const credit = microUsd(creditMicroUsd)
          if (credit > 0) yield* scopes.credit(user.accountId, credit, "program")
          yield* audit.recordBy(actor, {
            accountId: user.accountId,
            action: "user.create",
            target: { kind: "user", id: user.id },
            before: null,
            after: { name, is_operator: isOperator, credit_microusd: creditMicroUsd }
          })
          return actor
        })
      ),
    find: (id) =>
      Effect.flatMap(users.find(id), (user) =>
        user === undefined ? Effect.fail(new NotFound({ message: "User not found." })) : Effect.succeed(actorOf(user))
      )
  })
})
