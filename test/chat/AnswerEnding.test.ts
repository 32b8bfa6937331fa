import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import { describe, expect, it } from "vitest"
import { endingOf } from "../../src/chat/AnswerEnding.ts"
import { LiveTurn } from "../../src/chat/LiveTurn.ts"
import { ConversationId, MessageId } from "../../src/domain/Ids.ts"
import { shutdownCode } from "../../src/domain/ProviderError.ts"

const turnWith = (isStopRequested = false): LiveTurn => {
  const turn = new LiveTurn({
    id: MessageId.make("00000000-0000-7000-8000-000000000001"),
    conversationId: ConversationId.make("00000000-0000-7000-8000-000000000002")
  })
  turn.append("What has come")
  turn.finishReason = "stop"
  turn.isStopRequested = isStopRequested
  return turn
}
const failedWith = (code: string) => Exit.succeed({ _tag: "Failed", error: { code, message: "failed" } } as const)
const interrupted = Exit.interrupt(FiberId.none)

describe("the end of an answer", () => {
  it("keeps what has come, however it ends", () => {
    for (const exit of [interrupted, failedWith("provider_error"), Exit.die("defect")]) {
      expect(endingOf(turnWith(), exit)).toMatchObject({ content: "What has come", finishReason: null })
    }
  })

  it("is complete with the model's finish reason, and with that of a cap where the text is too long", () => {
    expect(endingOf(turnWith(), Exit.succeed({ _tag: "Complete" }))).toMatchObject({
      status: "complete",
      finishReason: "stop",
      error: null
    })
    expect(endingOf(turnWith(), Exit.succeed({ _tag: "Cut" }))).toMatchObject({
      status: "complete",
      finishReason: "length",
      error: null
    })
  })

  it("is stopped where the person has asked for it, else interrupted", () => {
    expect(endingOf(turnWith(true), interrupted)).toMatchObject({ status: "stopped", error: null })
    expect(endingOf(turnWith(), interrupted)).toMatchObject({ status: "interrupted", error: null })
    expect(endingOf(turnWith(), failedWith(shutdownCode))).toMatchObject({ status: "interrupted", error: null })
  })

  it("is failed with the error, and for a defect with one that says nothing of it, also beside an interruption", () => {
    expect(endingOf(turnWith(), failedWith("provider_error"))).toMatchObject({
      status: "failed",
      error: { code: "provider_error", message: "failed" }
    })
    const both = Exit.failCause(Cause.parallel(Cause.die(new Error("secret")), Cause.interrupt(FiberId.none)))
    expect(endingOf(turnWith(true), both)).toMatchObject({
      status: "failed",
      error: { code: "internal_error", message: "The gateway failed unexpectedly." }
    })
  })
})
