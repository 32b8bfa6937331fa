import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { CallError } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { Message as ChatMessage, ChatRequest } from "../domain/Chat.ts"
import type { CallFailure } from "../domain/GatewayError.ts"
import { type IdGeneratorShape, nextRequestId } from "../domain/IdGenerator.ts"
import type { CallRunnerShape } from "../gateway/CallRunner.ts"
import type { CallTrailsShape } from "../observe/CallTrails.ts"
import type { AnswerSettings } from "../wire/account/Chat.ts"
import * as WireRequest from "../wire/chat/ChatRequest.ts"
import type { LiveTurn } from "./LiveTurn.ts"
import type { Answer, Message } from "./MessageStore.ts"
import { promptOf } from "./Prompt.ts"
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
}

/** Calls the model; what it answers is in the turn at once. */
export const writeAnswer = (
  deps: AnswerDeps,
  turn: LiveTurn,
  { caller, history, settings }: NewTurn
): Effect.Effect<Written> =>
  Effect.gen(function* () {
    const prompt = promptOf(history, { system: settings.system, withTools: false, images: new Map() })
    const request = requestOf(settings, prompt)
    if (Either.isLeft(request)) return failed(deps.describe(request.left))
    const sink = yield* call(deps, turn, caller, request.right)
    return sink._tag === "Failed" ? sink : complete
  })

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
    return calls.relay(caller, request, sink, { requestId, endpoint: "embedded", clientRequestId: null }).pipe(
      Effect.match({
        onFailure: (error): Called => failed(describe(error)),
        onSuccess: (): Called => (sink.error === undefined ? { _tag: "Answered", sink } : failed(sink.error))
      }),
      Effect.ensuring(Effect.sync(leave))
    )
  })

type Called = { readonly _tag: "Answered"; readonly sink: TurnSink } | Extract<Written, { readonly _tag: "Failed" }>

const complete = { _tag: "Complete" } as const
const failed = (error: CallError) => ({ _tag: "Failed", error }) as const

const requestOf = (settings: AnswerSettings, messages: ReadonlyArray<ChatMessage>) =>
  WireRequest.decode({
    model: settings.model,
    messages,
    stream: true,
    ...(settings.alpha === undefined ? {} : { alpha: settings.alpha }),
    ...(settings.effort === undefined ? {} : { reasoning_effort: settings.effort }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.max_completion_tokens === undefined ? {} : { max_completion_tokens: settings.max_completion_tokens })
  })
