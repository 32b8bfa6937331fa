import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { CallError } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { Message as ChatMessage, ChatRequest, Tool } from "../domain/Chat.ts"
import type { AnswerToolCall } from "../domain/Completion.ts"
import type { CallFailure, StoreUnavailable } from "../domain/GatewayError.ts"
import { type IdGeneratorShape, nextRequestId } from "../domain/IdGenerator.ts"
import type { ConversationId, KeyId } from "../domain/Ids.ts"
import { toStorable } from "../domain/StorableText.ts"
import type { CallRunnerShape } from "../gateway/CallRunner.ts"
import type { CallTrailsShape } from "../observe/CallTrails.ts"
import type { AnswerSettings } from "../wire/account/Chat.ts"
import * as WireRequest from "../wire/chat/ChatRequest.ts"
import type { ArtifactsShape } from "./Artifacts.ts"
import type { LiveTurn } from "./LiveTurn.ts"
import type { Answer, Message, Step } from "./MessageStore.ts"
import { type PromptOptions, promptOf, round } from "./Prompt.ts"
import { TurnSink } from "./TurnSink.ts"

/** An answer to be written. */
export interface NewTurn {
  readonly answer: Answer
  /** Who pays. */
  readonly caller: CallerShape
  readonly settings: AnswerSettings
  /** The messages before the answer, oldest first. */
  readonly history: ReadonlyArray<Message>
}

/** What a failure looks like to a person. */
export type DescribeFailure = (error: CallFailure) => CallError

/** How the writing of an answer has ended by itself. */
export type Written = { readonly _tag: "Complete" } | { readonly _tag: "Failed"; readonly error: CallError }

export interface AnswerDeps {
  readonly calls: CallRunnerShape
  readonly trails: CallTrailsShape
  readonly ids: IdGeneratorShape
  readonly describe: DescribeFailure
  readonly artifacts: ArtifactsShape
  /** False for a model that is known to take none. */
  readonly takesTools: (model: string) => boolean
  /** Whether the person of the key may still call with it. */
  readonly mayCall: (key: KeyId) => Effect.Effect<boolean, StoreUnavailable>
  /** The images of questions, as data URLs. */
  readonly imagesOf: (
    conversation: ConversationId,
    history: ReadonlyArray<Message>
  ) => Effect.Effect<PromptOptions["images"], StoreUnavailable>
}

/** How often a model may call tools before it has to answer. */
const maxRounds = 8

/** Calls the model, and again with the results of the tools that it calls; what it answers is in the turn at once. */
export const writeAnswer = (
  deps: AnswerDeps,
  turn: LiveTurn,
  { caller, history, settings }: NewTurn
): Effect.Effect<Written> =>
  Effect.gen(function* () {
    const tools = settings.artifacts && deps.takesTools(settings.model) ? deps.artifacts.tools : []
    const images = yield* deps.imagesOf(turn.answer.conversationId, history)
    let messages = promptOf(history, { system: settings.system, withTools: tools.length > 0, images })
    for (let rounds = 0; ; rounds += 1) {
      if (rounds > 0 && !(yield* deps.mayCall(caller.keyId))) return failed(revoked)
      const request = requestOf(settings, messages, rounds < maxRounds ? tools : [])
      if (Either.isLeft(request)) return failed(deps.describe(request.left))
      const from = turn.content.length
      const called = yield* call(deps, turn, caller, request.right)
      if (called._tag === "Failed") return called
      const asked = called.sink.answer?.toolCalls.filter(({ kind }) => kind === "function") ?? []
      if (asked.length === 0 || tools.length === 0 || rounds >= maxRounds) return complete
      const step = { at: turn.content.length, calls: yield* runTools(deps, turn, asked) }
      turn.steps = [...turn.steps, step]
      messages = [...messages, ...round(turn.content.slice(from), step)]
    }
  }).pipe(Effect.catchAll((error) => Effect.succeed(failed(deps.describe(error)))))

const runTools = (
  { artifacts }: AnswerDeps,
  turn: LiveTurn,
  asked: ReadonlyArray<AnswerToolCall>
): Effect.Effect<Step["calls"], StoreUnavailable> =>
  Effect.forEach(asked, ({ arguments: json, id, name }) =>
    Effect.map(artifacts.run(turn.answer, { name, arguments: json }), ({ event, isError, result }) => {
      if (event !== undefined) turn.notice({ _tag: "Artifact", event })
      // the model reads in this answer what it will read in the next one, from its row
      return {
        id: toStorable(id),
        name: toStorable(name),
        arguments: toStorable(json),
        result: toStorable(result),
        isError
      }
    })
  )

/** One call of the answer. */
const call = (
  { calls, describe, ids, trails }: AnswerDeps,
  turn: LiveTurn,
  caller: CallerShape,
  request: ChatRequest
): Effect.Effect<Called> =>
  Effect.suspend(() => {
    const requestId = nextRequestId(ids)
    turn.requestIds = [...turn.requestIds, requestId]
    const sink = new TurnSink(turn)
    const leave = trails.follow(requestId, {
      attempt: (step) => turn.notice({ _tag: "Attempt", requestId, step }),
      settled: ({ cost }) => turn.charged(cost)
    })
    const options = { requestId, endpoint: "chat", origin: "conversation", clientRequestId: null } as const
    return calls.relay(caller, request, sink, options).pipe(
      Effect.match({
        onFailure: (error): Called => failed(describe(error)),
        onSuccess: (): Called => (sink.error === undefined ? { _tag: "Answered", sink } : failed(sink.error))
      }),
      Effect.ensuring(Effect.sync(leave))
    )
  })

type Called = { readonly _tag: "Answered"; readonly sink: TurnSink } | Extract<Written, { readonly _tag: "Failed" }>

const revoked: CallError = { code: "role_required", message: "You may no longer make calls in this project." }
const complete = { _tag: "Complete" } as const
const failed = (error: CallError) => ({ _tag: "Failed", error }) as const

const requestOf = (settings: AnswerSettings, messages: ReadonlyArray<ChatMessage>, tools: ReadonlyArray<Tool>) =>
  WireRequest.decode({
    model: settings.model,
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    stream: true,
    ...(settings.alpha === undefined ? {} : { alpha: settings.alpha }),
    ...(settings.effort === undefined ? {} : { reasoning_effort: settings.effort }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.max_completion_tokens === undefined ? {} : { max_completion_tokens: settings.max_completion_tokens })
  })
