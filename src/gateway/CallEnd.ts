import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { CallFailure } from "../domain/GatewayError.ts"
import { completionTokens } from "../domain/Usage.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { LedgerShape, SealedAnswer } from "../ledger/Ledger.ts"
import * as Spans from "../observe/Spans.ts"
import type { Conversations } from "../routing/Conversations.ts"
import type { OutputLengthsShape } from "../routing/quality/OutputLengths.ts"
import { reasoningFactor } from "../routing/ReasoningFactor.ts"
import type { CallOptions } from "./Admission.ts"
import type { Call, CompleteAnswer } from "./Call.ts"

export interface EndDeps {
  readonly ledger: Pick<LedgerShape, "settle" | "flushedOf">
  readonly conversations: Pick<Conversations, "answered">
  readonly outputLengths: Pick<OutputLengthsShape, "answered">
}

/** Releases and settles a call as it has ended, and learns from it. Ends as the call did. */
export const end = <A>(
  deps: EndDeps,
  call: Call,
  exit: Exit.Exit<A, CallFailure>,
  keptAnswer: CallOptions["keptAnswer"]
): Effect.Effect<A, CallFailure> => {
  const released = release(call)
  if (Exit.isFailure(exit) && Cause.isDie(exit.cause)) call.died()
  const settlement = call.end()
  const { answer } = call
  if (answer !== undefined && !call.admitted.ranked.pinned) {
    remember(deps, call, answer)
    learn(deps, call, answer)
  }
  const keeping = keptAnswer === undefined ? keepsNothing : kept(keptAnswer, exit)
  const settled =
    Exit.isFailure(keeping) || keeping.value === undefined
      ? deps.ledger.settle(call.hold, settlement)
      : Effect.zipRight(deps.ledger.settle(call.hold, { ...settlement, kept: keeping.value }), written(deps, call))
  const ended: Effect.Effect<A, CallFailure> = Exit.isFailure(keeping)
    ? Effect.failCause(keeping.cause)
    : Exit.isFailure(released)
      ? Effect.failCause(released.cause)
      : exit
  if (!call.isTraced) return Effect.zipRight(settled, ended)
  const { cost, error, model, provider, status } = settlement.record
  return Spans.annotate({
    "gateway.status": status,
    "gateway.cost_microusd": cost.amount_microusd,
    "gen_ai.provider.name": provider ?? "",
    "gen_ai.response.model": model ?? "",
    ...(error !== null && { "error.type": error.code })
  }).pipe(
    Effect.zipRight(Spans.span(true, "gateway.ledger.settle", Spans.noAttributes, settled)),
    Effect.zipRight(ended)
  )
}

/** What rate limits of the application throw is a defect, but the call is settled as it has ended. */
const release = ({ admitted }: Call): Exit.Exit<void> => {
  try {
    admitted.release()
    return Exit.void
  } catch (defect) {
    return Exit.die(defect)
  }
}

const keepsNothing: Exit.Exit<SealedAnswer | undefined> = Exit.succeed(undefined)

/** What it throws is a defect, but the call is settled as it has ended. */
const kept = <A>(
  keptAnswer: NonNullable<CallOptions["keptAnswer"]>,
  exit: Exit.Exit<A, CallFailure>
): Exit.Exit<SealedAnswer | undefined> => {
  try {
    return Exit.succeed(keptAnswer(exit))
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** Where the conversation of an `auto` call goes on, if it does. */
const remember = ({ conversations }: EndDeps, { admitted }: Call, { candidate }: CompleteAnswer): void => {
  const { id, imageTokens } = candidate.model
  conversations.answered(admitted.place, id, Estimate.likelyTokensWithMedia(admitted.measure, imageTokens))
}

/** How long the answer to an `auto` call was, whatever has become of its text. */
const learn = ({ outputLengths }: EndDeps, { admitted }: Call, { candidate, isCut, usage }: CompleteAnswer): void => {
  outputLengths.answered({
    model: candidate.model,
    classes: admitted.ranked.features.classes,
    tokens: completionTokens(usage) / reasoningFactor(candidate.model, candidate.effort),
    isCut
  })
}

/**
 * A response that is kept reaches the client after its settlement is written: whoever has it complete has paid for it, and finds
 * it under its key. A database that is away delays it for a bounded time.
 */
const written = ({ ledger }: EndDeps, { hold }: Call): Effect.Effect<void> =>
  Effect.asVoid(Effect.interruptible(Effect.timeoutOption(ledger.flushedOf(hold.caller.accountId), maxWriteWaitMillis)))
const maxWriteWaitMillis = 2_000
