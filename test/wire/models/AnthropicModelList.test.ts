import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { anthropicList } from "../../../src/wire/models/AnthropicModelList.ts"
import { AnthropicModelList } from "../../../src/wire/models/AnthropicModelListSchema.ts"
import { model, reasoning } from "./ModelFixtures.ts"

const strict = Schema.decodeUnknownSync(AnthropicModelList, { onExcessProperty: "error" })
const models = ["a/1", "a/2", "a/3", "a/4"].map((id) => model(id))
const configurations = [{ slug: "cheap", pool: models }]
const pageOf = (query: string) => strict(JSON.parse(anthropicList(models, configurations, new URLSearchParams(query))))
const idsOf = (query: string): ReadonlyArray<string> => pageOf(query).data.map((entry) => entry.id)
const all = ["auto", "auto:cheap", "a/1", "a/2", "a/3", "a/4"]

const client = new Anthropic({
  apiKey: "k",
  baseURL: "http://gateway.test",
  fetch: async (url) =>
    new Response(anthropicList(models, configurations, new URL(String(url)).searchParams), {
      headers: { "content-type": "application/json" }
    })
})

describe("the Anthropic model list", () => {
  it("describes models, and auto without capabilities", () => {
    const list = strict(
      JSON.parse(
        anthropicList(
          [model("a/1", { inputTokens: 180_000, reasoning: reasoning({ style: "budget", efforts: ["none", "low"] }) })],
          [],
          new URLSearchParams()
        )
      )
    )
    const [auto, one] = list.data
    expect(auto).toMatchObject({
      id: "auto",
      display_name: "Auto",
      created_at: "1970-01-01T00:00:00.000Z",
      capabilities: null
    })
    expect(one).toMatchObject({
      type: "model",
      id: "a/1",
      display_name: "The a/1",
      created_at: "2026-11-18T11:06:40.000Z",
      max_input_tokens: 180_000,
      max_tokens: 64_000,
      lifecycle: "active",
      capabilities: {
        image_input: { supported: true },
        pdf_input: { supported: false },
        structured_outputs: { supported: true },
        effort: { supported: true, low: { supported: true }, high: { supported: false } },
        thinking: {
          supported: true,
          types: { enabled: { supported: true }, adaptive: { supported: false }, disabled: { supported: true } }
        }
      }
    })
  })

  it("is whole without a query, and null at both ends when empty", () => {
    expect(pageOf("")).toMatchObject({ has_more: false, first_id: "auto", last_id: "a/4" })
    expect(idsOf("")).toEqual(all)
    expect(strict(JSON.parse(anthropicList([], [], new URLSearchParams())))).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null
    })
  })

  it("goes forward and backward by ids", () => {
    expect(pageOf("limit=2")).toMatchObject({ has_more: true, first_id: "auto", last_id: "auto:cheap" })
    expect(idsOf("limit=2&after_id=auto:cheap")).toEqual(["a/1", "a/2"])
    expect(pageOf("limit=2&after_id=a/2")).toMatchObject({ has_more: false, first_id: "a/3", last_id: "a/4" })
    expect(idsOf("limit=2&before_id=a/3")).toEqual(["a/1", "a/2"])
    expect(pageOf("limit=2&before_id=a/3").has_more).toBe(true)
    expect(pageOf("limit=2&before_id=a/1")).toMatchObject({ has_more: false, first_id: "auto", last_id: "auto:cheap" })
  })

  it("takes a query without meaning for none, and ends after an id it does not have", () => {
    for (const query of ["limit=x", "limit=", "limit=1.5", "limit=100000", "unknown=1"])
      expect(idsOf(query)).toEqual(all)
    expect(idsOf("limit=0")).toEqual(["auto"])
    expect(pageOf("after_id=gone")).toEqual({ data: [], has_more: false, first_id: null, last_id: null })
    expect(pageOf("before_id=gone").data).toEqual([])
    expect(idsOf("lifecycle[]=retired")).toEqual([])
    expect(idsOf("lifecycle[]=retired&lifecycle[]=active")).toEqual(all)
  })

  it("is paged through by the official client, in both directions", async () => {
    const forward: Array<string> = []
    for await (const entry of client.models.list({ limit: 2 })) forward.push(entry.id)
    expect(forward).toEqual(all)
    const backward: Array<string> = []
    for await (const entry of client.models.list({ limit: 2, before_id: "a/4" })) backward.push(entry.id)
    expect(backward).toEqual(["a/2", "a/3", "auto:cheap", "a/1", "auto"])
  })
})
