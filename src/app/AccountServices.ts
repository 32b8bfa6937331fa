import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Admin } from "../account/admin/Admin.ts"
import { AdminProjectStore } from "../account/admin/AdminProjectStore.ts"
import { AccountIdempotency } from "../account/idempotency/AccountIdempotency.ts"
import { AccountRequestStore } from "../account/idempotency/AccountRequestStore.ts"
import { Members } from "../account/members/Members.ts"
import { IssuerUsers } from "../account/oidc/IssuerUsers.ts"
import { OidcSignIn } from "../account/oidc/OidcSignIn.ts"
import { Projects } from "../account/projects/Projects.ts"
import { Audit } from "../audit/Audit.ts"
import { AuditStore } from "../audit/AuditStore.ts"
import type * as Settings from "../config/Settings.ts"
import { MasterKey } from "../credentials/MasterKey.ts"
import { Issuer } from "../identity/oidc/Issuer.ts"
import type { OidcOptions } from "../identity/oidc/OidcOptions.ts"
import { SignInFlowStore } from "../identity/oidc/SignInFlowStore.ts"
import { MemberStore } from "../identity/projects/MemberStore.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { ProjectAccessStore } from "../identity/projects/ProjectAccessStore.ts"
import { PublicUrl } from "../identity/sessions/PublicUrl.ts"
import { SessionStore } from "../identity/sessions/SessionStore.ts"
import { Sessions } from "../identity/sessions/Sessions.ts"
import { SignIn } from "../identity/sessions/SignIn.ts"
import { SignInCodeStore } from "../identity/sessions/SignInCodeStore.ts"
import { UserStore } from "../identity/users/UserStore.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import { Database } from "../sql/Database.ts"

export type AccountSettings = Pick<Settings.Settings, "dataDirectory" | "host" | "masterKey" | "oidc" | "publicUrl">

/** The programs of the account API, on the connections of their own. */
export const accountServices = (settings: AccountSettings) => {
  const stores = Layer.mergeAll(
    AccountRequestStore.layer,
    AdminProjectStore.layer,
    AuditStore.layer,
    MemberStore.layer,
    ProjectAccessStore.layer,
    SessionStore.layer,
    SignInCodeStore.layer,
    SignInFlowStore.layer,
    UserStore.layer
  ).pipe(Layer.provideMerge(AccountTransactions.layer))
  const identity = signIn(settings.oidc).pipe(
    Layer.provideMerge(Sessions.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        Audit.layer,
        ProjectAccess.layer,
        PublicUrl.layer(settings.publicUrl, settings.host),
        masterKey(settings)
      )
    )
  )
  return Layer.mergeAll(AccountIdempotency.layer, Admin.layer, Members.layer, Projects.layer).pipe(
    Layer.provideMerge(identity),
    Layer.provideMerge(stores)
  )
}

const byLinks = Layer.merge(SignIn.layer, OidcSignIn.layerOff)

const atIssuer = (oidc: OidcOptions) => {
  const issuer = Layer.provide(Issuer.layer(oidc), NodeHttpClient.layerUndici)
  return Layer.merge(SignIn.layerOff, Layer.provide(OidcSignIn.layer, [IssuerUsers.layer, issuer]))
}

/** By links of the gateway or at the identity provider, never both. */
const signIn = (
  oidc: OidcOptions | null
): Layer.Layer<
  OidcSignIn | SignIn,
  never,
  Layer.Layer.Context<typeof byLinks> | Layer.Layer.Context<ReturnType<typeof atIssuer>>
> => (oidc === null ? byLinks : atIssuer(oidc))

/** Only the process that has the embedded database open may make a key beside it. */
const masterKey = ({ dataDirectory, masterKey }: AccountSettings) =>
  Layer.unwrapEffect(
    Effect.map(Database, ({ kind }) =>
      MasterKey.layer({
        ...masterKey,
        directory: kind === "embedded" && dataDirectory !== ":memory:" ? dataDirectory : null
      })
    )
  ).pipe(
    Layer.tap((built) =>
      Context.get(built, MasterKey).isSet
        ? Effect.void
        : Effect.logWarning("GATEWAY_MASTER_KEY is not set: what needs sealing, such as credentials, is unavailable")
    )
  )
