import { bedrockConverse } from "../../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import { understandsForeignServer } from "../ForeignServer.ts"
import { haiku } from "./bedrock.ts"

understandsForeignServer({
  name: "Bedrock",
  protocol: bedrockConverse,
  model: haiku,
  root: "",
  usage: { prompt_tokens: 3, completion_tokens: 4 },
  rateLimitType: "ThrottlingException"
})
