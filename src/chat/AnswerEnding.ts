import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { CallError } from "../domain/Call.ts"
import { shutdownCode } from "../domain/ProviderError.ts"
import type { Written } from "./AnswerWriter.ts"
import type { LiveTurn } from "./LiveTurn.ts"
import type { Ending } from "./MessageStore.ts"

/** How the writing of an answer has ended; `Cut`: its text had become as long as it may. */
export type WritingExit = Exit.Exit<Written | { readonly _tag: "Cut" }>

/** How an answer is stored whose writing has ended so. */
export const endingOf = (
  turn: Pick<LiveTurn, "finishReason" | "isStopRequested" | "progress">,
  exit: WritingExit
): Ending => {
  const ending = (status: Ending["status"], error: CallError | null = null): Ending => ({
    ...turn.progress,
    status,
    finishReason: status === "complete" ? turn.finishReason : null,
    error
  })
  if (Exit.isFailure(exit)) {
    if (!Cause.isInterruptedOnly(exit.cause)) return ending("failed", internalError)
    return ending(turn.isStopRequested ? "stopped" : "interrupted")
  }
  switch (exit.value._tag) {
    case "Complete":
      return ending("complete")
    case "Cut":
      return { ...ending("complete"), finishReason: "length" }
    case "Failed":
      return exit.value.error.code === shutdownCode ? ending("interrupted") : ending("failed", exit.value.error)
  }
}

const internalError: CallError = { code: "internal_error", message: "The gateway failed unexpectedly." }
