import * as Auth from "../../src/provider/Auth.ts"
import { anthropicMessages } from "../../src/provider/protocols/AnthropicMessages.ts"
import { start } from "../../src/testing/simulators/AnthropicSimulator.ts"
import { claude } from "./claude.ts"
import { protocolContract } from "./ProtocolContract.ts"

protocolContract({
  name: "anthropic-messages",
  start,
  protocol: anthropicMessages,
  auth: Auth.header("x-api-key"),
  model: claude("claude-opus-4-8"),
  thinking: claude("claude-sonnet-5")
})

protocolContract({
  name: "anthropic-messages with a budget",
  start,
  protocol: anthropicMessages,
  auth: Auth.header("x-api-key"),
  model: claude("claude-haiku-4-5"),
  thinking: claude("claude-sonnet-4-5")
})
