import * as EventStream from "../../wire/framing/EventStream.ts"
import * as Sse from "../../wire/framing/Sse.ts"

/** How the bytes of an upstream are split into frames. */
export interface Framing<Frame> {
  readonly mediaType: string
  readonly open: (onFrame: (frame: Frame) => void) => FrameReader
}

/** Both methods return the rule that the bytes violate; the reader is unusable afterwards. The reader has its own bounds. */
export interface FrameReader {
  readonly push: (bytes: Uint8Array) => string | undefined
  /** No more bytes. An unfinished last frame is an error only where frames have a length. */
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
