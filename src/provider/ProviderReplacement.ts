import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ConfiguredModel, ModelPatch } from "../catalog/Patch.ts"
import type { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import type { CredentialedProvider } from "./Registry.ts"
import { amazonBedrock, type BedrockAccess } from "./vendors/AmazonBedrock.ts"

/** What can be replaced of the options of `ProviderLayer`, with the same meaning. */
export interface ReplaceableProviders {
  /** Keys of built-in vendors by vendor id. */
  readonly credentials?: ReadonlyMap<string, Redacted.Redacted>
  /** Amazon Bedrock. */
  readonly bedrock?: BedrockAccess | null
  /** Other servers that speak one of the four protocols. */
  readonly own?: ReadonlyArray<CredentialedProvider & { readonly models: ReadonlyArray<ConfiguredModel> }>
  /** The simulated providers. */
  readonly simulated?: boolean
  /** Changes to catalog entries by model id. */
  readonly patches?: Readonly<Record<string, ModelPatch | null>>
}

/** What `ProviderReplacement` does. */
export interface ProviderReplacementShape {
  /**
   * Puts other providers and models in the place of the current ones, immediately. Running calls keep what they began with. A provider
   * whose connection or credential has changed begins without a history; the connect deadline stays. Where something is wrong with
   * the options, the current ones stay.
   */
  readonly replace: (options: ReplaceableProviders) => Effect.Effect<void, InvalidConfiguration>
}

/** Changes the providers of a running gateway. */
export class ProviderReplacement extends Context.Tag("gateway/provider/ProviderReplacement")<
  ProviderReplacement,
  ProviderReplacementShape
>() {}

/** The ids of providers that are called in another way than before. */
export const changedProviders = (before: ReplaceableProviders, after: ReplaceableProviders): ReadonlyArray<string> => {
  const [last, next] = [connectionsOf(before), connectionsOf(after)]
  return [...new Set([...last.keys(), ...next.keys()])].filter((id) => last.get(id) !== next.get(id))
}

const connectionsOf = (options: ReplaceableProviders): ReadonlyMap<string, string> =>
  new Map([
    ...[...(options.credentials ?? [])].map(([id, key]) => [id, Redacted.value(key)] as const),
    ...(options.bedrock ? [[amazonBedrock(options.bedrock.region).id, bedrockText(options.bedrock)] as const] : []),
    ...(options.own ?? []).map((one) => [one.id, ownText(one)] as const)
  ])

const ownText = ({ apiKey, models: _, ...connection }: NonNullable<ReplaceableProviders["own"]>[number]): string =>
  JSON.stringify([connection, apiKey === null ? null : Redacted.value(apiKey)])

const bedrockText = ({ auth, region }: BedrockAccess): string =>
  JSON.stringify([
    region,
    auth._tag === "Bearer"
      ? Redacted.value(auth.token)
      : [auth.accessKeyId, auth.secretAccessKey, auth.sessionToken].map((one) => one && Redacted.value(one))
  ])
