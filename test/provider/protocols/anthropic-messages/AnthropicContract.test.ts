import { anthropicMessages } from "../../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import * as Auth from "../../../../src/provider/transport/Auth.ts"
import { start } from "../../../../src/testing/simulators/anthropic/AnthropicSimulator.ts"
import { protocolContract } from "../ProtocolContract.ts"
import { claude } from "./claude.ts"

protocolContract({
  name: "anthropic-messages",
  start,
  protocol: anthropicMessages,
  auth: Auth.header("x-api-key"),
  model: claude("claude-opus-4-8"),
  reasoning: claude("claude-sonnet-5")
})

protocolContract({
  name: "anthropic-messages with a budget",
  start,
  protocol: anthropicMessages,
  auth: Auth.header("x-api-key"),
  model: claude("claude-haiku-4-5"),
  reasoning: claude("claude-sonnet-4-5")
})
