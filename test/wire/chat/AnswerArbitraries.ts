import * as fc from "fast-check"
import type { ChatEvent, Finish } from "../../../src/domain/ChatEvent.ts"
import { RequestId } from "../../../src/domain/Ids.ts"
import type { ResponseStart } from "../../../src/domain/ResponseStart.ts"
import type { RouterMetadata } from "../../../src/domain/RouterMetadata.ts"
import { type Usage, usage as usageOf } from "../../../src/domain/Usage.ts"

export const head: ResponseStart = {
  requestId: RequestId.make("01941f29-7c00-7abc-8def-0123456789ab"),
  createdSeconds: 1_795_160_000,
  model: "acme/large"
}

export const metadata: RouterMetadata = {
  request_id: head.requestId,
  requested_model: "auto",
  provider: "acme",
  model: "acme/large",
  upstream_model: "large-2026",
  reason: "quality_cost_tradeoff",
  routing_config: null,
  alpha: 0.65,
  latency_ms: 12.5,
  first_content_ms: null,
  fallback: { enabled: true, used: false },
  attempts: [],
  cost: { amount_microusd: 5, currency: "USD", basis: "charged" },
  candidate_pool: { models: ["acme/large"] },
  excluded: {},
  dropped_parameters: [],
  policy_version: 1
}

export const counts: Usage = usageOf({
  inputTokens: 7,
  cacheReadTokens: 32,
  cacheWriteTokens: 2,
  outputTokens: 9,
  reasoningTokens: 3,
  details: { inputAudioTokens: 1, outputAudioTokens: 2, acceptedPredictionTokens: 4, rejectedPredictionTokens: 5 }
})

export const finished: Finish = { _tag: "Finish", reason: "stop", native: "end_turn" }

/** Text that has broken readers of event streams, and text that looks like a part of one. */
export const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    "",
    "\r\n",
    "\n\ndata: [DONE]\n\n",
    "event: error",
    "\u2028\u2029\u0085",
    "\ud800",
    "\udc00",
    '"delta":{}'
  )
)

const freeForm = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })

const plainEvent: fc.Arbitrary<ChatEvent> = fc.oneof(
  { arbitrary: fc.record({ _tag: fc.constant("Text" as const), text }), weight: 4 },
  fc.record({
    _tag: fc.constant("Text" as const),
    text,
    logprobs: fc.array(fc.record({ token: text, logprob: fc.constant(-0.5) }), { maxLength: 2 })
  }),
  fc.record({ _tag: fc.constant("Refusal" as const), text }),
  fc.record({ _tag: fc.constant("Annotation" as const), annotation: freeForm }),
  fc.record(
    { _tag: fc.constant("ResponseInfo" as const), model: text, serviceTier: text, systemFingerprint: text },
    { requiredKeys: ["_tag"] }
  ),
  fc.constant({ _tag: "Usage" as const, usage: counts })
)

const audioEvents: fc.Arbitrary<ReadonlyArray<ChatEvent>> = fc
  .array(fc.record({ data: fc.base64String({ maxLength: 8 }), transcript: text }), { maxLength: 3 })
  .map((fragments) =>
    fragments.map(
      (fragment, i): ChatEvent => ({ _tag: "Audio", audio: i === 0 ? { id: "audio_1", ...fragment } : fragment })
    )
  )

const toolEvents: fc.Arbitrary<ReadonlyArray<ChatEvent>> = fc
  .array(
    fc.record({
      kind: fc.constantFrom("function" as const, "custom" as const),
      fragments: fc.array(text, { minLength: 1, maxLength: 4 }),
      extraContent: fc.option(freeForm, { nil: undefined })
    }),
    { maxLength: 3 }
  )
  .map((calls) =>
    calls.flatMap(({ extraContent, fragments, kind }, index) =>
      fragments.map(
        (piece, i): ChatEvent => ({
          _tag: "ToolCall",
          index,
          kind,
          arguments: piece,
          ...(i === 0 ? { id: `call_${index}`, name: `tool_${index}` } : {}),
          ...(i === fragments.length - 1 && extraContent !== undefined ? { extraContent } : {})
        })
      )
    )
  )

const reasoningEvents: fc.Arbitrary<ReadonlyArray<ChatEvent>> = fc
  .array(
    fc.record({
      kind: fc.constantFrom("text" as const, "summary" as const, "encrypted" as const),
      fragments: fc.array(text, { minLength: 1, maxLength: 3 }),
      signature: fc.option(text, { nil: undefined }),
      id: fc.option(fc.string({ minLength: 1, maxLength: 4 }), { nil: undefined })
    }),
    { maxLength: 3 }
  )
  .map((blocks) =>
    blocks.flatMap(({ fragments, id, kind, signature }, index) =>
      fragments.map(
        (piece, i): ChatEvent => ({
          _tag: "Reasoning",
          index,
          kind,
          text: i === 0 && piece === "" ? "…" : piece,
          ...(i === 0 && id !== undefined ? { id } : {}),
          ...(i === fragments.length - 1 && signature !== undefined ? { signature } : {})
        })
      )
    )
  )

/** Events in any order a provider may send them in: each call and each block in its own order, otherwise mixed. */
export const events: fc.Arbitrary<ReadonlyArray<ChatEvent>> = fc
  .tuple(
    fc.array(plainEvent, { maxLength: 8 }),
    toolEvents,
    reasoningEvents,
    audioEvents,
    fc.infiniteStream(fc.nat({ max: 3 }))
  )
  .map(([plain, tools, reasoning, audio, choices]) => {
    const queues = [[...plain], [...tools], [...reasoning], [...audio]]
    const mixed: Array<ChatEvent> = []
    for (const choice of choices) {
      const left = queues.filter((queue) => queue.length > 0)
      const next = left[choice % Math.max(1, left.length)]?.shift()
      if (next === undefined) break
      mixed.push(next)
    }
    return mixed
  })
