import type { NonEmptyReadonlyArray } from "effect/Array"
import {
  type Attempt,
  type CallError,
  type CallRecord,
  type CallStatus,
  type Cost,
  cost,
  noCost
} from "../domain/Call.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatEvent, Finished } from "../domain/ChatEvent.ts"
import type { Answer } from "../domain/Completion.ts"
import { costOf, type MicroUsd, zero } from "../domain/Money.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import { type Usage, usage } from "../domain/Usage.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { Hold, Settlement } from "../ledger/Ledger.ts"
import type { Admitted } from "./Admission.ts"

/** How a call ended, as far as the call itself can tell; without one the client has left. */
export type Ending =
  | { readonly _tag: "Complete" }
  | { readonly _tag: "Failed"; readonly status: CallStatus; readonly error: CallError }

/**
 * Measures one call: what was tried, when content came, what was used. From it come the metadata of the answer and, once,
 * the settlement and the log row; cost is worked out here, from the prices of admission, and carried from then on.
 */
export class Meter {
  readonly admitted: Admitted
  /** What is set aside for the call now; a dearer candidate may have raised it. */
  hold: Hold
  private readonly attempts: Array<Attempt> = []
  private current: { readonly candidate: Candidate; readonly startedAtMillis: number } | undefined
  private contentAtMillis: number | undefined
  private charged: { readonly actual: MicroUsd; readonly cost: Cost } | undefined
  private usage: Usage | undefined
  private contentBytes = 0
  private servedModel: string | undefined
  private finished: Finished | undefined
  private ending: Ending | undefined
  private readonly now: () => number

  constructor(admitted: Admitted, hold: Hold, now: () => number) {
    this.admitted = admitted
    this.hold = hold
    this.now = now
  }

  attempted(candidate: Candidate): void {
    this.current = { candidate, startedAtMillis: this.now() }
    this.usage = undefined
    this.contentBytes = 0
    this.servedModel = undefined
    this.finished = undefined
  }

  failed(error: ProviderError): Attempt | undefined {
    if (this.current === undefined) return undefined
    const attempt = this.attemptOf(this.current, error.facts.status, error.callError, noCost)
    this.attempts.push(attempt)
    this.current = undefined
    return attempt
  }

  /** Content has been shown to the client: from here on the attempt is the call's last. */
  committed(): void {
    this.contentAtMillis ??= this.now()
  }

  saw(event: ChatEvent): void {
    switch (event._tag) {
      case "Text":
      case "Refusal":
      case "Reasoning":
        this.contentBytes += Buffer.byteLength(event.text)
        return
      case "ToolCall":
        this.contentBytes += Buffer.byteLength(event.arguments) + (event.name?.length ?? 0)
        return
      case "Usage":
        this.usage = event.usage
        return
      case "Served":
        if (event.model !== undefined) this.servedModel = event.model
        return
      case "Finish":
        this.finished = event
        return
      case "Annotation":
      case "Audio":
        return
    }
  }

  /** A plain answer, whole. */
  answered(answer: Answer): void {
    this.finished = { _tag: "Finish", reason: answer.finish, native: answer.nativeFinish }
    this.usage = answer.usage ?? undefined
    this.servedModel = answer.servedModel ?? undefined
    for (const part of [answer.text, answer.refusal]) this.contentBytes += Buffer.byteLength(part)
    for (const block of answer.reasoning) this.contentBytes += Buffer.byteLength(block.text)
    for (const call of answer.toolCalls) this.contentBytes += Buffer.byteLength(call.arguments) + call.name.length
  }

  get firstContentMillis(): number {
    return (this.contentAtMillis ?? this.now()) - this.admitted.startedAtMillis
  }

  end(ending: Ending): void {
    this.ending ??= ending
  }

  get latestAttempts(): ReadonlyArray<Attempt> {
    return this.attempts
  }

  /** Usage as the provider reported it, else as counted here. */
  get usageOrEstimate(): Usage {
    return this.usage ?? this.estimated()
  }

  /** Closes the answering attempt as a success and tells the answer's story; once. */
  complete(): RouterMetadata {
    const { admitted, current } = this
    if (current === undefined) throw new Error("a call cannot be complete without an attempt")
    const { model, dropped } = current.candidate
    const charge = this.charge(model.billsAbortedCalls)
    this.attempts.push(this.attemptOf(current, "success", null, charge.cost))
    const now = this.now()
    return {
      request_id: admitted.requestId,
      requested_model: admitted.request.model,
      provider: model.providerId,
      model: model.id,
      upstream_model: this.servedModel ?? model.upstreamModel,
      reason: this.reason,
      routing_config: admitted.configuration?.slug ?? null,
      alpha: admitted.ranked.pinned ? null : admitted.allowed.alpha,
      latency_ms: round(now - admitted.startedAtMillis),
      first_content_ms:
        admitted.request.stream && this.contentAtMillis !== undefined
          ? round(this.contentAtMillis - admitted.startedAtMillis)
          : null,
      fallback: { enabled: admitted.ranked.fallbackEnabled, used: this.attempts[0]?.model !== model.id },
      attempts: this.attempts,
      cost: charge.cost,
      candidate_pool: { models: pool(admitted) },
      excluded: admitted.ranked.excluded,
      dropped_parameters: dropped,
      policy_version: admitted.allowed.policyVersion
    }
  }

  /** What the ledger and the call log are told, whatever happened. */
  settlement(): Settlement {
    const { admitted, current } = this
    const status: CallStatus =
      this.ending === undefined ? "cancelled" : this.ending._tag === "Complete" ? "success" : this.ending.status
    const error = this.ending?._tag === "Failed" ? this.ending.error : null
    let actual: MicroUsd = zero
    let callCost: Cost = noCost
    if (status === "success" && this.charged !== undefined) {
      actual = this.charged.actual
      callCost = this.charged.cost
    } else if (status === "cancelled" && current !== undefined) {
      const charge = this.charge(current.candidate.model.billsAbortedCalls)
      actual = charge.actual
      callCost = charge.cost
      this.attempts.push(this.attemptOf(current, "cancelled", null, charge.cost))
    } else if (current !== undefined && status !== "success") {
      // an answer that was whole, and then could not be written, has failed all the same
      if (this.attempts.at(-1)?.status === "success") this.attempts.pop()
      this.attempts.push(this.attemptOf(current, status, error, noCost))
    }
    const last = this.attempts.at(-1)
    const record: CallRecord = {
      requestedModel: admitted.request.model,
      model: last?.model ?? null,
      provider: last?.provider ?? null,
      endpoint: admitted.endpoint,
      stream: admitted.request.stream,
      tokenDoctor: admitted.request.tokenDoctor,
      status,
      error,
      cost: callCost,
      usage: status === "success" || callCost.amount_microusd > 0 ? this.usageOrEstimate : null,
      latencyMillis: round(this.now() - admitted.startedAtMillis),
      firstContentMillis:
        this.contentAtMillis === undefined ? null : round(this.contentAtMillis - admitted.startedAtMillis),
      routingConfig: admitted.configuration?.slug ?? null,
      reason: this.reason,
      policyVersion: admitted.allowed.policyVersion,
      pool: { models: pool(admitted) },
      attempts: this.attempts,
      clientRequestId: admitted.clientRequestId,
      startedAtMillis: admitted.startedAtMillis
    }
    const state =
      status === "success"
        ? "settled"
        : callCost.amount_microusd > 0
          ? "cancelled"
          : status === "cancelled"
            ? "cancelled"
            : "void"
    return { state, actual, record }
  }

  private get reason() {
    return this.attempts.some((attempt) => attempt.status === "error" || attempt.status === "timeout")
      ? "fallback_after_error"
      : this.admitted.ranked.reason
  }

  /**
   * A whole answer costs its usage. A cancelled one costs what was streamed and its prompt; where nothing was streamed,
   * its prompt at most, if the provider charges for aborted calls.
   */
  private charge(billsAborted: boolean): { readonly actual: MicroUsd; readonly cost: Cost } {
    const prices = this.current?.candidate.model.prices ?? null
    const whole = this.finished !== undefined
    const streamed = whole || this.contentAtMillis !== undefined
    const used = streamed || billsAborted ? this.usageOrEstimate : usage({})
    const actual = prices === null ? zero : costOf(prices, used)
    const amount = Math.min(actual, this.hold.amount)
    const exact = whole && this.usage !== undefined && this.admitted.caller.billingMode === "managed"
    const nothing = actual === 0 && !whole
    this.charged = { actual, cost: nothing ? noCost : cost(amount, exact ? "charged" : "estimated") }
    return this.charged
  }

  private estimated(): Usage {
    return usage({
      inputTokens: Estimate.likelyPromptTokens(this.admitted.measure),
      outputTokens: Estimate.estimateOutputTokens(this.contentBytes)
    })
  }

  private attemptOf(
    { candidate, startedAtMillis }: { readonly candidate: Candidate; readonly startedAtMillis: number },
    status: CallStatus,
    error: CallError | null,
    attemptCost: Cost
  ): Attempt {
    return {
      provider: candidate.model.providerId,
      model: candidate.model.id,
      status,
      error,
      cost: attemptCost,
      latency_ms: round(this.now() - startedAtMillis)
    }
  }
}

const pool = ({ ranked }: Admitted): NonEmptyReadonlyArray<string> => {
  const [first, ...rest] = ranked.candidates
  return [first.model.id, ...rest.map((candidate) => candidate.model.id)]
}

/** To a tenth of a millisecond. */
const round = (millis: number): number => Math.round(millis * 10) / 10
