import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { testModel } from "../../../src/testing/doubles/TestModel.ts"
import { startInProcess } from "../../support/InProcess.ts"
import * as Upstream from "../../support/Upstream.ts"

it.live("a vendor without custom tools is offered functions, and its calls are custom to the client", () =>
  Effect.promise(async () => {
    const upstream = await Upstream.start((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        JSON.stringify({
          choices: [
            {
              index: 0,
              message: {
                role: "assistant",
                content: null,
                tool_calls: [
                  { id: "c1", type: "function", function: { name: "patch", arguments: '{"input":"a line"}' } }
                ]
              },
              finish_reason: "tool_calls"
            }
          ],
          usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 }
        })
      )
    })
    const gateway = await startInProcess({ models: [testModel("up/any")], origins: { up: upstream.baseUrl } })
    try {
      const completion = await gateway.client.chat.completions.create({
        model: "up/any",
        messages: [{ role: "user", content: "hi" }],
        tools: [{ type: "custom", custom: { name: "patch" } }]
      })
      expect(upstream.requests[0]?.body).toMatchObject({ tools: [{ type: "function", function: { name: "patch" } }] })
      expect(completion.choices[0]?.message.tool_calls).toEqual([
        { id: "c1", type: "custom", custom: { name: "patch", input: "a line" } }
      ])
    } finally {
      await gateway.stop()
      await upstream.stop()
    }
  })
)
