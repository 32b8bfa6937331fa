import type { ChatRequest, Message } from "../../../src/domain/Chat.ts"
import type { ChatEvent } from "../../../src/domain/ChatEvent.ts"
import { RequestId } from "../../../src/domain/Ids.ts"
import type { Model } from "../../../src/domain/Model.ts"
import type { ProviderError } from "../../../src/domain/ProviderError.ts"
import type { Provider, ProviderCall, Receiver, Upstream } from "../../../src/provider/Provider.ts"
import * as OpenAiChat from "../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { openAi } from "../../../src/provider/protocols/openai-chat/Quirks.ts"
import { chatRequest } from "../../support/ChatRequests.ts"
import { modelOf } from "../../support/Models.ts"

export const requestId = RequestId.make("0193b5a0-7d00-7abc-8def-0123456789ab")

export const model = (more: Partial<Model> = {}): Model =>
  modelOf("acme/large", {
    outputTokens: 8_000,
    support: OpenAiChat.make(openAi).support,
    billsAbortedCalls: true,
    ...more
  })

export const request = (more: Partial<ChatRequest> = {}): ChatRequest => chatRequest({ stream: true, ...more })

export const call = (
  asked: Partial<ChatRequest> = {},
  more: Partial<Omit<ProviderCall, "request" | "requestId">> = {}
): ProviderCall => ({
  requestId,
  model: model(),
  request: request(asked),
  effort: undefined,
  maxOutputTokens: 100,
  dropped: [],
  ...more
})

export const saying = (text: string): ReadonlyArray<Message> => [{ role: "user", content: text }]

/** Collects what a receiver gets; `over` resolves with the end, `first` with the first event. */
export class Recorder implements Receiver {
  readonly events: Array<ChatEvent> = []
  activities = 0
  ended = 0
  readonly errors: Array<ProviderError> = []
  private readonly watchers: Array<() => void> = []

  readonly activity = (): void => {
    this.activities++
    this.changed()
  }
  readonly event = (event: ChatEvent): void => {
    this.events.push(event)
    this.changed()
  }
  readonly end = (): void => {
    this.ended++
    this.changed()
  }
  readonly fail = (error: ProviderError): void => {
    this.errors.push(error)
    this.changed()
  }

  get isOver(): boolean {
    return this.ended + this.errors.length > 0
  }

  get text(): string {
    return this.events.map((event) => (event._tag === "Text" ? event.text : "")).join("")
  }

  get outcome(): string {
    return this.errors[0]?.reason._tag ?? (this.ended > 0 ? "ended" : "open")
  }

  until(holds: (recorder: Recorder) => boolean): Promise<void> {
    if (holds(this)) return Promise.resolve()
    return new Promise((resolve) => {
      this.watchers.push(() => {
        if (holds(this)) resolve()
      })
    })
  }

  get over(): Promise<void> {
    return this.until((recorder) => recorder.isOver)
  }

  private changed(): void {
    for (const watcher of this.watchers) watcher()
  }
}

/** Opens a call and asserts the one thing that holds for every provider: nothing comes while it opens. */
export const open = (
  provider: Provider,
  asked: ProviderCall
): { readonly recorder: Recorder; readonly upstream: Upstream } => {
  const recorder = new Recorder()
  const upstream = provider.open(asked, recorder)
  if (recorder.events.length > 0 || recorder.activities > 0 || recorder.isOver) throw new Error("called inside open")
  return { recorder, upstream }
}
