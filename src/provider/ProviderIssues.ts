import * as Redacted from "effect/Redacted"
import { type ConfigIssue, issueAt } from "../domain/InvalidConfiguration.ts"
import type { JsonPath } from "../domain/JsonPath.ts"
import { type Model, providerOf } from "../domain/Model.ts"
import {
  issuesOfEffect,
  issuesOfModel,
  issuesOfPatchedId,
  type ModelLimits,
  type PatchTargets,
  repeated
} from "../domain/ModelRules.ts"
import { issuesOfNumber, millisBounds } from "../domain/OptionIssues.ts"
import type { ProtocolId } from "../domain/Support.ts"
import { isProxyUrl, type ProxyOptions } from "../egress/Proxy.ts"
import { catalogModelIds, limitsOf } from "./ModelLimits.ts"
import type { Provider } from "./Provider.ts"
import type { ReplaceableProviders } from "./ProviderReplacement.ts"
import { simulatedIds } from "./simulated/Simulated.ts"
import * as Endpoint from "./transport/Endpoint.ts"
import { amazonBedrockId, type BedrockAccess } from "./vendors/AmazonBedrock.ts"
import { configurableProtocols } from "./vendors/Configured.ts"
import { vendorOf, vendors, vendorsWithKeyAlone } from "./vendors/Vendors.ts"

/** What an application configures of its providers. */
export interface ConfigurableProviders extends ReplaceableProviders {
  readonly callerCredentials?: boolean
  readonly connectMillis?: number
  readonly credentialNames?: (vendorId: string) => ReadonlyArray<string>
  readonly proxy?: ProxyOptions
}

type OwnProvider = NonNullable<ReplaceableProviders["own"]>[number]

/** What is wrong with the options by themselves: empty where a provider can be made of each. */
export const issuesOfOptions = ({
  bedrock,
  connectMillis,
  credentials,
  own = [],
  patches = {},
  proxy = {}
}: ConfigurableProviders): ReadonlyArray<ConfigIssue> => [
  ...[...(credentials ?? [])].flatMap(([id, key]) => issuesOfCredential(id, key)),
  ...(bedrock ? issuesOfBedrock(bedrock) : []),
  ...own.flatMap((one, index) => issuesOfOwn(one, ["own", index])),
  ...Object.entries(patches).flatMap(([id, patch]) => [
    ...issuesOfNumbers(patch, ["patches", id]),
    ...(patch === null ? [] : issuesOfModel(patch, ["patches", id], id, limitsOfPatch(id, own)))
  ]),
  ...(["https", "http"] as const).flatMap((scheme) => {
    const given = proxy[scheme] ?? null
    return given === null || isProxyUrl(Redacted.value(given)) ? [] : [issueAt(["proxy", scheme], wrongProxy)]
  }),
  ...(connectMillis === undefined ? [] : issuesOfNumber(connectMillis, millisBounds, "connectMillis"))
]

/** Providers that run in this process, as they were made. */
type InProcess = ReadonlyArray<{ readonly provider: Provider; readonly models: ReadonlyArray<Model> }>

/** What is wrong with their ids together, with those of patches, and with the models of providers in this process. */
export const issuesOfIds = (options: ConfigurableProviders, inProcess: InProcess): ReadonlyArray<ConfigIssue> => {
  const { bedrock, callerCredentials, credentials, own = [], patches = {}, simulated } = options
  const targets = targetsOf(own, inProcess)
  const taken = new Set([
    ...(simulated === true ? simulatedIds : []),
    ...(callerCredentials === true ? vendorsWithKeyAlone.map(({ id }) => id) : []),
    ...(credentials?.keys() ?? [])
  ])
  const unique = (id: string, at: JsonPath): ReadonlyArray<ConfigIssue> => {
    if (taken.has(id)) return [issueAt(at, "is the id of another provider")]
    taken.add(id)
    return []
  }
  return [
    ...(bedrock ? unique(amazonBedrockId, ["credentials", amazonBedrockId]) : []),
    ...own.flatMap(({ id }, index) => unique(id, ["own", index, "id"])),
    ...inProcess.flatMap(({ models, provider: { id } }, index) => [
      ...unique(id, ["providers", index, "provider", "id"]),
      ...repeatedModels(models, ["providers", index]),
      ...models.flatMap((model, at) => issuesOfInProcessModel(model, id, ["providers", index, "models", at]))
    ]),
    ...Object.entries(patches).flatMap(([id, patch]) => issuesOfPatchedId(id, patch, ["patches", id], targets))
  ]
}

const targetsOf = (own: ReadonlyArray<OwnProvider>, inProcess: InProcess): PatchTargets => ({
  models: new Set([...catalogModelIds, ...[...own, ...inProcess].flatMap(({ models }) => models.map(({ id }) => id))]),
  providers: new Set([...vendors, ...own].map(({ id }) => id)),
  providersWithFixedModels: new Set([...simulatedIds, ...inProcess.map(({ provider }) => provider.id)])
})

/** A base URL must hold no secret, and no part that changes the path. */
const wrongBaseUrl = "must be an http or https URL without credentials, query or fragment"
const wrongProxy = "must be the URL of an HTTP proxy, such as http://proxy.example.com:3128"

const issuesOfCredential = (id: string, key: Redacted.Redacted): ReadonlyArray<ConfigIssue> => {
  const at = ["credentials", id]
  const vendor = vendorOf(id)
  if (vendor === undefined) return [issueAt(at, "is not the id of a built-in vendor")]
  // its own endpoint is an example, whose host could be anybody's
  if (vendor.needsBaseUrl === true) return [issueAt(at, "needs a base URL of its own: name the vendor in `own`")]
  return issuesOfSecret(key, at)
}

const issuesOfBedrock = ({ auth, region }: BedrockAccess): ReadonlyArray<ConfigIssue> => [
  // it becomes part of a host name
  ...(/^[a-z0-9-]{1,40}$/.test(region) ? [] : [issueAt(["bedrock", "region"], "must be a region such as us-east-1")]),
  ...(auth._tag === "Bearer"
    ? issuesOfSecret(auth.token, ["bedrock", "auth", "token"])
    : (["accessKeyId", "secretAccessKey", "sessionToken"] as const).flatMap((name) =>
        auth[name] === null ? [] : issuesOfSecret(auth[name], ["bedrock", "auth", name])
      ))
]

const issuesOfOwn = (one: OwnProvider, at: JsonPath): ReadonlyArray<ConfigIssue> => [
  ...(/^[^/\s]+$/.test(one.id) ? [] : [issueAt([...at, "id"], "must be a name without slashes and spaces")]),
  ...issuesOfConnection(one, at),
  ...issuesOfEffect({ outputCapField: one.outputCapField }, at, limitsOf(protocolOf(one))),
  ...(one.apiKey === null ? [] : issuesOfSecret(one.apiKey, [...at, "apiKey"])),
  ...repeatedModels(one.models, at),
  ...one.models.flatMap((model, index) => [
    ...issuesOfModelId(model.id, one.id, [...at, "models", index, "id"]),
    ...issuesOfNumbers(model, [...at, "models", index]),
    ...issuesOfModel(model, [...at, "models", index], model.id, limitsOf(protocolOf(one)))
  ])
]

const protocolOf = ({ protocol, vendor }: OwnProvider): ProtocolId | undefined =>
  vendor === undefined ? configurableProtocols.find((one) => one === protocol) : vendorOf(vendor)?.protocol.id

const limitsOfPatch = (id: string, own: ReadonlyArray<OwnProvider>): ModelLimits => {
  const provider = own.find((one) => one.id === providerOf(id))
  return limitsOf(provider === undefined ? vendorOf(providerOf(id))?.protocol.id : protocolOf(provider))
}

const issuesOfConnection = ({ baseUrl, protocol, vendor }: OwnProvider, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  if (vendor === undefined && protocol === undefined) return [issueAt(at, "needs a protocol or a vendor")]
  const base = vendor === undefined ? undefined : vendorOf(vendor)
  if (vendor !== undefined && base === undefined) {
    return [issueAt([...at, "vendor"], `must be one of ${vendors.map(({ id }) => id).join(", ")}`)]
  }
  if (base === undefined && !configurableProtocols.some((one) => one === protocol)) {
    return [issueAt([...at, "protocol"], `must be one of ${configurableProtocols.join(", ")}`)]
  }
  if (baseUrl !== undefined)
    return Endpoint.parse(baseUrl) === undefined ? [issueAt([...at, "baseUrl"], wrongBaseUrl)] : []
  if (base === undefined) return [issueAt([...at, "baseUrl"], "is required with a protocol")]
  return base.needsBaseUrl === true ? [issueAt([...at, "baseUrl"], `is required with the vendor ${base.id}`)] : []
}

/** It becomes a header: no line break, no space. A variable that is not set may be `undefined` in spite of its type. */
const issuesOfSecret = (secret: Redacted.Redacted, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  const text: unknown = Redacted.value(secret)
  return typeof text === "string" && /^[\x21-\x7e]+$/.test(text)
    ? []
    : [issueAt(at, "must hold visible ASCII characters only, without spaces, and at least one")]
}

const issuesOfModelId = (id: string, providerId: string, at: JsonPath): ReadonlyArray<ConfigIssue> =>
  id.startsWith(`${providerId}/`) && id.length > providerId.length + 1
    ? []
    : [issueAt(at, "must start with the id of its provider and a slash")]

/** Of two, one would win silently. */
const repeatedModels = (models: ReadonlyArray<{ readonly id: string }>, at: JsonPath): ReadonlyArray<ConfigIssue> =>
  repeated(
    models.map(({ id }) => ({ id })),
    "id",
    [...at, "models"]
  )

const issuesOfInProcessModel = (model: Model, providerId: string, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  const { contextTokens, imageTokens, inputTokens, outputTokens, prices, profile, quality } = model
  return [
    ...(model.providerId === providerId
      ? issuesOfModelId(model.id, providerId, [...at, "id"])
      : [issueAt([...at, "providerId"], "must be the id of its provider")]),
    ...issuesOfNumbers({ prices, contextTokens, inputTokens, outputTokens, imageTokens, quality, profile }, at)
  ]
}

/** With none of these tokens no call would fit. */
const countsAboveZero: ReadonlySet<unknown> = new Set([
  "contextTokens",
  "inputTokens",
  "outputTokens",
  "maxOutputTokens"
])

/** Amounts and counts are whole, as those of `makeModel`: with NaN each call would be a defect. */
const issuesOfNumbers = (value: unknown, at: JsonPath): ReadonlyArray<ConfigIssue> => {
  if (typeof value === "number") {
    if (at.at(-1) === "quality") return value >= 0 && value <= 1 ? [] : [issueAt(at, "must be a number from 0 to 1")]
    const min = countsAboveZero.has(at.at(-1)) ? 1 : 0
    return Number.isSafeInteger(value) && value >= min ? [] : [issueAt(at, `must be a whole number, at least ${min}`)]
  }
  if (Array.isArray(value)) return value.flatMap((one, index) => issuesOfNumbers(one, [...at, index]))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => issuesOfNumbers(one, [...at, key]))
}
