import type { ChatRequest, Message } from "../../domain/Chat.ts"
import { maxTextLength } from "./Features.ts"

/** A turn that is shorter than this says little by itself: the beginning of the system message is read before it. */
const shortTurn = 240
const maxSystemLength = 360

/**
 * What is read to tell what a request asks for: the last turn of the user, bounded whatever the request's length. Well-formed
 * Unicode, also where it was cut within a character.
 */
export const promptText = (request: Pick<ChatRequest, "messages">): string =>
  turnAndInstructions(request).toWellFormed()

const turnAndInstructions = ({ messages }: Pick<ChatRequest, "messages">): string => {
  const turn = lastTurn(messages)
  if (turn.length >= shortTurn) return turn
  const system = messages.find(({ role }) => role === "system" || role === "developer")
  const instructions = system === undefined ? "" : textOf(system, maxSystemLength)
  return instructions === "" ? turn : `${instructions}\n${turn}`
}

const lastTurn = (messages: ReadonlyArray<Message>): string => {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message?.role === "user") return textOf(message, maxTextLength)
  }
  return ""
}

/** Text parts up to a length; of one longer text its beginning and its end. */
const textOf = ({ content }: Message, maxLength: number): string => {
  if (typeof content === "string") return bounded(content, maxLength)
  let text = ""
  for (const part of content ?? []) {
    if (part.type !== "text") continue
    text = text === "" ? bounded(part.text, maxLength) : `${text}\n${bounded(part.text, maxLength)}`
    if (text.length >= maxLength) break
  }
  return text
}

const bounded = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, (maxLength * 3) / 4)}\n${text.slice(-maxLength / 4)}`
