import type * as Redacted from "effect/Redacted"
import * as Auth from "../Auth.ts"
import { type AwsKeys, awsSignature } from "../AwsSignature.ts"
import { speakingConverse, type Vendor } from "./Vendor.ts"

/** Where Bedrock is called, and as whom: with a key of its own or as an AWS identity. */
export interface BedrockAccess {
  readonly region: string
  readonly auth:
    | { readonly _tag: "Bearer"; readonly token: Redacted.Redacted }
    | ({ readonly _tag: "Signature" } & AwsKeys)
}

export const amazonBedrockId = "amazon-bedrock"

/** Each region is a service of its own. */
export const amazonBedrock = (region: string): Vendor =>
  speakingConverse({
    id: amazonBedrockId,
    displayName: "Amazon Bedrock",
    baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`
  })

export const bedrockAuth = ({ auth, region }: BedrockAccess): Auth.Auth =>
  auth._tag === "Bearer" ? Auth.bearer(auth.token) : awsSignature(auth, { region, service: "bedrock" })
