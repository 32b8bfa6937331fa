import * as OpenAiChat from "../../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { openAi } from "../../../../src/provider/protocols/openai-chat/Quirks.ts"
import * as Auth from "../../../../src/provider/transport/Auth.ts"
import { start } from "../../../../src/testing/simulators/openai/OpenAiSimulator.ts"
import { model } from "../calls.ts"
import { protocolContract } from "../ProtocolContract.ts"

protocolContract({
  name: "openai-chat",
  start,
  protocol: OpenAiChat.make(openAi),
  auth: Auth.bearer,
  model: model(),
  reasoning: model({
    reasoning: {
      efforts: ["low", "high"],
      style: "effort",
      budget: null,
      defaultEffort: null,
      mandatory: false,
      depth: null
    }
  })
})
