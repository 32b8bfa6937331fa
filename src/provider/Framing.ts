import * as EventStream from "../wire/EventStream.ts"
import * as Sse from "../wire/Sse.ts"

/** How an upstream cuts its bytes into frames. */
export interface Framing<Frame> {
  readonly mediaType: string
  readonly open: (onFrame: (frame: Frame) => void) => FrameReader
}

/** Both methods answer with the rule that the bytes broke; the reader is then spent. Bounds are the reader's own. */
export interface FrameReader {
  readonly push: (bytes: Uint8Array) => string | undefined
  /** The bytes are over. An unfinished last frame is an error only where the framing counts its bytes. */
  readonly end: () => string | undefined
}

/** Server-sent events. */
export const sse: Framing<Sse.SseEvent> = {
  mediaType: "text/event-stream",
  open: (onFrame) => {
    const reader = Sse.reader(onFrame)
    return {
      push: (bytes) => reader.push(bytes)?.detail,
      end: () => undefined
    }
  }
}

/** The binary event streams of AWS. */
export const awsEventStream: Framing<EventStream.EventStreamMessage> = {
  mediaType: "application/vnd.amazon.eventstream",
  open: (onFrame) => EventStream.reader(onFrame)
}
