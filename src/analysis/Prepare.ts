import type { CapturedBlock, CapturedCall, CapturedConversation } from "../domain/CapturedCall.ts"
import type { Message, Tool } from "../domain/Chat.ts"
import type { PromptCache } from "../domain/Model.ts"
import { type Count, factsOf, hashOf, parsesAsJson } from "./TextFacts.ts"
import {
  type BlockFacts,
  Interner,
  type WorkBlock,
  type WorkCall,
  type WorkConversation,
  type Workload
} from "./Workload.ts"

/** Turns captured conversations into a workload, one after the other: texts are read and forgotten, figures and keys stay. */
export class Preparation {
  private readonly interner = new Interner()
  private readonly calls: Array<WorkCall> = []
  private readonly conversations: Array<WorkConversation> = []
  private readonly known = new Map<string, { tokens: number; facts: BlockFacts | null }>()
  private readonly count: Count
  private readonly cacheOf: (model: string) => PromptCache | null

  constructor(count: Count, cacheOf: (model: string) => PromptCache | null) {
    this.count = count
    this.cacheOf = cacheOf
  }

  add(
    { conversation, inclusion }: Pick<CapturedConversation, "conversation" | "inclusion">,
    calls: ReadonlyArray<CapturedCall>
  ): void {
    const position = this.conversations.length
    this.conversations.push({ id: conversation, inclusion })
    this.known.clear()
    const answered = calls.at(-1)?.request.messages?.filter(({ role }) => role === "assistant") ?? []
    const later = [...answered, ...calls.map(({ response }) => response?.message ?? null)].map(textOf).join("\n")
    for (const call of calls) this.calls.push(this.callOf(call, position, later))
  }

  workload(): Workload {
    const calls = [...this.calls].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    return { calls, conversations: this.conversations }
  }

  private callOf(call: CapturedCall, conversation: number, later: string): WorkCall {
    const last = call.attempts.at(-1)
    const failed = call.attempts.filter(({ status }) => status === "error" || status === "timeout")
    const { messages, params, tools } = call.request
    const texts = textsOf(messages, tools)
    const blocks = call.truncated
      ? []
      : call.request.blocks.map((block, position) =>
          this.blockOf(block, texts?.[position], later, call.request.params.cacheMark)
        )
    const marked = markedAtEnd(blocks, params.cacheMark)
    const answer = textOf(call.response?.message ?? null)
    return {
      id: call.requestId,
      conversation,
      at: call.capturedAt,
      route: last?.model ?? call.decision.requestedModel,
      pinned: call.decision.reason === "pinned_model",
      failedAttempts: call.status === "success" ? failed.length : Math.max(0, failed.length - 1),
      failedMillis: failed.reduce((sum, { latencyMillis }) => sum + latencyMillis, 0),
      status: call.status,
      finish: call.response?.finish ?? null,
      blocks: marked,
      request: this.requestOf(call, marked),
      response:
        call.response === null
          ? null
          : {
              text: this.interner.keyOf(answer === "" ? `id ${call.response.block.id}` : `text ${hashOf(answer)}`),
              json:
                answer === "" ? call.response.block.looks.some((look) => look.startsWith("json")) : parsesAsJson(answer)
            },
      usage: call.usage,
      chargedMicroUsd: call.cost.amount_microusd,
      prices: call.prices,
      cache: last === undefined ? null : this.cacheOf(last.model),
      temperature: params.temperature ?? null,
      maxOutputTokens: params.maxOutputTokens ?? null,
      latencyMillis: call.latencyMillis,
      class: call.class,
      wantsJson: wantsJson(call),
      toolsOffered: call.request.toolsOffered,
      toolsCalled: [...new Set([...call.request.toolsCalled, ...calledIn(messages)])],
      images: call.request.media.flatMap(({ pixels }) => (pixels === null ? [] : [pixels]))
    }
  }

  private blockOf(
    block: CapturedBlock,
    text: string | undefined,
    later: string,
    whole: "5m" | "1h" | undefined
  ): WorkBlock {
    const textKey = text === undefined ? `id ${block.id}` : `text ${hashOf(text)}`
    const name = `${block.kind} ${textKey}`
    let known = this.known.get(name)
    if (known === undefined) {
      known =
        text === undefined
          ? { tokens: block.bytes / bytesPerToken, facts: null }
          : {
              tokens: this.count(text) + framingTokens,
              facts: factsOf(text, block.kind, later, this.count, this.interner)
            }
      this.known.set(name, known)
    }
    return {
      key: this.interner.keyOf(`raw ${block.id}`),
      canonical: this.interner.keyOf(`canonical ${block.canonicalId}`),
      text: this.interner.keyOf(textKey),
      kind: block.kind,
      tool: block.tool,
      tokens: known.tokens,
      mark: block.cacheMark === null ? null : (whole ?? block.cacheMark),
      facts: known.facts
    }
  }

  /** Times and ids that a client puts into its instructions are no part of what it asks for; those of its messages are. */
  private requestOf(call: CapturedCall, blocks: ReadonlyArray<WorkBlock>): number {
    if (call.truncated) return this.interner.keyOf(`request ${call.requestId}`)
    const { maxOutputTokens: _, stream: __, ...params } = call.request.params
    const keys = blocks.map(({ canonical, key, kind }) => (kind === "system" || kind === "tool" ? canonical : key))
    return this.interner.keyOf(`request ${call.decision.requestedModel} ${keys.join(" ")} ${JSON.stringify(params)}`)
  }
}

/** JSON of prompts, in fingerprint mode: calibration by the route's bills corrects the mean. */
const bytesPerToken = 4
/** What a provider adds to each message for its role. */
const framingTokens = 4

const markedAtEnd = (blocks: ReadonlyArray<WorkBlock>, whole: "5m" | "1h" | undefined): ReadonlyArray<WorkBlock> =>
  whole === undefined
    ? blocks
    : blocks.map((block, position) => (position === blocks.length - 1 ? { ...block, mark: whole } : block))

/** One for each tool, then one for each message: the order of the blocks. */
const textsOf = (
  messages: ReadonlyArray<Message> | null,
  tools: ReadonlyArray<Tool> | null
): ReadonlyArray<string> | undefined =>
  messages === null ? undefined : [...(tools ?? []).map((tool) => JSON.stringify(tool)), ...messages.map(textOf)]

/** What the model reads of a message. */
export const textOf = (message: Message | null): string => {
  if (message === null) return ""
  const content = message.content ?? ""
  const text =
    typeof content === "string"
      ? content
      : content
          .map((part) => (part.type === "text" ? part.text : part.type === "refusal" ? part.refusal : ""))
          .join("\n")
  if (message.role !== "assistant") return text
  const calls = (message.tool_calls ?? []).map((call) =>
    call.type === "function"
      ? `${call.function.name} ${call.function.arguments}`
      : `${call.custom.name} ${call.custom.input}`
  )
  return [text, ...calls].filter((part) => part !== "").join("\n")
}

const calledIn = (messages: ReadonlyArray<Message> | null): ReadonlyArray<string> =>
  (messages ?? []).flatMap((message) =>
    message.role === "assistant"
      ? (message.tool_calls ?? []).map((call) => (call.type === "function" ? call.function.name : call.custom.name))
      : []
  )

const wantsJson = ({ request }: CapturedCall): boolean => {
  const type = request.params.responseFormat?.["type"]
  if (type === "json_object" || type === "json_schema") return true
  return (request.messages ?? []).some((message) => {
    if (message.role === "assistant" || message.role === "tool") return false
    return /\bjson\b/iu.test(textOf(message))
  })
}
