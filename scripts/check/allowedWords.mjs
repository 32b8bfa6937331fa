// @ts-check

/**
 * What `words.mjs` lets pass: an identifier or a string that is exactly one of the texts, or a longer text around the word, in these
 * files. An entry that is not used is an error.
 *
 * @typedef {{ reason: string, files: ReadonlyArray<string>, texts: ReadonlyArray<string> }} AllowedText
 */

/** Folders that are not checked: landed SQL cannot change, and this folder names the words. */
export const exemptFolders = ["src/sql/migrations/", "scripts/check/"]

/** @type {ReadonlyArray<AllowedText>} */
export const allowedWords = [
  {
    reason: "prompts as people write them",
    files: [
      "test/routing/quality/casualPairs.ts",
      "test/routing/quality/unseenPairs.ts",
      "test/routing/quality/variedPairs.ts"
    ],
    texts: [
      "The door had been locked",
      "central thoughts",
      "Her book has",
      "A book has",
      "for a house",
      "a house is painted",
      "opened the door",
      "somebody has opened"
    ]
  },
  {
    reason: "a prompt that is measured as it is",
    files: ["test/routing/quality/readPairs.ts"],
    texts: ["takes for ever"]
  },
  {
    reason: "an answer of the simulated provider",
    files: ["src/provider/simulated/Answers.ts"],
    texts: ["look at it once more"]
  },
  {
    reason: "key of GATEWAY_CONFIG, public",
    files: [
      "src/config/GatewayConfig.ts",
      "src/config/Settings.ts",
      "src/gateway/Attempt.ts",
      "src/domain/DefaultOptions.ts",
      "src/gateway/Deadlines.ts",
      "test/config/GatewayConfig.test.ts",
      "test/e2e/Fallback.test.ts",
      "test/e2e/SpendLimit.test.ts",
      "test/faults/FaultHarness.ts",
      "test/gateway/Deadlines.test.ts",
      "test/gateway/StreamEnds.test.ts",
      "test/library/WrongOptions.test.ts",
      "scripts/bench/faults/sides.mjs"
    ],
    texts: ["plainAnswerMillis"]
  },
  {
    reason: "account of the journal, named in landed SQL",
    files: ["src/ledger/LedgerInvariants.ts", "test/ledger/LedgerStore.test.ts", "test/ledger/Recovery.test.ts"],
    texts: ["house", "'house'"]
  },
  {
    reason: "fields and block types of Anthropic Messages, also at Bedrock",
    files: [
      "src/provider/protocols/anthropic-messages/ContentBlocks.ts",
      "src/provider/protocols/anthropic-messages/Lower.ts",
      "src/provider/protocols/anthropic-messages/Messages.ts",
      "src/provider/protocols/anthropic-messages/Reasoning.ts",
      "src/provider/protocols/bedrock-converse/Family.ts",
      "src/provider/protocols/bedrock-converse/Reasoning.ts",
      "src/testing/simulators/anthropic/AnthropicAnswer.ts",
      "src/testing/simulators/anthropic/AnthropicContentRules.ts",
      "src/testing/simulators/anthropic/AnthropicFields.ts",
      "src/testing/simulators/anthropic/AnthropicRules.ts",
      "src/testing/simulators/anthropic/AnthropicSignatures.ts",
      "src/testing/simulators/bedrock/BedrockContentRules.ts",
      "src/testing/simulators/bedrock/BedrockModels.ts",
      "src/testing/simulators/bedrock/BedrockRules.ts",
      "test/hardening/AnswerShapes.ts",
      "test/provider/protocols/anthropic-messages/AnthropicConversation.test.ts",
      "test/provider/protocols/anthropic-messages/AnthropicDecode.test.ts",
      "test/provider/protocols/anthropic-messages/AnthropicLower.test.ts",
      "test/provider/protocols/anthropic-messages/AnthropicSdk.test.ts",
      "test/provider/protocols/StreamedAndPlain.test.ts",
      "test/provider/protocols/bedrock-converse/BedrockLower.test.ts",
      "test/testing/simulators/AnthropicSimulator.test.ts",
      "test/testing/simulators/BedrockSimulator.test.ts",
      "scripts/acceptance/oracles/clients/anthropic.mjs",
      "scripts/acceptance/oracles/clients/bedrock.mjs",
      "scripts/fuzz/answers.mjs"
    ],
    texts: [
      "thinking",
      "redacted_thinking",
      "thinking_tokens",
      'type: "thinking", thinking: string',
      "additionalModelRequestFields.thinking.type"
    ]
  },
  {
    reason: "fields of the Messages format",
    files: [
      "src/wire/messages/",
      "test/e2e/InterleavedReasoning.test.ts",
      "test/e2e/MessagesAgent.test.ts",
      "test/e2e/MessagesConversation.test.ts",
      "test/hardening/RequestShapes.ts",
      "test/http/routes/MessagesRoutes.test.ts",
      "test/wire/messages/",
      "scripts/fuzz/requests.mjs"
    ],
    texts: ["thinking", "thinking_tokens", ".thinking", "thinking block", "thinking.budget_tokens", "thinking.type"]
  },
  {
    reason: "capabilities in Anthropic's model list",
    files: [
      "src/wire/models/AnthropicModelList.ts",
      "src/wire/models/AnthropicModelListSchema.ts",
      "test/wire/models/AnthropicModelList.test.ts"
    ],
    texts: ["thinking", "clear_thinking_20251015"]
  },
  {
    reason: "error messages of Anthropic Messages",
    files: [
      "src/testing/simulators/anthropic/AnthropicContentRules.ts",
      "src/testing/simulators/anthropic/AnthropicRules.ts",
      "src/testing/simulators/bedrock/BedrockContentRules.ts",
      "src/testing/simulators/bedrock/BedrockRules.ts"
    ],
    texts: [
      "the final block cannot be thinking",
      "Invalid signature in thinking block",
      "when thinking is enabled",
      "Thinking may not be enabled when tool_choice forces tool use.",
      "thinking.type: ",
      "thinking.display",
      "thinking.budget_tokens"
    ]
  },
  {
    reason: "fields of chat completions at vendors",
    files: [
      "src/provider/protocols/openai-chat/Decode.ts",
      "src/provider/protocols/openai-chat/Quirks.ts",
      "test/provider/protocols/openai-chat/OpenAiChatDecode.test.ts",
      "test/provider/protocols/openai-chat/OpenAiChatLower.test.ts"
    ],
    texts: ["thinking", "enable_thinking", "thinking_budget"]
  },
  {
    reason: "fields of Gemini",
    files: [
      "src/provider/protocols/gemini/Decode.ts",
      "src/provider/protocols/gemini/FunctionCalls.ts",
      "src/provider/protocols/gemini/Messages.ts",
      "src/provider/protocols/gemini/Reasoning.ts",
      "src/testing/simulators/gemini/GeminiAnswer.ts",
      "src/testing/simulators/gemini/GeminiContentRules.ts",
      "src/testing/simulators/gemini/GeminiRules.ts",
      "test/provider/protocols/gemini/GeminiDecode.test.ts",
      "test/provider/protocols/gemini/GeminiLower.test.ts",
      "test/provider/protocols/StreamedAndPlain.test.ts",
      "test/support/Native.ts",
      "test/testing/simulators/GeminiSimulator.test.ts",
      "test/wire/chat/ChatAnswer.test.ts",
      "test/wire/responses/ResponsesInput.test.ts",
      "test/wire/responses/ResponsesObject.test.ts",
      "scripts/acceptance/oracles/clients/gemini.mjs",
      "scripts/fuzz/answers.mjs"
    ],
    texts: [
      "thought",
      "thoughtSignature",
      "thought_signature",
      "thoughtsTokenCount",
      "includeThoughts",
      "thinkingConfig",
      "thinkingBudget",
      "thinkingLevel"
    ]
  },
  {
    reason: "error messages of Gemini",
    files: ["src/testing/simulators/gemini/GeminiContentRules.ts", "src/testing/simulators/gemini/GeminiRules.ts"],
    texts: [
      "Thought signature is not valid.",
      "You can only set one of thinking budget and thinking level.",
      "Thinking level is not supported for this model.",
      "This model only works in thinking mode.",
      "include_thoughts is only enabled when thinking is enabled."
    ]
  }
]
