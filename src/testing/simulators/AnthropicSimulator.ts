import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { answerTo, faultReply, refusalReply } from "./AnthropicAnswer.ts"
import { refusedBy } from "./AnthropicRules.ts"
import * as Simulator from "./Simulator.ts"

/** Anthropic's Messages on loopback. Any key will do; models are the ones that the catalog knows. */
export class AnthropicSimulator extends Context.Tag("gateway/testing/AnthropicSimulator")<
  AnthropicSimulator,
  Simulator.Simulator
>() {
  static readonly layer: Layer.Layer<AnthropicSimulator> = Layer.scoped(
    this,
    Effect.acquireRelease(
      Effect.promise(() => start()),
      (simulator) => Effect.promise(() => simulator.stop())
    )
  )
}

export const start = (): Promise<Simulator.Simulator> => {
  const cached = new Set<string>()
  return Simulator.start({
    basePath: "/v1",
    answer: (request, fault, refused) => {
      if (fault === "hang") return Simulator.hang
      if (fault === "html") return Simulator.html
      const verdict = refusedBy(request)
      if ("refusal" in verdict) {
        refused(verdict.refusal.message)
        return refusalReply(verdict.refusal)
      }
      return (fault === undefined ? undefined : faultReply(fault, verdict)) ?? answerTo(verdict, fault, cached)
    }
  })
}
