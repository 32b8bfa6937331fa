import { buildModels } from "../../../../src/catalog/Build.ts"
import { builtInCatalog } from "../../../../src/catalog/CatalogFile.ts"
import type { Model } from "../../../../src/domain/Model.ts"
import { amazonBedrock } from "../../../../src/provider/vendors/AmazonBedrock.ts"
import { describe } from "../../../../src/provider/vendors/Vendor.ts"

const vendors = [describe(amazonBedrock("us-east-1"))]
const models = buildModels({ data: builtInCatalog, vendors, configured: [], patches: {} })

/** A model of Bedrock's as the catalog has it. */
export const bedrockModel = (upstreamModel: string): Model => {
  const found = models.find((model) => model.upstreamModel === upstreamModel)
  if (found === undefined) throw new Error(`the catalog does not have ${upstreamModel}`)
  return found
}

export const haiku = bedrockModel("us.anthropic.claude-haiku-4-5-20251001-v1:0")
export const sonnet = bedrockModel("us.anthropic.claude-sonnet-5")
export const opus = bedrockModel("us.anthropic.claude-opus-4-8")
export const nova = bedrockModel("amazon.nova-lite-v1:0")
export const gptOss = bedrockModel("openai.gpt-oss-120b-1:0")
export const gpt = bedrockModel("openai.gpt-5.4")
export const kimi = bedrockModel("moonshotai.kimi-k2.5")
export const grok = bedrockModel("xai.grok-4.3")
