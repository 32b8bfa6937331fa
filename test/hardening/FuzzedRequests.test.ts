import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { randomOf } from "../../scripts/fuzz/random.mjs"
import { type EndpointName, endpointNames, requestOf } from "../../scripts/fuzz/requests.mjs"
import type { ChatRequest } from "../../src/domain/Chat.ts"
import * as Estimate from "../../src/ledger/Estimate.ts"
import { anthropicMessages } from "../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../src/provider/protocols/gemini/Gemini.ts"
import * as OpenAiChat from "../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { compatible, openAi } from "../../src/provider/protocols/openai-chat/Quirks.ts"
import type { Protocol } from "../../src/provider/protocols/shared/Protocol.ts"
import { answerTo } from "../../src/provider/simulated/Answers.ts"
import { promptOf, promptTokens } from "../../src/provider/simulated/Prompt.ts"
import { requirementsOf } from "../../src/routing/Requirements.ts"
import * as Chat from "../../src/wire/chat/ChatRequest.ts"
import * as Messages from "../../src/wire/messages/MessagesRequest.ts"
import * as Responses from "../../src/wire/responses/ResponsesRequest.ts"
import { call } from "../provider/protocols/calls.ts"

const runs = 500

const protocols: ReadonlyArray<readonly [string, Protocol]> = [
  ["OpenAI chat", OpenAiChat.make(openAi)],
  ["a compatible server", OpenAiChat.make(compatible)],
  ["Anthropic Messages", anthropicMessages],
  ["Bedrock Converse", bedrockConverse],
  ["Gemini, JSON schemas", Gemini.make("json")],
  ["Gemini, OpenAPI schemas", Gemini.make("openapi")]
]

const requestIn = ({ request }: { readonly request: ChatRequest }): ChatRequest => request

const decoders: Readonly<Record<EndpointName, (json: unknown) => Either.Either<ChatRequest, unknown>>> = {
  chat: Chat.decode,
  responses: (json) => Either.map(Responses.decode(json), requestIn),
  messages: (json) => Either.map(Messages.decode(json), requestIn)
}

const decoded = (endpoint: EndpointName, json: unknown): ChatRequest | undefined =>
  Either.getOrUndefined(decoders[endpoint](json))

describe.each(endpointNames)("500 requests that are changed at random, for %s", (endpoint) => {
  it("are refused, or become a body or a refusal of every protocol, without a defect", { timeout: 120_000 }, () => {
    let accepted = 0
    for (let seed = 1; seed <= runs; seed++) {
      const text: string = requestOf(randomOf(seed), endpoint, "acme/large")
      const request = decoded(endpoint, JSON.parse(text))
      if (request === undefined) continue
      accepted++
      const measure = Estimate.estimatePrompt(request, Math.random)
      expect(measure.utf8Bytes, `seed ${seed}`).toBeGreaterThanOrEqual(0)
      requirementsOf(request, true)
      const prompt = promptOf(request)
      expect(promptTokens(request, 1_000), `seed ${seed}`).toBeGreaterThanOrEqual(0)
      answerTo(request, prompt, "sim/fast")
      for (const [name, protocol] of protocols) {
        const body = protocol.lower(call(request))
        if (typeof body !== "string" && "_tag" in body)
          expect(body._tag, `seed ${seed}, ${name}`).toBe("RequestRejected")
        else expect(JSON.parse(String(body)), `seed ${seed}, ${name}`).toBeTypeOf("object")
      }
    }
    expect(accepted).toBeGreaterThan(runs / 4)
  })
})
