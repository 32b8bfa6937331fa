/** The data of each server-sent event of a response; any cut of the bytes into chunks gives the same events. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ""
  try {
    while (true) {
      const { done, value } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      const lines = rest.split(/\r\n|\n/)
      // the last line is not complete yet; nor is a carriage return whose newline may follow
      rest = done ? "" : (lines.pop() ?? "")
      for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trimStart()
      if (done) return
    }
  } finally {
    reader.releaseLock()
  }
}
