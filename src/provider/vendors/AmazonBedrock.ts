import type * as Redacted from "effect/Redacted"
import * as Auth from "../transport/Auth.ts"
import { type AwsKeys, awsSignature } from "../transport/AwsSignature.ts"
import * as Endpoint from "../transport/Endpoint.ts"
import { converseCompatible, type Vendor } from "./Vendor.ts"

/** Region and authentication of Bedrock: a Bedrock API key or an AWS identity. */
export interface BedrockAccess {
  /** Such as us-east-1. */
  readonly region: string
  /** A Bedrock API key, or an AWS identity that signs. */
  readonly auth:
    | { readonly _tag: "Bearer"; readonly token: Redacted.Redacted }
    | ({ readonly _tag: "Signature" } & AwsKeys)
}

export const amazonBedrockId = "amazon-bedrock"

/** Each region has its own endpoint. */
export const amazonBedrock = (region: string): Vendor =>
  converseCompatible({
    id: amazonBedrockId,
    displayName: "Amazon Bedrock",
    baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`,
    // the control plane lists models; keys and identities are the same there
    probe: {
      endpoint: Endpoint.of(`https://bedrock.${region}.amazonaws.com`),
      path: "/foundation-models?byOutputModality=TEXT",
      headers: {}
    }
  })

export const bedrockAuth = ({ auth, region }: BedrockAccess): Auth.Auth =>
  auth._tag === "Bearer" ? Auth.bearer(auth.token) : awsSignature(auth, { region, service: "bedrock" })
