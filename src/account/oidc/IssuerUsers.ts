import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { AccountId, type RequestId, UserId } from "../../domain/Ids.ts"
import type { IssuerPerson } from "../../identity/oidc/IssuerToken.ts"
import { AccountStore } from "../../identity/projects/AccountStore.ts"
import { type User, UserStore } from "../../identity/users/UserStore.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"

/** The request by which a person is seen. */
interface Seen {
  readonly address: string
  readonly requestId: RequestId
}

type SeenUser = Pick<User, "id" | "accountId" | "isOperator" | "name">

export interface IssuerUsersShape {
  /** The user of this person; at first sight they are created, with an account of balance 0. */
  readonly seen: (person: IssuerPerson, request: Seen) => Effect.Effect<SeenUser, StoreUnavailable>
  /** The same, and the person has the name and their sessions the rights that the issuer gives them now. */
  readonly signedIn: (person: IssuerPerson, request: Seen) => Effect.Effect<SeenUser, StoreUnavailable>
}

/** The people whom the identity provider knows. */
export class IssuerUsers extends Context.Tag("gateway/account/IssuerUsers")<IssuerUsers, IssuerUsersShape>() {
  static readonly layer: Layer.Layer<
    IssuerUsers,
    never,
    AccountStore | AccountTransactions | Audit | IdGenerator | Scopes | UserStore
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const detailsOf = ({ isOperator, name }: Pick<User, "isOperator" | "name">) => ({ name, is_operator: isOperator })

const make = Effect.gen(function* () {
  const users = yield* UserStore
  const accounts = yield* AccountStore
  const scopes = yield* Scopes
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator

  const record = ({ accountId, id }: SeenUser, request: Seen, action: string, before: object | null, after: object) =>
    audit.recordBy(
      { userId: id, ...request },
      {
        accountId,
        action,
        target: { kind: "user", id },
        before,
        after
      }
    )

  const create = ({ isOperator, issuer, name, subject }: IssuerPerson, { address, requestId }: Seen) =>
    transactions.commit(() =>
      Effect.gen(function* () {
        // so that a page that sends several requests at once makes one user
        yield* users.lockIdentity(issuer, subject)
        const known = yield* users.findByIdentity(issuer, subject)
        if (known !== undefined) return known
        const created = { id: UserId.make(ids.uuid()), accountId: AccountId.make(ids.uuid()), isOperator, name }
        yield* accounts.create({
          userId: created.id,
          accountId: created.accountId,
          name,
          isOperator,
          identity: { issuer, subject }
        })
        yield* scopes.open("account", created.accountId, null)
        const after = { issuer, subject, name, is_operator: isOperator }
        yield* record(created, { address, requestId }, "user.create", null, after)
        return created
      })
    )

  const seen = (person: IssuerPerson, request: Seen): Effect.Effect<SeenUser, StoreUnavailable> =>
    Effect.flatMap(users.findByIdentity(person.issuer, person.subject), (known) =>
      known === undefined ? create(person, request) : Effect.succeed(known)
    )

  return IssuerUsers.of({
    seen,
    signedIn: (person, { address, requestId }) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const user = yield* seen(person, { address, requestId })
          const { isOperator, name } = person
          if (user.isOperator === isOperator && user.name === name) return user
          yield* users.update(user.id, { isOperator, name })
          yield* record(user, { address, requestId }, "user.update", detailsOf(user), detailsOf(person))
          return { ...user, isOperator, name }
        })
      )
  })
})
