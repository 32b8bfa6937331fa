import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import { badResponse } from "./FinishReasonTable.ts"
import { parseObject } from "./Json.ts"
import { failed, type Step } from "./Protocol.ts"

/**
 * The input of a custom tool, from the JSON arguments of the function it was sent as; without arguments it is empty, and other
 * arguments are kept as text.
 */
export const customInput = (argumentsText: string): string => {
  const given = parseObject(argumentsText)
  const input = given?.["input"]
  if (typeof input === "string") return input
  return given !== undefined && Object.keys(given).length === 0 ? "" : argumentsText
}

export const argumentsEvent = (index: number, kind: "function" | "custom", text: string): ChatEvent => ({
  _tag: "ToolCall",
  index,
  kind,
  arguments: text
})

/** The step for a block sequence that violates the protocol. */
export const invalidBlock = (detail: string): Step => failed(badResponse(detail))
