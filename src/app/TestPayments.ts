import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { PaymentStore } from "../account/payments/PaymentStore.ts"
import { modeOfKey } from "../account/payments/StripeMode.ts"
import type * as Settings from "../config/Settings.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"

type CostSettings = Pick<Settings.Settings, "bedrock" | "providers" | "simulated" | "vendorKeys">

/** No provider is paid for calls. Where only projects with own credentials can call, test payments would buy nothing. */
export const callsCostNothing = ({ bedrock, providers, simulated, vendorKeys }: CostSettings): boolean =>
  (simulated || providers.length > 0) &&
  vendorKeys.size === 0 &&
  bedrock === null &&
  providers.every(({ apiKey }) => apiKey === null)

/** What to say where balances that nobody has paid for are spent at providers that are paid. */
export const spendableIssues = (
  settings: CostSettings & Pick<Settings.Settings, "localCheckout" | "stripe">
): Effect.Effect<ReadonlyArray<ConfigIssue>, StoreUnavailable, PaymentStore> =>
  Effect.gen(function* () {
    if (callsCostNothing(settings)) return []
    const isOpen = settings.localCheckout === "on" && settings.stripe === null
    const isTestMode = settings.stripe !== null && modeOfKey(Redacted.value(settings.stripe.secretKey)) === "test"
    const credited = yield* (yield* PaymentStore).testCreditedMicroUsd
    return [
      ...(isTestMode
        ? [
            {
              path: "STRIPE_SECRET_KEY",
              message:
                "is of Stripe's test mode: each user can add balance without paying, which calls to the configured providers can spend"
            }
          ]
        : []),
      ...(isOpen ? [{ path: "LOCAL_CHECKOUT", message: "is on: each user can add balance without paying" }] : []),
      ...(credited === 0
        ? []
        : [
            {
              path: "LOCAL_CHECKOUT",
              message: `has credited ${credited} micro-USD in test payments, which calls to the configured providers can spend`
            }
          ])
    ]
  })
