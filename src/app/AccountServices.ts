import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Admin } from "../account/admin/Admin.ts"
import { AdminProjectStore } from "../account/admin/AdminProjectStore.ts"
import { AlertStore } from "../account/alerts/AlertStore.ts"
import { BalanceStore } from "../account/billing/BalanceStore.ts"
import { Billing } from "../account/billing/Billing.ts"
import { ProjectCollection } from "../account/capture/ProjectCollection.ts"
import { ProjectSamples } from "../account/capture/ProjectSamples.ts"
import { BillingModes } from "../account/credentials/BillingModes.ts"
import { CredentialCheck } from "../account/credentials/CredentialCheck.ts"
import { Credentials } from "../account/credentials/Credentials.ts"
import { Feedback } from "../account/feedback/Feedback.ts"
import { FeedbackStore } from "../account/feedback/FeedbackStore.ts"
import { AccountIdempotency } from "../account/idempotency/AccountIdempotency.ts"
import { AccountRequestStore } from "../account/idempotency/AccountRequestStore.ts"
import { Keys } from "../account/keys/Keys.ts"
import { PersonKeyStore } from "../account/keys/PersonKeyStore.ts"
import { PersonKeys } from "../account/keys/PersonKeys.ts"
import { ProjectKeyStore } from "../account/keys/ProjectKeyStore.ts"
import { Members } from "../account/members/Members.ts"
import { IssuerUsers } from "../account/oidc/IssuerUsers.ts"
import { OidcSignIn } from "../account/oidc/OidcSignIn.ts"
import { Checkouts } from "../account/payments/Checkouts.ts"
import { PaymentFacts } from "../account/payments/PaymentFacts.ts"
import { PaymentStore } from "../account/payments/PaymentStore.ts"
import { Payments } from "../account/payments/Payments.ts"
import { ProjectPolicies } from "../account/policy/ProjectPolicies.ts"
import { ProjectAnalysesStore } from "../account/projects/ProjectAnalysesStore.ts"
import { ProjectConversationsStore } from "../account/projects/ProjectConversationsStore.ts"
import { Projects } from "../account/projects/Projects.ts"
import { PastCallStore } from "../account/replay/PastCallStore.ts"
import { RoutingReplay } from "../account/replay/RoutingReplay.ts"
import { ProjectRoutings } from "../account/routing/ProjectRoutings.ts"
import { RoutingVersionStore } from "../account/routing/RoutingVersionStore.ts"
import { Audit } from "../audit/Audit.ts"
import { AuditStore } from "../audit/AuditStore.ts"
import type * as Settings from "../config/Settings.ts"
import { MasterKey } from "../credentials/MasterKey.ts"
import * as OutgoingHttp from "../egress/OutgoingHttp.ts"
import type { ProxyOptions } from "../egress/Proxy.ts"
import { Issuer } from "../identity/oidc/Issuer.ts"
import type { OidcOptions } from "../identity/oidc/OidcOptions.ts"
import { SignInFlowStore } from "../identity/oidc/SignInFlowStore.ts"
import { MemberStore } from "../identity/projects/MemberStore.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { ProjectAccessStore } from "../identity/projects/ProjectAccessStore.ts"
import { CommandAccess } from "../identity/sessions/CommandAccess.ts"
import { PublicUrl } from "../identity/sessions/PublicUrl.ts"
import { SessionStore } from "../identity/sessions/SessionStore.ts"
import { Sessions } from "../identity/sessions/Sessions.ts"
import { SignIn } from "../identity/sessions/SignIn.ts"
import { SignInCodeStore } from "../identity/sessions/SignInCodeStore.ts"
import { UserStore } from "../identity/users/UserStore.ts"
import { SpendLimitStore } from "../ledger/SpendLimitStore.ts"
import { publishing } from "../routing/evidence/Publishing.ts"
import { QualityEvidence } from "../routing/evidence/QualityEvidenceStore.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import { Database } from "../sql/Database.ts"
import { viewOf } from "./reload/LiveSettings.ts"
import { callsCostNothing } from "./TestPayments.ts"

export type AccountSettings = Pick<
  Settings.Settings,
  | "bedrock"
  | "host"
  | "localCheckout"
  | "oidc"
  | "providers"
  | "proxy"
  | "publicUrl"
  | "rateLimits"
  | "simulated"
  | "stripe"
  | "vendorKeys"
>

/** The programs of the account API, on the connections of their own. Sealing is shared with the calls. */
export const accountServices = (settings: AccountSettings) => {
  const stores = Layer.mergeAll(
    AccountRequestStore.layer,
    AdminProjectStore.layer,
    AlertStore.layer,
    AuditStore.layer,
    PaymentStore.layer,
    PersonKeyStore.layer,
    BalanceStore.layer,
    FeedbackStore.layer,
    QualityEvidence.layer,
    MemberStore.layer,
    PastCallStore.layer(),
    ProjectAccessStore.layer,
    ProjectAnalysesStore.layer,
    ProjectConversationsStore.layer,
    ProjectKeyStore.layer,
    RoutingVersionStore.layer,
    SessionStore.layer(settings.oidc?.issuer ?? null),
    SignInCodeStore.layer,
    SpendLimitStore.layer,
    SignInFlowStore.layer,
    UserStore.layer
  ).pipe(Layer.provideMerge(AccountTransactions.layer))
  const identity = signIn(settings.oidc, settings.proxy).pipe(
    Layer.provideMerge(Layer.merge(Sessions.layer, CommandAccess.layer)),
    Layer.provideMerge(
      Layer.mergeAll(Audit.layer, ProjectAccess.layer, PublicUrl.layer(settings.publicUrl, settings.host))
    )
  )
  const programs = [
    AccountIdempotency.layer,
    Admin.layer,
    Members.layer,
    Billing.layer,
    BillingModes.layer,
    ProjectCollection.layer,
    ProjectSamples.layer,
    Payments.layer.pipe(Layer.provideMerge(PaymentFacts.layer), Layer.provideMerge(checkouts(settings))),
    Feedback.layer,
    publishing,
    Credentials.layer.pipe(Layer.provide(CredentialCheck.layer)),
    Keys.layer(viewOf(() => settings.rateLimits.key)),
    PersonKeys.layer,
    ProjectPolicies.layer,
    ProjectRoutings.layer,
    RoutingReplay.layer,
    Projects.layer(viewOf(() => settings.rateLimits.project))
  ] as const
  return Layer.mergeAll(...programs).pipe(Layer.provideMerge(identity), Layer.provideMerge(stores))
}

const byLinks = Layer.merge(SignIn.layer, OidcSignIn.layerOff)

const atIssuer = (oidc: OidcOptions, proxy: ProxyOptions) => {
  const issuer = Layer.provide(Issuer.layer(oidc), OutgoingHttp.layer(proxy))
  return Layer.merge(SignIn.layerOff, Layer.provide(OidcSignIn.layer, [IssuerUsers.layer, issuer]))
}

/** By links of the gateway or at the identity provider, never both. */
const signIn = (
  oidc: OidcOptions | null,
  proxy: ProxyOptions
): Layer.Layer<
  OidcSignIn | SignIn,
  never,
  Layer.Layer.Context<typeof byLinks> | Layer.Layer.Context<ReturnType<typeof atIssuer>>
> => (oidc === null ? byLinks : atIssuer(oidc, proxy))

/** Only the process that has the embedded database open may make a key beside it. */
export const masterKeyLayer = ({ dataDirectory, masterKey }: Pick<Settings.Settings, "dataDirectory" | "masterKey">) =>
  Layer.unwrapEffect(
    Effect.map(Database, ({ kind }) =>
      MasterKey.layer({
        ...masterKey,
        directory: kind === "embedded" && dataDirectory !== ":memory:" ? dataDirectory : null
      })
    )
  )

/** Stripe where it is set up, else the test page: by default only while no call can cost real money, which a reload can change. */
const checkouts = (settings: AccountSettings) => {
  const { localCheckout, proxy, stripe } = settings
  if (stripe !== null) return Layer.provide(Checkouts.layerStripe(stripe), OutgoingHttp.layer(proxy))
  if (localCheckout === "off") return Checkouts.layerNone
  return Checkouts.layerTest(() => localCheckout === "on" || callsCostNothing(settings))
}
