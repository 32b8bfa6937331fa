import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Admin } from "../../account/admin/Admin.ts"
import { AdminProjectStore } from "../../account/admin/AdminProjectStore.ts"
import { BalanceStore } from "../../account/billing/BalanceStore.ts"
import { Billing } from "../../account/billing/Billing.ts"
import { Keys } from "../../account/keys/Keys.ts"
import { ProjectKeyStore } from "../../account/keys/ProjectKeyStore.ts"
import { Audit } from "../../audit/Audit.ts"
import { AuditStore } from "../../audit/AuditStore.ts"
import type * as Settings from "../../config/Settings.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { IdGenerator, nextRequestId } from "../../domain/IdGenerator.ts"
import { Timers } from "../../domain/Timers.ts"
import { projectOut } from "../../http/account/admin/AdminHandlers.ts"
import { balanceOut } from "../../http/account/billing/BillingHandlers.ts"
import { createdOut, keyOut } from "../../http/account/keys/KeysHandlers.ts"
import { ApiKeyStore } from "../../identity/keys/ApiKeyStore.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectAccessStore } from "../../identity/projects/ProjectAccessStore.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { UserStore } from "../../identity/users/UserStore.ts"
import * as ScopesStore from "../../ledger/ScopesStore.ts"
import { SpendLimitStore } from "../../ledger/SpendLimitStore.ts"
import { PolicyStore } from "../../policy/PolicyStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import * as ExistingDatabase from "./ExistingDatabase.ts"
import { CommandFailed, Operations, rowsAtOnce } from "./Operations.ts"

/** On the database of the settings, which no other process has open if it is the embedded one. Does not migrate it. */
export const layer = (settings: Settings.Settings) => {
  const programs = Layer.mergeAll(Admin.layer, Billing.layer, Keys.layer(settings.rateLimits.key)).pipe(
    Layer.provideMerge(Layer.merge(Audit.layer, ProjectAccess.layer)),
    Layer.provideMerge(stores)
  )
  return Layer.effect(
    Operations,
    Effect.suspend(() => make)
  ).pipe(
    Layer.provide(programs),
    Layer.provide(ChangeNotifications.layer),
    Layer.provide(ExistingDatabase.layer(settings)),
    Layer.provide(Timers.layer)
  )
}

const stores = Layer.mergeAll(
  AdminProjectStore.layer,
  ApiKeyStore.layer,
  AuditStore.layer,
  BalanceStore.layer,
  PolicyStore.layer,
  ProjectAccessStore.layer,
  ProjectKeyStore.layer,
  ProjectStore.layer,
  ScopesStore.layer,
  SpendLimitStore.layer,
  UserStore.layer
).pipe(Layer.provideMerge(AccountTransactions.layer))

const make = Effect.gen(function* () {
  const admin = yield* Admin
  const billing = yield* Billing
  const keys = yield* Keys
  const users = yield* UserStore
  const ids = yield* IdGenerator
  const operator = yield* users.findLocalOperator
  if (operator === undefined) {
    return yield* new CommandFailed({ message: "the database has no user yet: start the service once." })
  }

  /** As the command, with a request id of its own in the audit log. */
  const run = <A, E extends { readonly message: string }>(
    effect: Effect.Effect<A, E, CurrentUser>
  ): Effect.Effect<A, CommandFailed> =>
    Effect.suspend(() =>
      Effect.provideService(effect, CurrentUser, {
        userId: operator.id,
        accountId: operator.accountId,
        isOperator: true,
        sessionId: null,
        transport: "command",
        address: "",
        requestId: nextRequestId(ids)
      })
    ).pipe(Effect.mapError(({ message }) => new CommandFailed({ message: message || "the database does not answer." })))

  return Operations.of({
    defaults: Effect.succeed({ accountId: operator.accountId, projectId: operator.defaultProjectId }),
    projects: run(
      Effect.gen(function* () {
        const all: Array<Effect.Effect.Success<ReturnType<typeof admin.listProjects>>[number]> = []
        for (let more = true; more; ) {
          const rows = yield* admin.listProjects(rowsAtOnce, all.at(-1)?.id)
          all.push(...rows)
          more = rows.length === rowsAtOnce
        }
        return all.map(projectOut)
      })
    ),
    createKey: (project, key) => Effect.map(run(keys.createAnywhere(project, key)), createdOut),
    keys: (project) =>
      run(
        Effect.gen(function* () {
          const first = yield* keys.list(project, { skip: 0, max: rowsAtOnce })
          const all = [...first.keys]
          while (all.length < first.total) {
            const next = yield* keys.list(project, { skip: all.length, max: rowsAtOnce })
            if (next.keys.length === 0) break
            all.push(...next.keys)
          }
          return all.map(keyOut)
        })
      ),
    revokeKey: (id) => Effect.map(run(keys.revoke(id)), keyOut),
    credit: (account, amount, note) => Effect.map(run(billing.credit(account, amount, note)), balanceOut),
    balance: (account) => Effect.map(run(billing.balanceOf(account)), balanceOut)
  })
})
