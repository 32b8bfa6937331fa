import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Simulator from "../core/Simulator.ts"
import type { AwsIdentity } from "./AwsSignatureRules.ts"
import { answerReply, faultReply, rejectionReply } from "./BedrockReply.ts"
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
  static readonly layer: Layer.Layer<BedrockSimulator> = Layer.scoped(
    this,
    Effect.acquireRelease(
      Effect.promise(() => start()),
      (simulator) => Effect.promise(() => simulator.stop())
    )
  )
}

/** Listens on a free port of loopback until it is stopped. */
export const start = (identity: AwsIdentity = defaultIdentity): Promise<Simulator.Simulator> => {
  const cached = new Set<string>()
  return Simulator.start({
    basePath: "",
    answer: (request, fault, refused) => {
      if (fault === "hang") return Simulator.hang
      if (fault === "html") return Simulator.html
      const verdict = rejectedBy(request, identity)
      if ("rejection" in verdict) {
        refused(verdict.rejection.message)
        return rejectionReply(verdict.rejection)
      }
      return (fault === undefined ? undefined : faultReply(fault, verdict)) ?? answerReply(verdict, fault, cached)
    }
  })
}
