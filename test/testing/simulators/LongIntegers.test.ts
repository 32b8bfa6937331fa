import { afterAll, beforeAll, expect, it } from "vitest"
import { type FourProviders, routes, startFourProviders } from "../../support/FourProviders.ts"

let providers: FourProviders

beforeAll(async () => {
  providers = await startFourProviders()
})
afterAll(() => providers.stop())

it.each(routes.map((route) => [route.vendor, route] as const))(
  "an integer beyond 2^53 comes to %s with every digit, and its simulator answers",
  async (_, route) => {
    const id = "9007199254740993"
    const parameters = `{"type":"object","properties":{"id":{"type":"integer","maximum":${id}}}}`
    const call = { id: "call_1", type: "function", function: { name: "f", arguments: `{"id":${id}}` } }
    const body = JSON.stringify({
      model: route.model,
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "done" }
      ],
      tools: [{ type: "function", function: { name: "f", parameters: "PARAMETERS" } }]
    }).replace('"PARAMETERS"', parameters)
    const response = await providers.gateway.post("/v1/chat/completions", {}, { body })
    expect(response.status).toBe(200)
    const sent = providers.simulatorOf(route).requests.at(-1)?.text ?? ""
    expect(sent.split(id)).toHaveLength(3)
  }
)
