import * as Context from "effect/Context"
import type * as Layer from "effect/Layer"
import * as Simulator from "../core/Simulator.ts"
import { answerTo, faultReply, rejectionReply } from "./GeminiAnswer.ts"
import { rejectedBy } from "./GeminiRules.ts"

/** Google's Gemini API on loopback. Accepts any key; models are `gemini-2.5-…` and later. */
export class GeminiSimulator extends Context.Tag("gateway/testing/GeminiSimulator")<
  GeminiSimulator,
  Simulator.Simulator
>() {
  /** Started with the Layer, stopped with its scope. */
  static readonly layer: Layer.Layer<GeminiSimulator> = Simulator.layer(this, () => start())
}

/** Listens on a free port of loopback until it is stopped. */
export const start = (): Promise<Simulator.Simulator> =>
  Simulator.start({ basePath: "/v1beta", rejectedBy, rejectionReply, faultReply, answerTo })
