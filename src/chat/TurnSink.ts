import type { CallError } from "../domain/Call.ts"
import type { ChatEvent, Finish } from "../domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../domain/Completion.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { Sink } from "../gateway/Relay.ts"
import { Drafts } from "./Drafts.ts"
import type { LiveTurn } from "./LiveTurn.ts"

/** One call's response on its way into an answer. It takes whatever comes: who reads slowly never holds the model back. */
export class TurnSink implements Sink {
  /** The whole response; `undefined` before its end, and where it has broken. */
  answer: Answer | undefined
  /** Why it has broken after its first content. */
  error: CallError | undefined
  private readonly turn: LiveTurn
  private readonly response = new Accumulator()
  private readonly drafts = new Drafts()

  constructor(turn: LiveTurn) {
    this.turn = turn
  }

  readonly begin = ({ model }: ResponseStart): void => {
    this.turn.modelUsed = model
  }

  readonly event = (event: ChatEvent): boolean => {
    this.response.add(event)
    switch (event._tag) {
      case "Text":
      case "Refusal":
        this.turn.append(event.text)
        break
      case "Reasoning":
        if (event.kind !== "encrypted") this.turn.reason(event.text)
        break
      case "ToolCall": {
        const draft = this.drafts.add(event)
        if (draft !== undefined) this.turn.draft(draft)
        break
      }
      default:
    }
    return true
  }

  readonly drained = (resume: () => void): void => resume()

  readonly complete = (finish: Finish): void => {
    this.response.add(finish)
    this.answer = this.response.answer
    this.turn.finishReason = finish.reason
  }

  readonly fail = (error: CallError): void => {
    this.error = error
  }
}
