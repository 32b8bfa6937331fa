import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AwsIdentity } from "./AwsSignatureRules.ts"
import { answerReply, faultReply, refusalReply } from "./BedrockReply.ts"
import { refusedBy } from "./BedrockRules.ts"
import * as Simulator from "./Simulator.ts"

/** Who may sign at a simulator that is not told otherwise. */
export const usualIdentity: AwsIdentity = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "us-east-1"
}

/** Amazon Bedrock's Converse on loopback. Any key of Bedrock's own will do; a signature has to be right. */
export class BedrockSimulator extends Context.Tag("gateway/testing/BedrockSimulator")<
  BedrockSimulator,
  Simulator.Simulator
>() {
  static readonly layer: Layer.Layer<BedrockSimulator> = Layer.scoped(
    this,
    Effect.acquireRelease(
      Effect.promise(() => start()),
      (simulator) => Effect.promise(() => simulator.stop())
    )
  )
}

export const start = (identity: AwsIdentity = usualIdentity): Promise<Simulator.Simulator> => {
  const cached = new Set<string>()
  return Simulator.start({
    basePath: "",
    answer: (request, fault, refused) => {
      if (fault === "hang") return Simulator.hang
      if (fault === "html") return Simulator.html
      const verdict = refusedBy(request, identity)
      if ("refusal" in verdict) {
        refused(verdict.refusal.message)
        return refusalReply(verdict.refusal)
      }
      return (fault === undefined ? undefined : faultReply(fault, verdict)) ?? answerReply(verdict, fault, cached)
    }
  })
}
