import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { answerTo, faultReply, refusalReply } from "./OpenAiAnswer.ts"
import { refusedBy } from "./OpenAiRules.ts"
import * as Simulator from "./Simulator.ts"

/** Chat completions on loopback. Any key and any model will do; names such as `gpt-5` and `o3` reason. */
export class OpenAiSimulator extends Context.Tag("gateway/testing/OpenAiSimulator")<
  OpenAiSimulator,
  Simulator.Simulator
>() {
  static readonly layer: Layer.Layer<OpenAiSimulator> = Layer.scoped(
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
