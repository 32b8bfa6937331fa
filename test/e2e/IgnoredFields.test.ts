// Promise: what is ignored in a request changes nothing of what a provider gets, and is named as the client has sent it.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RouterMetadata } from "../../src/domain/RouterMetadata.ts"
import { type FourProviders, type Route, routes, startFourProviders } from "../support/FourProviders.ts"
import { callerKey } from "../support/InProcess.ts"
import * as Native from "../support/Native.ts"

type Body = Readonly<Record<string, unknown>>
interface Answer {
  readonly status: number
  readonly sent: Body
  readonly metadata: RouterMetadata
}

let providers: FourProviders

beforeAll(async () => {
  providers = await startFourProviders((model) => ({ ...model, profile: { ...model.profile, effort: "high" } }))
})
afterAll(() => providers.stop())

const ask = async (route: Route, path: string, body: Body): Promise<Answer> => {
  const response = await fetch(`${providers.gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: route.model, ...body })
  })
  const answer = (await response.json()) as { readonly router_metadata: RouterMetadata }
  const sent = Native.lastRequest(providers.simulatorOf(route))
  return { status: response.status, sent, metadata: answer.router_metadata }
}

const messages = [{ role: "user", content: "Say: hello" }]
const fields: ReadonlyArray<{ readonly path: string; readonly known: Body; readonly unknown: Body }> = [
  {
    path: "/v1/responses",
    known: {
      input: "Say as JSON: hello",
      max_output_tokens: 6_000,
      text: { format: { type: "json_object" }, verbosity: "low" },
      reasoning: { effort: "low" }
    },
    unknown: { response_format: 5, reasoning_effort: "x", verbosity: "x", max_tokens: 1, messages: [], stop: "x" }
  },
  {
    path: "/v1/messages",
    known: {
      messages,
      max_tokens: 6_000,
      stop_sequences: ["END"],
      metadata: { user_id: "user-1" },
      output_config: { effort: "low" },
      tools: [{ name: "read_clock", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "auto", disable_parallel_tool_use: true }
    },
    unknown: { stop: "x", user: 5, reasoning_effort: "x", parallel_tool_calls: 5, max_completion_tokens: 1 }
  },
  {
    path: "/v1/chat/completions",
    known: { messages, max_completion_tokens: 6_000, stop: ["END"], user: "user-1", reasoning_effort: "low" },
    unknown: { stop_sequences: ["x"], max_output_tokens: 1, output_config: 5, input: "x" }
  }
]

describe.each(routes.map((route) => [route.vendor, route] as const))("a field that is not known, at %s", (_, route) => {
  it.each(fields)("changes nothing of what is sent, and is named: $path", async ({ known, path, unknown }) => {
    const without = await ask(route, path, known)
    const beside = await ask(route, path, { ...known, ...unknown })
    expect([without.status, beside.status]).toEqual([200, 200])
    expect(beside.sent).toEqual(without.sent)
    expect(beside.metadata.dropped_parameters).toEqual([
      ...without.metadata.dropped_parameters,
      ...Object.keys(unknown)
    ])
  })
})

describe.each(routes.map((route) => [route.vendor, route] as const))("an effort beside auto, at %s", (_, route) => {
  it("leaves the model's own, and is named", async () => {
    const body = { model: "auto", models: { allow: [route.model] }, messages, max_completion_tokens: 6_000 }
    const without = await ask(route, "/v1/chat/completions", body)
    const own = JSON.stringify(without.sent)
    expect(own).toMatch(/high|budget/i)
    for (const effort of ["low", "none"]) {
      const named = await ask(route, "/v1/chat/completions", { ...body, reasoning_effort: effort })
      expect(named.status).toBe(200)
      expect(JSON.stringify(named.sent)).toBe(own)
      expect(named.metadata.dropped_parameters).toEqual([...without.metadata.dropped_parameters, "reasoning_effort"])
    }
  })
})
