import * as Either from "effect/Either"
import type { ChatEvent, Finish } from "../../../src/domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../../../src/domain/Completion.ts"
import type { InvalidRequest } from "../../../src/domain/GatewayError.ts"
import { RequestId } from "../../../src/domain/Ids.ts"
import type { ResponseStart } from "../../../src/domain/ResponseStart.ts"
import type { RouterMetadata } from "../../../src/domain/RouterMetadata.ts"
import { type Usage, usage } from "../../../src/domain/Usage.ts"
import { type DecodedResponses, decode } from "../../../src/wire/responses/ResponsesRequest.ts"

export const head: ResponseStart = {
  requestId: RequestId.make("01890a5d-ac96-774b-bcce-b302099a8057"),
  createdSeconds: 1_795_160_000,
  model: "acme/large"
}
export const idHex = "01890a5dac96774bbcceb302099a8057"

export const metadata: RouterMetadata = {
  request_id: head.requestId,
  requested_model: "auto",
  provider: "acme",
  model: "acme/large",
  upstream_model: "large",
  reason: "quality_cost_tradeoff",
  routing_config: null,
  alpha: 0.65,
  latency_ms: 2_500,
  first_content_ms: 300,
  fallback: { enabled: true, used: false },
  attempts: [],
  cost: { amount_microusd: 12, currency: "USD", basis: "charged" },
  candidate_pool: { models: ["acme/large"] },
  excluded: {},
  dropped_parameters: [],
  policy_version: 1
}

export const someUsage: Usage = usage({
  inputTokens: 10,
  cacheReadTokens: 20,
  cacheWriteTokens: 3,
  outputTokens: 5,
  reasoningTokens: 7
})

export const decoded = (body: object): DecodedResponses =>
  Either.getOrThrowWith(decode({ model: "auto", input: "hi", ...body }), (error) => error)

export const refusal = (body: unknown): InvalidRequest =>
  Either.match(decode(body), {
    onLeft: (error) => error,
    onRight: () => {
      throw new Error("the request was accepted")
    }
  })

/** `code param` of the refusal of a request that would be fine without these fields. */
export const refused = (body: object): string => {
  const { code, param } = refusal(JSON.parse(JSON.stringify({ model: "auto", input: "hi", ...body })))
  return `${code} ${param}`
}

export const answerOf = (events: Iterable<ChatEvent>, finish: Finish, counts: Usage | null = someUsage): Answer => {
  const accumulator = new Accumulator()
  for (const event of events) accumulator.add(event)
  accumulator.add(finish)
  if (counts !== null) accumulator.add({ _tag: "Usage", usage: counts })
  const { answer } = accumulator
  if (answer === undefined) throw new Error("an answer with a finish is whole")
  return answer
}
