import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { decode } from "../../../src/wire/responses/ResponsesRequest.ts"
import { ResponsesRequest } from "../../../src/wire/responses/ResponsesRequestSchema.ts"
import { isObject } from "../../../src/wire/validation/Guard.ts"
import { decoded, refusal, refused } from "./ResponsesFixtures.ts"

describe("a Responses request becomes the canonical call", () => {
  it("maps every field that has a counterpart", () => {
    const { request } = decoded({
      model: "auto:fast",
      instructions: "Be brief.",
      input: "hi",
      stream: true,
      token_doctor: true,
      temperature: 0.2,
      top_p: 0.9,
      frequency_penalty: -1,
      presence_penalty: 2,
      max_output_tokens: 1,
      top_logprobs: 3,
      parallel_tool_calls: false,
      tools: [{ type: "function", name: "f" }],
      text: { format: { type: "json_object" }, verbosity: "low" },
      reasoning: { effort: "high", summary: "auto", max_tokens: 512, exclude: true },
      service_tier: "flex",
      safety_identifier: "s",
      prompt_cache_key: "k",
      prompt_cache_options: { mode: "x" },
      prompt_cache_retention: "24h",
      moderation: { a: 1 },
      user: "u",
      models: { allow: ["acme/*"], deny: null },
      provider: { ignore: ["bad"] },
      routing_config: "cheap",
      alpha: 0,
      max_input_price_microusd_per_million: 1,
      max_output_price_microusd_per_million: 2,
      enable_fallback: false
    })
    expect(request).toMatchObject({
      model: "auto:fast",
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "hi" }
      ],
      stream: true,
      tokenDoctor: true,
      temperature: 0.2,
      topP: 0.9,
      frequencyPenalty: -1,
      presencePenalty: 2,
      maxOutputTokens: 1,
      logprobs: true,
      topLogprobs: 3,
      parallelToolCalls: false,
      responseFormat: { type: "json_object" },
      verbosity: "low",
      effort: "high",
      reasoning: { maxTokens: 512, summary: "auto", exclude: true },
      serviceTier: "flex",
      safetyIdentifier: "s",
      promptCacheKey: "k",
      promptCacheOptions: { mode: "x" },
      promptCacheRetention: "24h",
      moderation: { a: 1 },
      user: "u",
      routing: {
        models: { allow: ["acme/*"], deny: [] },
        providers: { allow: null, deny: ["bad"] },
        routingConfig: "cheap",
        alpha: 0,
        maxInputPriceMicroUsdPerMillion: 1,
        maxOutputPriceMicroUsdPerMillion: 2,
        enableFallback: false
      }
    })
  })

  it("nests a JSON schema as chat completions does, and plain text is no format", () => {
    const format = { type: "json_schema", name: "n", schema: { type: "object" }, strict: true, description: "d" }
    expect(decoded({ text: { format } }).request.responseFormat).toEqual({
      type: "json_schema",
      json_schema: { name: "n", schema: { type: "object" }, strict: true, description: "d" }
    })
    expect(decoded({ text: { format: { type: "text" } } }).request.responseFormat).toBeUndefined()
  })

  it("stores nothing anywhere: store and metadata are accepted and stay here", () => {
    const { echo, request } = decoded({ store: true, metadata: { a: "b" } })
    expect(request.store).toBeUndefined()
    expect(request.metadata).toBeUndefined()
    expect(echo.metadata).toEqual({ a: "b" })
  })

  it("asks for log probabilities when include names them, and for alternatives only above zero", () => {
    expect(decoded({ include: ["message.output_text.logprobs"] }).request.logprobs).toBe(true)
    expect(decoded({ top_logprobs: 0 }).request).toMatchObject({ logprobs: undefined, topLogprobs: undefined })
    expect(decoded({ include: ["reasoning.encrypted_content"] }).request.logprobs).toBeUndefined()
  })

  it("takes the old name of the reasoning summary", () => {
    expect(decoded({ reasoning: { generate_summary: "concise" } }).request.reasoning.summary).toBe("concise")
  })

  it("ignores unknown fields, what clients send for themselves included, and names them", () => {
    const { ignored, ...others } = decoded({ client_metadata: { x: 1 }, n: 7, foo: null }).request
    expect(others).toEqual(decoded({}).request)
    expect(ignored).toEqual(["client_metadata", "n"])
  })

  it.each([
    [{ store: true }, ["store"]],
    [{ store: false }, undefined],
    [{ truncation: "auto" }, ["truncation"]],
    [{ max_tool_calls: 3 }, ["max_tool_calls"]],
    [{ include: ["file_search_call.results"] }, ["include"]],
    [{ include: ["message.output_text.logprobs", "reasoning.encrypted_content"] }, undefined],
    [{ stream_options: { include_obfuscation: true, include_usage: true } }, ["stream_options.include_obfuscation"]],
    [{ text: { style: "terse", format: null, other: null } }, ["text.style"]],
    [{ text: { format: { type: "text", indent: 2, name: null } } }, ["text.format.indent"]],
    [{ text: { format: { type: "json_object", name: "a" } } }, ["text.format.name"]],
    [
      { text: { format: { type: "json_schema", name: "a", schema: {}, description: "b", strict: true, example: {} } } },
      ["text.format.example"]
    ],
    [{ text: { format: { type: "json_schema", name: "a", schema: {} }, verbosity: "low" } }, undefined]
  ])("names what has no effect here: %j", (more, expected) => {
    expect(decoded(more).request.ignored).toEqual(expected)
  })

  it("rejects an unknown key where one that restricts could be lost", () => {
    expect(refused({ models: { allowed: ["x"] } })).toBe("unsupported_parameter models.allowed")
    expect(refused({ provider: { order: ["x"] } })).toBe("unsupported_parameter provider.order")
    expect(refused({ reasoning: { enabled: true } })).toBe("unsupported_parameter reasoning.enabled")
    expect(refused({ stream_options: { x: true } })).toBe("unsupported_parameter stream_options.x")
  })

  it("takes null for absent, except where the specification does not", () => {
    const nulls = Object.fromEntries(
      Object.keys(ResponsesRequest.fields)
        .filter((key) => !["model", "input", "stream", "token_doctor"].includes(key))
        .map((key) => [key, null])
    )
    expect(decoded(nulls)).toEqual(decoded({}))
    expect(refused({ stream: null })).toBe("invalid_type stream")
    expect(refused({ token_doctor: null })).toBe("invalid_type token_doctor")
    expect(refused({ model: null })).toBe("invalid_type model")
    expect(refused({ input: null })).toBe("invalid_type input")
  })
})

describe("a request that cannot be served is refused with the field at fault", () => {
  it.each([
    ["previous_response_id", "resp_1"],
    ["conversation", { id: "c" }],
    ["prompt", { id: "p" }],
    ["context_management", []],
    ["background", true]
  ])("%s needs something stored", (param, value) => {
    expect(refused({ [param]: value })).toBe(`unsupported_parameter ${param}`)
  })

  it.each<[object, string]>([
    [{ model: undefined }, "missing_required_parameter model"],
    [{ input: undefined }, "missing_required_parameter input"],
    [{ model: 1 }, "invalid_type model"],
    [{ input: 1 }, "invalid_type input"],
    [{ input: [] }, "invalid_value input"],
    [{ stream: "yes" }, "invalid_type stream"],
    [{ instructions: [] }, "invalid_type instructions"],
    [{ max_output_tokens: 0 }, "invalid_value max_output_tokens"],
    [{ max_output_tokens: 1.5 }, "invalid_type max_output_tokens"],
    [{ temperature: "hot" }, "invalid_type temperature"],
    [{ presence_penalty: 3 }, "invalid_value presence_penalty"],
    [{ top_logprobs: 21 }, "invalid_value top_logprobs"],
    [{ alpha: 2 }, "invalid_value alpha"],
    [{ routing_config: "" }, "invalid_value routing_config"],
    [{ models: { allow: "x" } }, "invalid_type models.allow"],
    [{ provider: { allow: [], only: [] } }, "invalid_value provider.only"],
    [{ metadata: { a: 1 } }, "invalid_type metadata.a"],
    [{ truncation: "some" }, "invalid_value truncation"],
    [{ reasoning: { effort: "huge" } }, "invalid_value reasoning.effort"],
    [{ reasoning: { effort: 101 } }, "invalid_value reasoning.effort"],
    [{ text: { verbosity: "loud" } }, "invalid_value text.verbosity"],
    [{ text: { format: { type: "xml" } } }, "invalid_value text.format.type"],
    [{ text: { format: { type: "json_schema", schema: {} } } }, "missing_required_parameter text.format.name"],
    [{ text: { format: { type: "json_schema", name: "n" } } }, "missing_required_parameter text.format.schema"],
    [{ include: "x" }, "invalid_type include"],
    [{ background: "no" }, "invalid_type background"]
  ])("%j", (body, expected) => {
    expect(refused(body)).toBe(expected)
  })

  it("a body that is no object", () => {
    expect(refusal([])).toMatchObject({ code: "invalid_type", param: null })
    expect(refusal(null).param).toBeNull()
  })
})

describe("the response repeats its request", () => {
  it("with the default values where it says nothing", () => {
    expect(decoded({}).echo).toEqual({
      instructions: null,
      tools: [],
      tool_choice: "auto",
      parallel_tool_calls: true,
      text: { format: { type: "text" }, verbosity: "medium" },
      reasoning: { effort: null, summary: null },
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      max_output_tokens: null,
      max_tool_calls: null,
      truncation: "disabled",
      metadata: {},
      service_tier: "default",
      safety_identifier: null,
      prompt_cache_key: null
    })
  })

  it("as it was sent", () => {
    const sent = {
      instructions: "Be brief.",
      parallel_tool_calls: false,
      temperature: 0,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: -1,
      top_logprobs: 2,
      max_output_tokens: 20,
      max_tool_calls: 3,
      truncation: "auto",
      metadata: { a: "b" },
      service_tier: "flex",
      safety_identifier: "s",
      prompt_cache_key: "k",
      prompt_cache_retention: "24h",
      user: "u"
    }
    expect(
      decoded({ ...sent, text: { verbosity: "high" }, reasoning: { effort: "low", summary: "auto" } }).echo
    ).toEqual({
      ...sent,
      tools: [],
      tool_choice: "auto",
      text: { format: { type: "text" }, verbosity: "high" },
      reasoning: { effort: "low", summary: "auto" }
    })
  })
})

describe("the published schema", () => {
  const accepts = Schema.is(ResponsesRequest)
  const values: ReadonlyArray<unknown> = [
    null,
    0,
    1,
    -3,
    0.5,
    "",
    "auto",
    "low",
    true,
    false,
    [],
    {},
    [1],
    ["a"],
    { a: "b" }
  ]
  const fields = Object.keys(ResponsesRequest.fields).filter((key) => !["input", "tools", "tool_choice"].includes(key))

  it("accepts just what the decoder accepts, field by field", () => {
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.constantFrom(...values), (field, value) => {
        const body = { model: "auto", input: "hi", [field]: value }
        expect([field, value, Either.isRight(decode(body))]).toEqual([field, value, accepts(body)])
      }),
      { numRuns: 2_000 }
    )
  })

  it("describes every field", () => {
    const undescribed: Array<string> = []
    const visit = (node: unknown, path: string): void => {
      if (Array.isArray(node)) for (const one of node) visit(one, path)
      if (!isObject(node)) return
      for (const [key, value] of Object.entries(node)) {
        if (key === "properties" && isObject(value))
          for (const [name, property] of Object.entries(value))
            if (!isObject(property) || typeof property["description"] !== "string") undescribed.push(`${path}.${name}`)
        visit(value, `${path}.${key}`)
      }
    }
    visit(JSONSchema.make(ResponsesRequest), "")
    expect(undescribed).toEqual([])
  })
})
