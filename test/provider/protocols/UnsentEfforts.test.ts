import { describe, expect, it } from "vitest"
import { buildModels } from "../../../src/catalog/Build.ts"
import { builtInCatalog } from "../../../src/catalog/CatalogFile.ts"
import { type Effort, efforts } from "../../../src/domain/Chat.ts"
import { unsentEfforts } from "../../../src/provider/protocols/UnsentEfforts.ts"
import { configured } from "../../../src/provider/vendors/Configured.ts"
import { call, saying } from "./calls.ts"

/** Whether it is shown is another question. */
const reasoning = { maxTokens: undefined, summary: undefined, exclude: true }

/** The body of a call at each effort, of a model that has them all. */
const bodies = (
  protocol: "openai-chat" | "anthropic-messages" | "gemini" | "bedrock-converse",
  upstreamModel: string
): ReadonlyMap<Effort | undefined, string> => {
  const vendor = configured({ id: "acme", protocol, baseUrl: "http://127.0.0.1:1" })
  if (vendor === undefined) throw new Error(`no protocol ${protocol}`)
  const entry = {
    id: "acme/large",
    upstreamModel,
    inputPriceMicroUsdPerMillion: 1,
    outputPriceMicroUsdPerMillion: 1,
    contextTokens: 100_000,
    outputTokens: 10_000,
    reasoningEfforts: efforts
  }
  const own = { ...vendor, protocol: vendor.protocol.id, support: vendor.protocol.support, models: [entry] }
  const [model] = buildModels({ data: { ...builtInCatalog, models: [] }, vendors: [], configured: [own], patches: {} })
  if (model === undefined) throw new Error("no model")
  return new Map(
    [undefined, ...efforts].map((effort) => [
      effort,
      JSON.stringify(vendor.protocol.lower(call({ messages: saying("hi"), reasoning }, { model, effort })))
    ])
  )
}

describe("efforts that a protocol has no name for", () => {
  it.each([
    ["openai-chat", "large", []],
    ["anthropic-messages", "claude-opus-5", ["minimal"]],
    ["gemini", "gemini-3-flash", ["none", "xhigh", "max"]],
    ["bedrock-converse", "us.anthropic.claude-opus-4-8", ["minimal"]],
    ["bedrock-converse", "us.amazon.nova-2-lite-v1:0", ["minimal", "xhigh", "max"]],
    ["bedrock-converse", "openai.gpt-oss-120b-1:0", []],
    ["bedrock-converse", "arn:aws:bedrock:us-east-1:1:application-inference-profile/x", ["none", "minimal"]]
  ] as const)("%s, %s: %j, which are sent as another one or not at all", (protocol, upstreamModel, expected) => {
    const unsent = unsentEfforts(protocol, upstreamModel)
    expect(unsent).toEqual(expected)
    const sent = bodies(protocol, upstreamModel)
    const own = efforts.filter((effort) => !unsent.includes(effort)).map((effort) => sent.get(effort))
    expect(new Set(own).size).toBe(own.length)
    for (const effort of unsent) expect([...own, sent.get(undefined)]).toContain(sent.get(effort))
  })

  it("are offered by no model of the catalog", () => {
    const protocols = new Map(builtInCatalog.providers.map(({ id, protocol }) => [id, protocol]))
    const offered = builtInCatalog.models.flatMap(({ id, reasoning, upstreamModel }) => {
      if (reasoning?.style !== "effort") return []
      const unsent = unsentEfforts(protocols.get(id.slice(0, id.indexOf("/"))) ?? "", upstreamModel)
      return reasoning.efforts.filter((effort) => unsent.includes(effort)).map((effort) => `${id} ${effort}`)
    })
    expect(offered).toEqual([])
  })
})
