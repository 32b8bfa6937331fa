import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Simulator from "../core/Simulator.ts"
import { answerTo, faultReply, rejectionReply } from "./OpenAiAnswer.ts"
import { rejectedBy } from "./OpenAiRules.ts"

/** Chat completions on loopback. Accepts any key and any model; models such as `gpt-5` and `o3` reason. */
export class OpenAiSimulator extends Context.Tag("gateway/testing/OpenAiSimulator")<
  OpenAiSimulator,
  Simulator.Simulator
>() {
  /** Started with the Layer, stopped with its scope. */
  static readonly layer: Layer.Layer<OpenAiSimulator> = Layer.scoped(
    this,
    Effect.acquireRelease(
      Effect.promise(() => start()),
      (simulator) => Effect.promise(() => simulator.stop())
    )
  )
}

/** Listens on a free port of loopback until it is stopped. */
export const start = (): Promise<Simulator.Simulator> => {
  const cached = new Set<string>()
  return Simulator.start({
    basePath: "/v1",
    answer: (request, fault, refused) => {
      if (fault === "hang") return Simulator.hang
      if (fault === "html") return Simulator.html
      const verdict = rejectedBy(request)
      if ("rejection" in verdict) {
        refused(verdict.rejection.message)
        return rejectionReply(verdict.rejection)
      }
      return (fault === undefined ? undefined : faultReply(fault, verdict)) ?? answerTo(verdict, fault, cached)
    }
  })
}
