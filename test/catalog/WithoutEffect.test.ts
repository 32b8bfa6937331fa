import { describe, expect, it } from "@effect/vitest"
import { withoutEffect } from "../../src/catalog/WithoutEffect.ts"
import { configured } from "../../src/provider/vendors/Configured.ts"

describe("settings of a model without effect", () => {
  it.each(["anthropic-messages", "gemini", "bedrock-converse"] as const)(
    "are those that %s has no field for",
    (protocol) => {
      const support = configured({ id: "acme", protocol, baseUrl: "http://127.0.0.1:1" })?.protocol.support
      const { capabilities, fields } = withoutEffect[protocol]
      const dropped = {
        serviceTierPrices: support?.service_tier === "dropped",
        webSearchPriceMicroUsd: support?.web_search_options === "dropped",
        audioOutputPriceMicroUsdPerMillion: support?.audio === "refused"
      }
      expect(
        Object.fromEntries(Object.keys(dropped).map((field) => [field, fields.some((one) => one === field)]))
      ).toEqual(dropped)
      expect(capabilities.includes("logprobs")).toBe(support?.logprobs === "refused")
      expect(fields.includes("audioInputPriceMicroUsdPerMillion")).toBe(capabilities.includes("audio-input"))
    }
  )

  it.each(["openai-chat", "anthropic-messages", "gemini", "bedrock-converse"] as const)(
    "include the name of the output cap where %s has one of its own",
    (protocol) => {
      const provider = { id: "acme", protocol, baseUrl: "http://127.0.0.1:1" } as const
      const named = configured({ ...provider, outputCapField: "max_completion_tokens" })?.protocol
      expect(withoutEffect[protocol].fields.includes("outputCapField")).toBe(
        named?.lower === configured(provider)?.protocol.lower
      )
    }
  )
})
