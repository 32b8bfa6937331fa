import * as Context from "effect/Context"
import type * as Layer from "effect/Layer"
import * as Simulator from "../core/Simulator.ts"
import { answerTo, faultReply, rejectionReply } from "./OpenAiAnswer.ts"
import { rejectedBy } from "./OpenAiRules.ts"

/** Chat completions on loopback. Accepts any key and any model; models such as `gpt-5` and `o3` reason. */
export class OpenAiSimulator extends Context.Tag("gateway/testing/OpenAiSimulator")<
  OpenAiSimulator,
  Simulator.Simulator
>() {
  /** Started with the Layer, stopped with its scope. */
  static readonly layer: Layer.Layer<OpenAiSimulator> = Simulator.layer(this, () => start())
}

/** Listens on a free port of loopback until it is stopped. */
export const start = (): Promise<Simulator.Simulator> =>
  Simulator.start({ basePath: "/v1", rejectedBy, rejectionReply, faultReply, answerTo })
