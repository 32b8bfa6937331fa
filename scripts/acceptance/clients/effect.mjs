// Other Effect programs reach the gateway through this client.
import * as Chat from "@effect/ai/Chat"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as OpenAiClient from "@effect/ai-openai/OpenAiClient"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { weather } from "../tasks.mjs"

const toolkit = Toolkit.make(
  Tool.make("weather", {
    description: "The weather of a city",
    parameters: { city: Schema.String },
    success: Schema.String
  })
)
const handlers = toolkit.toLayer({ weather: (input) => Effect.succeed(weather(input)) })

const run = (access, model, effect, signal) => {
  const client = OpenAiClient.layer({ apiKey: Redacted.make(access.apiKey), apiUrl: access.baseURL }).pipe(
    Layer.provide(FetchHttpClient.layer)
  )
  const layers = Layer.mergeAll(OpenAiLanguageModel.layer({ model }).pipe(Layer.provide(client)), handlers)
  return Effect.runPromise(Effect.provide(effect, layers), { signal })
}

const loop = (prompt) =>
  Effect.gen(function* () {
    const chat = yield* Chat.empty
    let answer = yield* chat.generateText({ prompt, toolkit })
    for (let turn = 0; turn < 3 && answer.toolCalls.length > 0; turn++)
      answer = yield* chat.generateText({ prompt: [], toolkit })
    return answer.text
  })

export const adapters = [
  {
    client: "@effect/ai-openai",
    text: (access, { model, prompt }) =>
      run(
        access,
        model,
        Effect.map(LanguageModel.generateText({ prompt }), ({ text }) => text)
      ),
    stream: (access, { model, onText, prompt, signal }) =>
      run(
        access,
        model,
        Stream.runForEach(LanguageModel.streamText({ prompt, toolkit, disableToolCallResolution: true }), (part) => {
          if (part.type === "text-delta") onText(part.delta)
          return part.type === "error" ? Effect.fail(part.error) : Effect.void
        }),
        signal
      ),
    loop: (access, { model, prompt }) => run(access, model, loop(prompt)),
    object: (access, { model, prompt }) =>
      run(
        access,
        model,
        Effect.map(
          LanguageModel.generateObject({
            prompt,
            schema: Schema.Struct({ city: Schema.String, inhabitants: Schema.Number })
          }),
          ({ value }) => value
        )
      )
  }
]
