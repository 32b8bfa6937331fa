import * as Context from "effect/Context"
import type * as Layer from "effect/Layer"
import * as Simulator from "../core/Simulator.ts"
import type { AwsIdentity } from "./AwsSignatureRules.ts"
import { answerTo, faultReply, rejectionReply } from "./BedrockReply.ts"
import { rejectedBy } from "./BedrockRules.ts"

/** The default identity of a simulator. */
export const defaultIdentity: AwsIdentity = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "us-east-1"
}

/** Amazon Bedrock's Converse API on loopback. Accepts any Bedrock API key; a signature must be valid. */
export class BedrockSimulator extends Context.Tag("gateway/testing/BedrockSimulator")<
  BedrockSimulator,
  Simulator.Simulator
>() {
  /** Started with the Layer, stopped with its scope. */
  static readonly layer: Layer.Layer<BedrockSimulator> = Simulator.layer(this, () => start())
}

/** Listens on a free port of loopback until it is stopped. */
export const start = (identity: AwsIdentity = defaultIdentity): Promise<Simulator.Simulator> =>
  Simulator.start({
    basePath: "",
    rejectedBy: (request) => rejectedBy(request, identity),
    rejectionReply,
    faultReply,
    answerTo
  })
