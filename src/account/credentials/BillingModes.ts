import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { CredentialStore } from "../../credentials/CredentialStore.ts"
import {
  CredentialRequired,
  type NotFound,
  type RoleRequired,
  type VersionMismatch
} from "../../domain/AccountError.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"

export type BillingMode = CallerShape["billingMode"]

export interface BillingModesShape {
  readonly read: (project: ProjectId) => Effect.Effect<BillingMode, NotFound | StoreUnavailable, CurrentUser>
  /** `byok` needs a credential. `check` sees the mode before the change and can refuse it. */
  readonly write: (
    project: ProjectId,
    mode: BillingMode,
    check: (mode: BillingMode) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<
    BillingMode,
    NotFound | RoleRequired | CredentialRequired | VersionMismatch | StoreUnavailable,
    CurrentUser
  >
}

/** Who pays the providers for the calls of a project: the gateway's operator, or the project itself. */
export class BillingModes extends Context.Tag("gateway/account/BillingModes")<BillingModes, BillingModesShape>() {
  static readonly layer: Layer.Layer<
    BillingModes,
    never,
    AccountTransactions | Audit | CredentialStore | ProjectAccess | ProjectStore
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const credentials = yield* CredentialStore
  const projects = yield* ProjectStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit

  return BillingModes.of({
    read: (project) => Effect.map(access.find(project), ({ billingMode }) => billingMode),
    write: (id, mode, check) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* projects.lock(id)
          const { accountId, billingMode } = yield* access.require(id, "owner")
          yield* check(billingMode)
          if (mode === "byok" && (yield* credentials.list(id, 1, undefined)).length === 0) {
            return yield* new CredentialRequired({ message: "The project has no provider credential." })
          }
          if (mode === billingMode) return mode
          yield* projects.setBillingMode(id, mode)
          yield* audit.record({
            accountId,
            action: "project.billing_mode",
            target: { kind: "project", id },
            before: { billing_mode: billingMode },
            after: { billing_mode: mode }
          })
          return mode
        })
      )
  })
})
