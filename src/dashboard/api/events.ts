/** A server-sent event, whose data may be in several lines. */
export interface ServerEvent {
  readonly name: string
  readonly data: string
}

/**
 * The events of a response; any cut of the bytes into chunks gives the same events. What is cut off at the end is none. `onBytes` is
 * told of all bytes, also of comments.
 */
export async function* serverEventsOf(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {}
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ""
  let name = "message"
  let data: Array<string> = []
  try {
    while (true) {
      const { done, value } = await reader.read()
      onBytes()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      const lines = rest.split(/\r\n|\n/)
      // the last line is not complete yet; nor is a carriage return whose newline may follow
      rest = done ? "" : (lines.pop() ?? "")
      for (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(5).trimStart())
        else if (line.startsWith("event:")) name = line.slice(6).trim()
        else if (line === "") {
          if (data.length > 0) yield { name, data: data.join("\n") }
          name = "message"
          data = []
        }
      }
      if (done) return
    }
  } finally {
    // of a response that is not read to its end the browser would hold the connection; one that has failed is gone
    await reader.cancel().catch(() => undefined)
  }
}
