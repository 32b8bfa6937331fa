import type { AnalysedCall, CapturedBlock, CapturedConversation } from "../domain/CapturedCall.ts"
import type { Message, Tool } from "../domain/Chat.ts"
import type { PromptCache } from "../domain/Model.ts"
import { promptTokens } from "../domain/Usage.ts"
import {
  type Calibration,
  type CountedPrompt,
  calibrate,
  onlyTokens,
  type TextCounts,
  tokensWith
} from "./Calibration.ts"
import { type Count, type CountedFacts, factsOf, hashOf, parsesAsJson } from "./TextFacts.ts"
import { Interner, type WorkBlock, type WorkCall, type WorkConversation, type Workload } from "./Workload.ts"

/** Turns captured conversations into a workload, one after the other: texts are read and forgotten, figures and keys stay. */
export class Preparation {
  private readonly interner = new Interner()
  private readonly calls: Array<CountedCall> = []
  private readonly conversations: Array<WorkConversation> = []
  private readonly known = new Map<string, CountedBlock>()
  private readonly texts = new Map<string, Pick<CountedBlock, "counts" | "facts">>()
  private readonly count: Count
  private readonly cacheOf: (model: string) => PromptCache | null
  /** A call was charged to the account: in a project that pays its providers itself, each cost is an estimate. */
  private hasCharged = false

  constructor(count: Count, cacheOf: (model: string) => PromptCache | null) {
    this.count = count
    this.cacheOf = cacheOf
  }

  add(
    { conversation, inclusion }: Pick<CapturedConversation, "conversation" | "inclusion">,
    calls: ReadonlyArray<AnalysedCall>
  ): void {
    const position = this.conversations.length
    this.hasCharged ||= calls.some(isCharged)
    this.conversations.push({ id: conversation, inclusion })
    this.known.clear()
    this.texts.clear()
    const answered = calls.at(-1)?.request.messages?.filter(({ role }) => role === "assistant") ?? []
    const later = [...answered, ...calls.map(({ response }) => response?.message ?? null)].map(textOf).join("\n")
    for (const call of calls) this.calls.push(this.callOf(call, position, later))
  }

  /** @param fromMillis Calls from before are in no figure: what was cached or asked before is known by them. */
  workload(fromMillis = Number.NEGATIVE_INFINITY): Workload {
    const counted = [...this.calls].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    const routes = new Map<string, (block: CountedBlock) => WorkBlock>()
    for (const route of new Set(counted.map((call) => call.route))) {
      routes.set(route, billedBlocks(calibrate(promptsOf(counted.filter((call) => call.route === route)))))
    }
    const calls = counted.map((call) => {
      const billed = routes.get(call.route)
      const isInRange = call.at >= fromMillis
      const isEstimated = call.isEstimated ?? this.hasCharged
      return { ...call, isInRange, isEstimated, blocks: billed === undefined ? [] : call.blocks.map(billed) }
    })
    return { calls, conversations: this.conversations }
  }

  private callOf(call: AnalysedCall, conversation: number, later: string): CountedCall {
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
      isEstimated: isEstimated(call),
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

  /** A block is the same object in all calls of a conversation. */
  private blockOf(
    block: CapturedBlock,
    text: string | undefined,
    later: string,
    whole: "5m" | "1h" | undefined
  ): CountedBlock {
    const mark = block.cacheMark === null ? null : (whole ?? block.cacheMark)
    const name = `${block.id} ${block.canonicalId} ${block.kind} ${mark} ${text === undefined} ${block.tool}`
    const known = this.known.get(name)
    if (known !== undefined) return known
    const textKey = text === undefined ? `id ${block.id}` : `text ${hashOf(text)}`
    const fresh: CountedBlock = {
      key: this.interner.keyOf(`raw ${block.id}`),
      canonical: this.interner.keyOf(`canonical ${block.canonicalId}`),
      text: this.interner.keyOf(textKey),
      kind: block.kind,
      tool: block.tool,
      mark,
      ...this.countedOf(block, text, textKey, later)
    }
    this.known.set(name, fresh)
    return fresh
  }

  private countedOf(
    { bytes, kind }: CapturedBlock,
    text: string | undefined,
    textKey: string,
    later: string
  ): Pick<CountedBlock, "counts" | "facts"> {
    if (text === undefined) return { counts: onlyTokens(bytes / bytesPerToken), facts: null }
    const known = this.texts.get(`${kind} ${textKey}`)
    if (known !== undefined) return known
    const counts = this.count(text)
    const fresh = { counts, facts: factsOf(text, kind, counts, later, this.count, this.interner) }
    this.texts.set(`${kind} ${textKey}`, fresh)
    return fresh
  }

  /** Times and ids that a client puts into its instructions are no part of what it asks for; those of its messages are. */
  private requestOf(call: AnalysedCall, blocks: ReadonlyArray<CountedBlock>): number {
    if (call.truncated) return this.interner.keyOf(`request ${call.requestId}`)
    const { cacheMark: _, maxOutputTokens: __, stream: ___, ...params } = call.request.params
    const keys = blocks.map(({ canonical, key, kind }) => (kind === "system" || kind === "tool" ? canonical : key))
    return this.interner.keyOf(`request ${call.decision.requestedModel} ${keys.join(" ")} ${JSON.stringify(params)}`)
  }
}

interface CountedBlock extends Omit<WorkBlock, "tokens" | "facts"> {
  readonly counts: TextCounts
  readonly facts: CountedFacts | null
}

interface CountedCall extends Omit<WorkCall, "blocks" | "isEstimated" | "isInRange"> {
  /** `null`: only where the project does not pay its providers itself. */
  readonly isEstimated: boolean | null
  readonly blocks: ReadonlyArray<CountedBlock>
}

/** Blocks in the tokens of a route, each computed once. */
const billedBlocks = (calibration: Calibration): ((block: CountedBlock) => WorkBlock) => {
  const tokens = (counts: TextCounts) => tokensWith(calibration, counts)
  const billed = new Map<CountedBlock, WorkBlock>()
  return (block) => {
    const known = billed.get(block)
    if (known !== undefined) return known
    const { counts, facts, ...rest } = block
    const fresh: WorkBlock = {
      ...rest,
      tokens: tokens(counts) + framingTokens,
      facts:
        facts === null
          ? null
          : {
              json: facts.json,
              minifiedTokens:
                facts.minified === null ? null : withoutSpace(tokens(counts), counts, facts.minified) + framingTokens,
              washedTokens: facts.washed === null ? null : tokens(facts.washed) + framingTokens,
              paragraphs: facts.paragraphs.map(({ key, counts: own }) => ({ key, tokens: tokens(own) })),
              rejectsJson: facts.rejectsJson
            }
    }
    billed.set(block, fresh)
    return fresh
  }
}

const isCharged = ({ cost }: AnalysedCall): boolean => cost.basis === "charged" && cost.amount_microusd > 0

/** By the cost where nothing else says it: a sample of an earlier version, or the log of calls. */
const isEstimated = ({ cost, isUsageReported, response, status }: AnalysedCall): boolean | null => {
  if (isUsageReported !== undefined) return !isUsageReported
  if (cost.basis === "charged") return false
  return status === "success" && (response?.finish ?? null) !== null ? null : true
}

/** A run of white space is a token to each tokenizer: that a route has more for the rest of a text does not make it dearer. */
const withoutSpace = (billed: number, { tokens }: TextCounts, minified: TextCounts): number =>
  billed - Math.min(1, billed / tokens) * (tokens - minified.tokens)

/** What was billed for which blocks: the framing of messages is no part of it. */
const promptsOf = (calls: ReadonlyArray<CountedCall>): ReadonlyArray<CountedPrompt> =>
  calls.flatMap(({ blocks, conversation, usage }) =>
    usage === null || blocks.length === 0 || promptTokens(usage) === 0
      ? []
      : [
          {
            conversation,
            billed: promptTokens(usage) - framingTokens * blocks.length,
            blocks: blocks.map(({ counts }) => counts)
          }
        ]
  )

/** JSON of prompts, in fingerprint mode: calibration by the route's bills corrects the mean. */
const bytesPerToken = 4
/** What a provider adds to each message for its role. */
const framingTokens = 4

const markedAtEnd = (
  blocks: ReadonlyArray<CountedBlock>,
  whole: "5m" | "1h" | undefined
): ReadonlyArray<CountedBlock> =>
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

const wantsJson = ({ request }: AnalysedCall): boolean => {
  const type = request.params.responseFormat?.["type"]
  if (type === "json_object" || type === "json_schema") return true
  return (request.messages ?? []).some((message) => {
    if (message.role === "assistant" || message.role === "tool") return false
    return /\bjson\b/iu.test(textOf(message))
  })
}
