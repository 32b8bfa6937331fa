import type {
  AssistantMessage,
  BlockKind,
  CacheControl,
  ChatRequest,
  Message,
  ReasoningDetail,
  ToolCall,
  ToolMessage
} from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import {
  type AssistantBlock,
  assistantParts,
  assistantTexts,
  emptyText,
  marked,
  orPlaceholder,
  type ResultBlock,
  resultBlocks,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  text,
  texts,
  type UserBlock,
  userBlocks
} from "./Blocks.ts"
import { ownReasoning } from "./ReasoningBlocks.ts"
import { Arguments } from "./ToolArguments.ts"
import { ToolIds } from "./ToolIds.ts"

/**
 * A conversation for protocols with user and assistant turns only: instructions are separate, turns alternate and begin with the
 * user, every tool call has its result in the next turn, and no block or turn is empty.
 */
export interface Conversation {
  /** The text of the system and developer messages that no turn has, in their order. */
  readonly instructions: ReadonlyArray<TextBlock>
  /** At least one turn, no turn is empty, the first is a user turn. */
  readonly turns: ReadonlyArray<Turn>
}

export type Turn = UserTurn | AssistantTurn

/** The results of all calls of the preceding turn come first, in the order of the calls. */
export interface UserTurn {
  readonly role: "user"
  readonly blocks: ReadonlyArray<UserBlock>
  /** Where they keep their place: system and developer messages that came since the turn before this one, or in it. */
  readonly instructions?: ReadonlyArray<TextBlock>
}

/** The blocks of each message in the order that it tells; of one that tells none: reasoning, text, tool calls. */
export interface AssistantTurn {
  readonly role: "assistant"
  readonly blocks: ReadonlyArray<AssistantBlock>
}

/**
 * `modelId` is the model whose reasoning may be sent back. With `keepsPlaces` the system and developer messages after the first turn
 * has begun stand behind the next user turn that an assistant turn or the end follows.
 */
export const conversationOf = (
  request: Pick<ChatRequest, "messages">,
  modelId: string,
  keepsPlaces = false
): Conversation | ProviderFailure => {
  const builder = new Builder(modelId, keepsPlaces)
  for (const [at, message] of request.messages.entries()) {
    const failure = builder.add(message, `messages[${at}]`)
    if (failure !== undefined) return failure
  }
  return builder.done()
}

const missingResult = "(no result was given for this call)"
/** Placeholder for a turn that a provider requires and the conversation does not have. */
export const continued = "(continued)"

interface OpenCall {
  readonly call: ToolCallBlock
  results: Array<ResultBlock> | undefined
  isError: boolean
  cacheControl: CacheControl | undefined
}

/** Calls that share an id: results are assigned to them in order, further results to the last one. */
interface CallsOfOneId {
  readonly calls: Array<OpenCall>
  answered: number
}

class Builder {
  private readonly instructions: Array<TextBlock> = []
  /** Those that the next user turn will have. */
  private laterInstructions: Array<TextBlock> = []
  private readonly turns: Array<Turn> = []
  private assistant: Array<AssistantBlock> | undefined
  private user: Array<UserBlock> | undefined
  /** The calls of the last assistant turn with their results. */
  private open: Array<OpenCall> = []
  /** The same, by the client's id. */
  private openById = new Map<string, CallsOfOneId>()
  private readonly ids = new ToolIds()
  private readonly argumentsOfCalls = new Arguments()
  private readonly modelId: string
  private readonly keepsPlaces: boolean

  constructor(modelId: string, keepsPlaces: boolean) {
    this.modelId = modelId
    this.keepsPlaces = keepsPlaces
  }

  add(message: Message, path: string): ProviderFailure | undefined {
    switch (message.role) {
      case "system":
      case "developer":
        this.addInstructions(texts(message.content))
        return undefined
      case "user": {
        const turn = this.userTurn()
        for (const block of userBlocks(message.content, path)) turn.push(block)
        return undefined
      }
      case "assistant":
        return this.addAssistant(message, path)
      case "tool":
        return this.addResult(message, path)
    }
  }

  done(): Conversation {
    this.closeAssistant()
    this.closeUser()
    const last = this.turns.at(-1)
    if (last?.role === "assistant") this.turns[this.turns.length - 1] = withoutTrailingBlanks(last)
    if (this.turns[0]?.role !== "user") {
      this.turns.unshift({ role: "user", blocks: [text(this.turns.length === 0 ? emptyText : continued)] })
    }
    // those that no user turn followed
    return { instructions: [...this.instructions, ...this.laterInstructions], turns: this.turns }
  }

  private addInstructions(blocks: ReadonlyArray<TextBlock>): void {
    const hasBegun = this.turns.length > 0 || this.user !== undefined || this.assistant !== undefined
    const place = this.keepsPlaces && hasBegun ? this.laterInstructions : this.instructions
    for (const block of blocks) place.push(block)
  }

  private addAssistant(message: AssistantMessage, path: string): ProviderFailure | undefined {
    this.closeUser()
    // an assistant message after calls without results begins a new turn: the results must come before it
    if (this.open.length > 0) this.closeAssistant()
    if (this.user !== undefined) this.closeUser()
    this.assistant ??= []
    if (message.order !== undefined) return this.addInOrder(message, message.order, path)
    this.addReasoning(message.reasoning_details ?? [])
    for (const block of assistantTexts(message)) this.assistant.push(block)
    for (const [at, call] of (message.tool_calls ?? []).entries()) {
      const failure = this.addCall(call, `${path}.tool_calls[${at}]`)
      if (failure !== undefined) return failure
    }
    return undefined
  }

  private addInOrder(
    message: AssistantMessage,
    order: ReadonlyArray<BlockKind>,
    path: string
  ): ProviderFailure | undefined {
    const details = (message.reasoning_details ?? []).values()
    const texts = assistantParts(message).values()
    const calls = (message.tool_calls ?? []).entries()
    for (const kind of order) {
      switch (kind) {
        case "reasoning": {
          const detail = details.next().value
          if (detail !== undefined) this.addReasoning([detail])
          break
        }
        case "text":
          for (const block of texts.next().value ?? []) this.assistant?.push(block)
          break
        case "call": {
          const [at, call] = calls.next().value ?? []
          const failure = call && this.addCall(call, `${path}.tool_calls[${at}]`)
          if (failure !== undefined) return failure
        }
      }
    }
    return undefined
  }

  private addReasoning(details: ReadonlyArray<ReasoningDetail>): void {
    for (const detail of ownReasoning(details, this.modelId)) this.assistant?.push({ _tag: "Reasoning", detail })
  }

  private addCall(call: ToolCall, path: string): ProviderFailure | undefined {
    const input =
      call.type === "function"
        ? this.argumentsOfCalls.read(call.function.arguments, `${path}.function.arguments`)
        : { value: { input: call.custom.input } }
    if ("_tag" in input) return input
    const block: ToolCallBlock = {
      _tag: "ToolCall",
      id: this.ids.next(call.id),
      name: call.type === "function" ? call.function.name : call.custom.name,
      input: input.value,
      extraContent: call.extra_content ?? undefined,
      ...(call.type === "function" && marked(call))
    }
    this.assistant?.push(block)
    const opened: OpenCall = { call: block, results: undefined, isError: false, cacheControl: undefined }
    this.open.push(opened)
    const same = this.openById.get(call.id)
    if (same === undefined) this.openById.set(call.id, { calls: [opened], answered: 0 })
    else same.calls.push(opened)
    return undefined
  }

  private addResult(message: ToolMessage, path: string): ProviderFailure | undefined {
    const same = this.openById.get(message.tool_call_id)
    const called = same?.calls[same.answered] ?? same?.calls.at(-1)
    if (same === undefined || called === undefined) {
      return {
        _tag: "RequestRejected",
        message: "A tool result matches no tool call of the preceding assistant turn.",
        param: `${path}.tool_call_id`
      }
    }
    this.userTurn()
    if (called.results === undefined) {
      called.results = []
      same.answered++
    }
    for (const block of resultBlocks(message.content, path)) called.results.push(block)
    called.isError ||= message.is_error === true
    called.cacheControl = message.cache_control ?? called.cacheControl
    return undefined
  }

  private userTurn(): Array<UserBlock> {
    if (this.user === undefined) {
      this.closeAssistant()
      this.user ??= []
    }
    return this.user
  }

  /** If the turn has open calls, a user turn is opened for their results. */
  private closeAssistant(): void {
    if (this.assistant === undefined) return
    const isSilent = this.assistant.every((block) => block._tag === "Reasoning")
    this.turns.push({ role: "assistant", blocks: isSilent ? [...this.assistant, text(emptyText)] : this.assistant })
    this.assistant = undefined
    if (this.open.length > 0) this.user = []
  }

  private closeUser(): void {
    if (this.user === undefined) return
    const results = this.open.map(
      ({ cacheControl, call, isError, results }): ToolResultBlock => ({
        _tag: "ToolResult",
        id: call.id,
        name: call.name,
        content: results === undefined ? [text(missingResult)] : orPlaceholder<ResultBlock>(results),
        isError: isError || results === undefined,
        ...(cacheControl !== undefined && { cacheControl })
      })
    )
    this.open = []
    this.openById = new Map()
    const blocks = orPlaceholder<UserBlock>([...results, ...this.user])
    const instructions = this.laterInstructions
    this.turns.push(instructions.length === 0 ? { role: "user", blocks } : { role: "user", blocks, instructions })
    this.user = undefined
    this.laterInstructions = []
  }
}

/** The model continues a final assistant turn; providers reject trailing whitespace in it. */
const withoutTrailingBlanks = (turn: AssistantTurn): AssistantTurn => {
  const last = turn.blocks.at(-1)
  return last?._tag === "Text"
    ? { ...turn, blocks: [...turn.blocks.slice(0, -1), { ...last, text: last.text.trimEnd() }] }
    : turn
}
