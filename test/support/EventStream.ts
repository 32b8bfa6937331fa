/** A streamed answer as its client has read it, to the end of the body. */
export interface ReadStream {
  readonly text: string
  /** The data of every event that is JSON. */
  readonly events: ReadonlyArray<StreamedChunk>
  readonly isDone: boolean
  /** The content of all deltas. */
  readonly content: string
  readonly errors: ReadonlyArray<{ readonly type: string; readonly code: string }>
}

export interface StreamedChunk {
  readonly object?: string
  readonly choices?: ReadonlyArray<{
    readonly delta: { readonly content?: string | null }
    readonly finish_reason: string | null
  }>
  readonly usage?: unknown
  readonly router_metadata?: unknown
  readonly error?: { readonly type: string; readonly code: string }
}

export const readStream = async (response: Response): Promise<ReadStream> => {
  const text = await response.text()
  const data = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []))
  const events = data.filter((each) => each !== "[DONE]").map((each): StreamedChunk => JSON.parse(each))
  return {
    text,
    events,
    isDone: data.at(-1) === "[DONE]",
    content: events.flatMap((event) => event.choices?.map((choice) => choice.delta.content ?? "") ?? []).join(""),
    errors: events.flatMap((event) => (event.error === undefined ? [] : [event.error]))
  }
}
