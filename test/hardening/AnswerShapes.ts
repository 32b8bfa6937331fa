import type { ChatEvent } from "../../src/domain/ChatEvent.ts"
import type { ProtocolId } from "../../src/domain/Support.ts"
import { write } from "../../src/wire/framing/EventStream.ts"

/** Answers of upstreams that have been hard on some step, each as it grows with `size`. */
export interface AnswerShape {
  readonly name: string
  readonly protocol: Exclude<ProtocolId, "simulated">
  readonly size: number
  readonly stream: (size: number) => ReadonlyArray<Uint8Array>
}

type Json = Readonly<Record<string, unknown>>

const times = <A>(count: number, make: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => make(at))

const sse = (events: ReadonlyArray<Json>): ReadonlyArray<Uint8Array> =>
  events.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`))

const delta = (fields: Json, more: Json = {}): Json => ({ choices: [{ index: 0, delta: fields, ...more }] })
const openAi = (name: string, size: number, deltas: (size: number) => ReadonlyArray<Json>): AnswerShape => ({
  name,
  size,
  protocol: "openai-chat",
  stream: (n) => [...sse([...deltas(n), delta({}, { finish_reason: "stop" })]), Buffer.from("data: [DONE]\n\n")]
})
const openAiCall = (index: number, text: string, isFirst = true): Json =>
  delta({
    tool_calls: [
      isFirst
        ? { index, id: `c${index}`, type: "function", function: { name: "f", arguments: text } }
        : { index, function: { arguments: text } }
    ]
  })

const anthropic = (name: string, size: number, blocks: (size: number) => ReadonlyArray<Json>): AnswerShape => ({
  name,
  size,
  protocol: "anthropic-messages",
  stream: (n) =>
    sse([
      { type: "message_start", message: { id: "m", model: "m", usage: { input_tokens: 1, output_tokens: 1 } } },
      ...blocks(n),
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" }
    ])
})
const block = (index: number, content: Json, deltas: ReadonlyArray<Json>): ReadonlyArray<Json> => [
  { type: "content_block_start", index, content_block: content },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index }
]

const gemini = (
  name: string,
  size: number,
  parts: (size: number) => ReadonlyArray<ReadonlyArray<Json>>
): AnswerShape => ({
  name,
  size,
  protocol: "gemini",
  stream: (n) =>
    sse([
      ...parts(n).map((one) => ({ candidates: [{ index: 0, content: { role: "model", parts: one } }] })),
      { candidates: [{ index: 0, finishReason: "STOP" }] }
    ])
})

const bedrockEvent = (type: string, payload: Json): Uint8Array =>
  write(
    {
      ":message-type": { type: "string", value: "event" },
      ":event-type": { type: "string", value: type },
      ":content-type": { type: "string", value: "application/json" }
    },
    Buffer.from(JSON.stringify(payload))
  )
const bedrock = (name: string, size: number, blocks: (size: number) => ReadonlyArray<Uint8Array>): AnswerShape => ({
  name,
  size,
  protocol: "bedrock-converse",
  stream: (n) => [
    bedrockEvent("messageStart", { role: "assistant" }),
    ...blocks(n),
    bedrockEvent("messageStop", { stopReason: "end_turn" }),
    bedrockEvent("metadata", { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } })
  ]
})

const pieces = (count: number): ReadonlyArray<string> => ['{"a":"', ...times(count, () => "xxxx"), '"}']

export const answerShapes: ReadonlyArray<AnswerShape> = [
  openAi("many events", 2_000, (n) => times(n, (at) => delta({ content: `w${at} ` }))),
  openAi("many tool calls", 250, (n) => times(n, (at) => openAiCall(at, "{}"))),
  openAi("arguments in small pieces", 2_000, (n) => pieces(n).map((text, at) => openAiCall(0, text, at === 0))),
  openAi("many annotations", 1_000, (n) =>
    times(n, (at) => delta({ content: "a", annotations: [{ type: "url_citation", url_citation: { url: `u${at}` } }] }))
  ),
  anthropic("many events", 2_000, (n) =>
    block(
      0,
      { type: "text", text: "" },
      times(n, (at) => ({ type: "text_delta", text: `w${at} ` }))
    )
  ),
  anthropic("many tool calls", 250, (n) =>
    times(n, (at) =>
      block(at, { type: "tool_use", id: `c${at}`, name: "f", input: {} }, [
        { type: "input_json_delta", partial_json: "{}" }
      ])
    ).flat()
  ),
  anthropic("arguments in small pieces", 2_000, (n) =>
    block(
      0,
      { type: "tool_use", id: "c", name: "f", input: {} },
      pieces(n).map((text) => ({ type: "input_json_delta", partial_json: text }))
    )
  ),
  anthropic("many reasoning blocks", 250, (n) =>
    times(n, (at) =>
      block(at, { type: "thinking", thinking: "" }, [
        { type: "thinking_delta", thinking: "t" },
        { type: "signature_delta", signature: "s" }
      ])
    ).flat()
  ),
  gemini("many events", 2_000, (n) => times(n, (at) => [{ text: `w${at} ` }])),
  gemini("many tool calls", 250, (n) => times(n, (at) => [{ functionCall: { name: "f", args: { at } } }])),
  gemini("many parts", 2_000, (n) => [times(n, (at) => ({ text: `w${at} ` }))]),
  bedrock("many events", 2_000, (n) =>
    times(n, (at) => bedrockEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: `w${at} ` } }))
  ),
  bedrock("many tool calls", 250, (n) =>
    times(n, (at) => [
      bedrockEvent("contentBlockStart", {
        contentBlockIndex: at,
        start: { toolUse: { toolUseId: `c${at}`, name: "f" } }
      }),
      bedrockEvent("contentBlockDelta", { contentBlockIndex: at, delta: { toolUse: { input: "{}" } } }),
      bedrockEvent("contentBlockStop", { contentBlockIndex: at })
    ]).flat()
  ),
  bedrock("arguments in small pieces", 2_000, (n) => [
    bedrockEvent("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "c", name: "f" } } }),
    ...pieces(n).map((input) =>
      bedrockEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input } } })
    ),
    bedrockEvent("contentBlockStop", { contentBlockIndex: 0 })
  ])
]

/** Events as a protocol would have made them, for the encoders. */
export const eventShapes: ReadonlyArray<readonly [string, number, (size: number) => ReadonlyArray<ChatEvent>]> = [
  ["many deltas", 2_000, (n) => times(n, (at) => ({ _tag: "Text", text: `w${at} ` }))],
  [
    "calls in small pieces",
    250,
    (n) =>
      times(
        n,
        (index): ReadonlyArray<ChatEvent> => [
          { _tag: "ToolCall", index, kind: "function", id: `c${index}`, name: "f", arguments: "{" },
          { _tag: "ToolCall", index, kind: "function", arguments: "}" }
        ]
      ).flat()
  ],
  [
    "pieces of parallel calls by turns",
    250,
    (n) => [
      ...times(
        n,
        (index): ChatEvent => ({
          _tag: "ToolCall",
          index,
          kind: "function",
          id: `c${index}`,
          name: "f",
          arguments: '{"a":'
        })
      ),
      ...times(n, (index): ChatEvent => ({ _tag: "ToolCall", index: n - 1 - index, kind: "function", arguments: "1}" }))
    ]
  ],
  [
    "reasoning blocks",
    500,
    (n) => times(n, (index): ChatEvent => ({ _tag: "Reasoning", index, kind: "text", text: "t", signature: "s" }))
  ],
  [
    "text and refusals by turns",
    500,
    (n) => times(n, (at): ChatEvent => (at % 2 === 0 ? { _tag: "Text", text: "t" } : { _tag: "Refusal", text: "r" }))
  ],
  [
    "annotations",
    1_000,
    (n) =>
      times(
        n,
        (): ChatEvent => ({
          _tag: "Annotation",
          annotation: { type: "url_citation", url_citation: { url: "https://example.com/" } }
        })
      )
  ]
]
