import type { ChatEvent, Finish } from "../domain/ChatEvent.ts"
import type { Usage } from "../domain/Usage.ts"

/** Adds up what one attempt's response has used. One instance per attempt, so that nothing is carried to the next one. */
export class ResponseTally {
  /** As the provider reported it; the last report counts. */
  usage: Usage | undefined
  /** The model's name as the provider reports it. */
  servedModel: string | undefined
  finished: Finish | undefined
  /** UTF-8 bytes of text, reasoning and tool calls. */
  contentBytes = 0

  add(event: ChatEvent): void {
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
      case "ResponseInfo":
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
}
