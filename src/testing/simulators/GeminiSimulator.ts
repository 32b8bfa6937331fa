import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { answerTo, faultReply, refusalReply } from "./GeminiAnswer.ts"
import { refusedBy } from "./GeminiRules.ts"
import * as Simulator from "./Simulator.ts"

/** Google's Gemini API on loopback. Any key will do; models are `gemini-2.5-…` and later. */
export class GeminiSimulator extends Context.Tag("gateway/testing/GeminiSimulator")<
  GeminiSimulator,
  Simulator.Simulator
>() {
  static readonly layer: Layer.Layer<GeminiSimulator> = Layer.scoped(
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
    basePath: "/v1beta",
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
