import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { buildModels } from "../../../src/catalog/Build.ts"
import { builtInCatalog } from "../../../src/catalog/CatalogFile.ts"
import type { ChatRequest, Effort, JsonObject, Tool, ToolChoice } from "../../../src/domain/Chat.ts"
import { followsSchemas, type Model } from "../../../src/domain/Model.ts"
import * as Auth from "../../../src/provider/transport/Auth.ts"
import * as Endpoint from "../../../src/provider/transport/Endpoint.ts"
import { configured } from "../../../src/provider/vendors/Configured.ts"
import { describe as describeVendor } from "../../../src/provider/vendors/Vendor.ts"
import { vendorOf, vendors } from "../../../src/provider/vendors/Vendors.ts"
import { extrasOf, leftOutOf } from "../../../src/routing/LeftOut.ts"
import { featuresOf } from "../../../src/routing/RequestFeatures.ts"
import { meets } from "../../../src/routing/Requirements.ts"
import { call } from "../protocols/calls.ts"

/** A key alone is not enough to call these. */
const keyless: ReadonlyArray<string> = ["amazon-bedrock", "azure", "google-vertex"]

describe("built-in vendors", () => {
  it("have ids, https origins and credential names of their own", () => {
    expect(new Set(vendors.map((vendor) => vendor.id)).size).toBe(vendors.length)
    for (const vendor of vendors) {
      expect(vendor.endpoint.origin).toMatch(/^https:\/\//)
      expect([vendor.id, vendor.credentialEnv.length > 0]).toEqual([vendor.id, !keyless.includes(vendor.id)])
    }
    const names = vendors.flatMap((vendor) => vendor.credentialEnv)
    expect(new Set(names).size).toBe(names.length)
  })

  it("get a placeholder for the reasoning of a tool turn at DeepSeek and Moonshot AI alone", () => {
    const asked = call({
      messages: [
        { role: "user", content: "What time is it?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "c1", content: "noon" }
      ]
    })
    const required = vendors.filter(({ protocol }) => String(protocol.lower(asked)).includes('"reasoning_content"'))
    expect(required.map(({ id }) => id).sort()).toEqual(["deepseek", "moonshotai"])
  })
})

const models = buildModels({
  data: builtInCatalog,
  vendors: vendors.map(describeVendor),
  configured: [],
  patches: {}
})
const catalogModel = (id: string): Model => {
  const one = models.find((some) => some.id === id)
  if (one === undefined) throw new Error(`There is no model ${id}.`)
  return one
}

describe("what the models of the catalog are asked for", () => {
  const takes = (id: string, asked: Partial<ChatRequest>): boolean => {
    const { requirements } = featuresOf(call(asked).request, true, 10, [])
    return requirements.every((each) => meets(catalogModel(id), each, "byok") !== false)
  }

  it("is no JSON schema at DeepSeek and Z.AI, but a JSON object", () => {
    const schema = { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } }
    for (const id of ["deepseek/deepseek-v4-pro", "zai/glm-5.2", "zai/glm-4.7"]) {
      expect([id, takes(id, { responseFormat: schema })]).toEqual([id, false])
      expect([id, takes(id, { responseFormat: { type: "json_object" } })]).toEqual([id, true])
    }
    const follow = models.filter((one) => ["deepseek", "zai"].includes(one.providerId) && followsSchemas(one))
    expect(follow).toEqual([])
  })

  it("is a response format without tools at Groq, Cerebras and Gemini 2", () => {
    const tool = { type: "function", function: { name: "f" } } as const
    const taking = (asked: Partial<ChatRequest>) =>
      models.filter(({ id }) => takes(id, { stream: false, ...asked })).map(({ id }) => id)
    for (const type of ["json_object", "json_schema"]) {
      const responseFormat = { type, json_schema: { name: "x", schema: { type: "object" } } }
      const both = taking({ tools: [tool], responseFormat })
      const lost = taking({ responseFormat }).filter(
        (id) => taking({ tools: [tool] }).includes(id) && !both.includes(id)
      )
      expect(
        lost.every((id) => /^(?:groq|cerebras)\/|^google\/gemini-2/.test(id)),
        lost.join()
      ).toBe(true)
      for (const id of ["groq/openai/gpt-oss-120b", "cerebras/gpt-oss-120b", "google/gemini-2.5-pro"]) {
        expect(lost).toContain(id)
      }
      expect(both).toContain("google/gemini-3.5-flash")
    }
  })

  it("is no streamed JSON schema at Groq, but a streamed JSON object", () => {
    const schema = { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } }
    const id = "groq/openai/gpt-oss-120b"
    expect(takes(id, { responseFormat: schema, stream: true })).toBe(false)
    expect(takes(id, { responseFormat: schema, stream: false })).toBe(true)
    expect(takes(id, { responseFormat: { type: "json_object" }, stream: true })).toBe(true)
    expect(takes("cerebras/gpt-oss-120b", { responseFormat: schema, stream: true })).toBe(true)
  })

  it("is no forced call and one stop string at Z.AI", () => {
    const tool = { type: "function", function: { name: "f" } } as const
    const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [tool] } })
    const takesChoice = (toolChoice: ToolChoice) => takes("zai/glm-5.2", { tools: [tool], toolChoice })
    expect(["auto" as const, "none" as const, allowed("auto")].map(takesChoice)).toEqual([true, true, true])
    expect(["required" as const, tool, allowed("required")].map(takesChoice)).toEqual([false, false, false])
    expect(takes("zai/glm-5.2", { stop: ["a"] })).toBe(true)
    expect(takes("zai/glm-5.2", { stop: ["a", "b"] })).toBe(false)
  })

  it("is a call without tools at Z.AI where none may be called", () => {
    const tool = { type: "function", function: { name: "f" } } as const
    const sent = (toolChoice: ToolChoice): unknown =>
      JSON.parse(String(vendorOf("zai")?.protocol.lower(call({ tools: [tool], toolChoice }))))
    expect(sent("none")).not.toHaveProperty("tools")
    expect(sent("none")).not.toHaveProperty("tool_choice")
    expect(sent("auto")).toMatchObject({ tools: [tool], tool_choice: "auto" })
  })
})

describe("what the models of the catalog are not sent as it is", () => {
  const lost = (id: string, asked: Partial<ChatRequest>, effort?: Effort) => {
    const { request } = call(asked)
    return leftOutOf(catalogModel(id), request, extrasOf(request), effort, () => false)
  }

  it("is an id of Claude Code, which is longer than vendors of chat completions take", () => {
    const user = "u".repeat(159)
    for (const id of ["openai/gpt-5", "groq/openai/gpt-oss-120b"]) {
      expect(lost(id, { user }), id).toEqual({ dropped: [], altered: ["user"] })
    }
    expect(lost("anthropic/claude-haiku-4-5", { user })).toEqual({ dropped: [], altered: [] })
  })

  it("is what makes some tools strict and others not, at Cerebras", () => {
    const tool = (name: string, strict?: boolean) =>
      ({ type: "function", function: { name, ...(strict !== undefined && { strict }) } }) as const
    const strictAt = (vendor: string, tools: ReadonlyArray<Tool>) => {
      const body = JSON.parse(String(vendorOf(vendor)?.protocol.lower(call({ tools }))))
      return (body.tools as ReturnType<typeof tool>[]).map((one) => one.function.strict)
    }
    const mixed = [tool("a", true), tool("b")]
    expect(strictAt("cerebras", mixed)).toEqual([undefined, undefined])
    expect(strictAt("cerebras", [tool("a", true), tool("b", true)])).toEqual([true, true])
    expect(strictAt("cerebras", [tool("a", false), tool("b")])).toEqual([false, undefined])
    expect(strictAt("togetherai", mixed)).toEqual([true, undefined])
    expect(lost("cerebras/gpt-oss-120b", { tools: mixed })).toEqual({ dropped: [], altered: ["tools.function.strict"] })
    expect(lost("cerebras/gpt-oss-120b", { tools: [tool("a", true)] })).toEqual({ dropped: [], altered: [] })
    expect(lost("groq/openai/gpt-oss-120b", { tools: mixed })).toEqual({ dropped: [], altered: [] })
  })

  it("is a stop string at OpenAI's models that reason, unless they are told not to", () => {
    const stop = ["\nObservation:"]
    for (const id of ["gpt-5", "gpt-5-mini", "o3", "o4-mini", "gpt-5.1", "gpt-5.2", "gpt-5.5"]) {
      expect(lost(`openai/${id}`, { stop }), id).toEqual({ dropped: ["stop"], altered: [] })
      expect(lost(`openai/${id}`, { stop }, "low"), id).toEqual({ dropped: ["stop"], altered: [] })
    }
    expect(lost("openai/gpt-5.2", { stop }, "none").dropped).toEqual([])
    for (const id of ["openai/gpt-4.1", "groq/openai/gpt-oss-120b", "anthropic/claude-haiku-4-5"]) {
      expect(lost(id, { stop }).dropped, id).toEqual([])
    }
  })

  it("is the strictness of a tool of Messages whose schema OpenAI does not enforce", () => {
    const closed = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false
    }
    const strictOf = (parameters: JsonObject, more: Partial<ChatRequest> = { objectArguments: true }) => {
      const asked = {
        tools: [{ type: "function", function: { name: "f", parameters, strict: true } }],
        ...more
      } as const
      const sent = String(vendorOf("openai")?.protocol.lower(call(asked)))
      expect(lost("openai/gpt-4.1", asked).altered).toEqual(
        sent.includes('"strict":true') ? [] : ["tools.function.strict"]
      )
      return sent.includes('"strict":true')
    }
    const list = { type: ["array", "null"], items: { $ref: "#/$defs/x" } }
    const nested = { ...closed, properties: { a: { anyOf: [closed, list] } }, $defs: { x: closed } }
    for (const enforced of [closed, nested]) expect(strictOf(enforced)).toBe(true)
    const loose: ReadonlyArray<JsonObject> = [
      { ...closed, required: [] },
      { ...closed, additionalProperties: true },
      { type: "object", properties: {} },
      { ...closed, oneOf: [] },
      { ...closed, properties: { a: { type: "array" } } },
      { ...closed, properties: { a: { ...closed, required: undefined } } },
      { ...closed, properties: { a: {} } }
    ]
    for (const schema of loose) {
      expect(strictOf(schema), JSON.stringify(schema)).toBe(false)
      expect(strictOf(schema, {}), "a client of chat completions gets OpenAI's own error").toBe(true)
    }
    expect(lost("groq/openai/gpt-oss-120b", { objectArguments: true }).altered).toEqual([])
  })

  it("is a response format of Messages whose schema OpenAI does not enforce", () => {
    const closed = { type: "object", properties: {}, required: [], additionalProperties: false }
    const format = (schema: JsonObject, objectArguments = true) => {
      const asked = { responseFormat: { type: "json_schema", json_schema: { schema } }, objectArguments }
      const sent = JSON.parse(String(vendorOf("openai")?.protocol.lower(call(asked)))).response_format.json_schema
      return { strict: sent.strict, altered: lost("openai/gpt-5", asked).altered }
    }
    expect(format(closed)).toEqual({ strict: true, altered: [] })
    expect(format({ type: "object" })).toEqual({ strict: undefined, altered: ["response_format"] })
    expect(format(closed, false)).toEqual({ strict: undefined, altered: [] })
  })

  it("is whether tools may be called at once, at OpenAI's o-series", () => {
    for (const id of ["o3", "o4-mini"]) {
      expect(lost(`openai/${id}`, { parallelToolCalls: false }).dropped, id).toEqual(["parallel_tool_calls"])
    }
    for (const id of ["gpt-5", "gpt-4o"]) expect(lost(`openai/${id}`, { parallelToolCalls: false }).dropped).toEqual([])
  })
})

describe("base URLs", () => {
  it("are taken with or without a trailing slash", () => {
    for (const url of ["https://host:8443/api/v1", "https://host:8443/api/v1/"]) {
      expect(Endpoint.parse(url)).toEqual({ origin: "https://host:8443", basePath: "/api/v1" })
    }
    expect(Endpoint.parse("http://host")).toEqual({ origin: "http://host", basePath: "" })
  })

  it("with anything that could carry a secret or a trick are refused", () => {
    for (const url of [
      "host/v1",
      "ftp://host",
      "file:///etc/passwd",
      "https://user:pass@host/v1",
      "https://host/v1?key=1",
      "https://host/#x"
    ]) {
      expect(Endpoint.parse(url)).toBeUndefined()
    }
  })
})

describe("authentication", () => {
  const outgoing = { origin: "", path: "", headers: {}, body: "" }
  it("is one header, or none", () => {
    const key = Redacted.make("k")
    expect(Auth.none.headers(outgoing, 0)).toEqual({})
    expect(Auth.bearer(key).headers(outgoing, 0)).toEqual({ authorization: "Bearer k" })
    expect(Auth.header("x-api-key")(key).headers(outgoing, 0)).toEqual({ "x-api-key": "k" })
  })
})

describe("configured providers", () => {
  it("that speak generateContent are called by model, with a key or, like Vertex AI, with a token", () => {
    const asked = call({ stream: false })
    const key = Redacted.make("k")
    const outgoing = { origin: "", path: "", headers: {}, body: "" }
    const own = configured({ id: "mine", protocol: "gemini", baseUrl: "http://127.0.0.1:9001/v1beta" })
    expect(own?.protocol.path(asked)).toBe("/models/large:generateContent")
    expect(own?.auth(key).headers(outgoing, 0)).toEqual({ "x-goog-api-key": "k" })
    const vertex = configured({
      id: "mine",
      vendor: "google-vertex",
      baseUrl: "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google"
    })
    expect(vertex?.endpoint.basePath).toBe("/v1/projects/p/locations/global/publishers/google")
    expect(vertex?.auth(key).headers(outgoing, 0)).toEqual({ authorization: "Bearer k" })
  })

  it("like Azure OpenAI are called at their own resource, with its key", () => {
    const resource = "https://acme.openai.azure.com/openai/v1"
    const own = configured({ id: "mine", vendor: "azure", baseUrl: resource })
    expect(own?.endpoint).toEqual({ origin: "https://acme.openai.azure.com", basePath: "/openai/v1" })
    expect(own?.protocol.path(call())).toBe("/chat/completions")
    const outgoing = { origin: "", path: "", headers: {}, body: "" }
    expect(own?.auth(Redacted.make("k")).headers(outgoing, 0)).toEqual({ "api-key": "k" })
    expect(capField({ id: "mine", vendor: "azure", baseUrl: resource })).toBe("max_completion_tokens")
    expect(configured({ id: "mine", vendor: "azure" })).toBeUndefined()
  })

  const capField = (provider: Parameters<typeof configured>[0]): string => {
    const lowered = configured(provider)?.protocol.lower(call())
    return typeof lowered === "string" ? (/max_(?:completion_)?tokens/.exec(lowered)?.[0] ?? "") : ""
  }

  it("of a protocol are called at their base URL, capped by max_tokens unless they say otherwise", () => {
    const acme = { id: "acme", protocol: "openai-chat", baseUrl: "http://127.0.0.1:9001/v1" } as const
    expect(configured(acme)).toMatchObject({
      id: "acme",
      endpoint: { origin: "http://127.0.0.1:9001", basePath: "/v1" },
      billsAbortedCalls: true,
      credentialEnv: []
    })
    expect(capField(acme)).toBe("max_tokens")
    expect(capField({ ...acme, outputCapField: "max_completion_tokens" })).toBe("max_completion_tokens")
    expect(configured({ ...acme, billsAbortedCalls: false })?.billsAbortedCalls).toBe(false)
  })

  it("like a built-in vendor share its base URL and quirks, under their own id", () => {
    expect(configured({ id: "mine", vendor: "openai" })).toMatchObject({
      id: "mine",
      endpoint: { origin: "https://api.openai.com" }
    })
    expect(capField({ id: "mine", vendor: "openai" })).toBe("max_completion_tokens")
    expect(configured({ id: "mine", vendor: "openai", baseUrl: "http://127.0.0.1:1/v1" })?.endpoint.origin).toBe(
      "http://127.0.0.1:1"
    )
  })

  it("that cannot be called are none", () => {
    expect(configured({ id: "x", vendor: "nobody" })).toBeUndefined()
    expect(configured({ id: "x", protocol: "openai-chat" })).toBeUndefined()
    expect(configured({ id: "x", protocol: "openai-chat", baseUrl: "nonsense" })).toBeUndefined()
  })
})
