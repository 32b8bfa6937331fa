import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SimpleLayer } from "model-routing-gateway"
import { LanguageModelLayer } from "model-routing-gateway/effect-ai"

const models = LanguageModelLayer({ model: "auto", request: { alpha: 0.3 } })

/** With `SimpleLayer` or `ProductionLayer` below; a call is paid by the `Caller` of the program that makes it, if it has one. */
export const greeting = LanguageModel.generateText({ prompt: "Say hello." }).pipe(
  Effect.map(({ text }) => text),
  Effect.provide(Layer.provide(models, SimpleLayer()))
)
