import * as Context from "effect/Context"
import type * as Layer from "effect/Layer"
import * as Simulator from "../core/Simulator.ts"
import { answerTo, faultReply, rejectionReply } from "./AnthropicAnswer.ts"
import { rejectedBy } from "./AnthropicRules.ts"

/** Anthropic's Messages API on loopback. Accepts any key; models are those of the catalog. */
export class AnthropicSimulator extends Context.Tag("gateway/testing/AnthropicSimulator")<
  AnthropicSimulator,
  Simulator.Simulator
>() {
  /** Started with the Layer, stopped with its scope. */
  static readonly layer: Layer.Layer<AnthropicSimulator> = Simulator.layer(this, () => start())
}

/** Listens on a free port of loopback until it is stopped. */
export const start = (): Promise<Simulator.Simulator> =>
  Simulator.start({ basePath: "/v1", rejectedBy, rejectionReply, faultReply, answerTo })
