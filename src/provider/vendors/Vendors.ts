import { alibaba } from "./Alibaba.ts"
import { amazonBedrock } from "./AmazonBedrock.ts"
import { anthropic } from "./Anthropic.ts"
import { azure } from "./Azure.ts"
import { cerebras } from "./Cerebras.ts"
import { cohere } from "./Cohere.ts"
import { deepseek } from "./DeepSeek.ts"
import { fireworksAi } from "./FireworksAi.ts"
import { google } from "./Google.ts"
import { googleVertex } from "./GoogleVertex.ts"
import { groq } from "./Groq.ts"
import { minimax } from "./MiniMax.ts"
import { mistral } from "./Mistral.ts"
import { moonshotai } from "./MoonshotAi.ts"
import { openai } from "./OpenAi.ts"
import { openrouter } from "./OpenRouter.ts"
import { togetherai } from "./TogetherAi.ts"
import type { Vendor } from "./Vendor.ts"
import { xai } from "./Xai.ts"
import { zai } from "./Zai.ts"

/** Every built-in vendor; Amazon Bedrock with its default region. */
export const vendors: ReadonlyArray<Vendor> = [
  alibaba,
  amazonBedrock("us-east-1"),
  anthropic,
  azure,
  cerebras,
  cohere,
  deepseek,
  fireworksAi,
  google,
  googleVertex,
  groq,
  minimax,
  mistral,
  moonshotai,
  openai,
  openrouter,
  togetherai,
  xai,
  zai
]

/** The others need a region or a base URL as well. */
export const vendorsWithKeyAlone: ReadonlyArray<Vendor> = vendors.filter(
  ({ credentialEnv }) => credentialEnv.length > 0
)

const byId: ReadonlyMap<string, Vendor> = new Map(vendors.map((vendor) => [vendor.id, vendor]))

export const vendorOf = (id: string): Vendor | undefined => byId.get(id)
