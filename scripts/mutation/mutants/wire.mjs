// @ts-check

const sse = ["test/wire/framing/Sse.test.ts"]

/** @type {import("../mutants.mjs").Area} */
export const wire = {
  name: "wire",
  tests: ["test/wire/chat/ChatStream.test.ts", "test/wire/chat/ChatAnswer.test.ts"],
  mutants: [
    {
      file: "src/wire/framing/Sse.ts",
      find: "        if (text.charCodeAt(from) === lf) from++\n",
      replace: "",
      breaks: "the LF of a CRLF is read as an empty line",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: 'new TextDecoder("utf-8", { fatal: true })',
      replace: 'new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })',
      breaks: "a byte order mark at the start is read as text",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "decoder.decode(bytes, { stream: true })",
      replace: "decoder.decode(bytes)",
      breaks: "a character that is split between reads is lost",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: 'new TextDecoder("utf-8", { fatal: true })',
      replace: 'new TextDecoder("utf-8")',
      breaks: "bytes that are not UTF-8 become replacement characters",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "read(validLines(whole)) ?? notUtf8",
      replace: "notUtf8",
      breaks: "events before invalid bytes are lost when one read brings both",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "else data = data === undefined ? value :",
      replace: "else data = true ? value :",
      breaks: "of several data lines only the last is kept",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: '    const [name, text] = [event, data]\n    event = ""\n',
      replace: "    const [name, text] = [event, data]\n",
      breaks: "an event's name is kept for the next event",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "charCodeAt(colon + 1) === space ? colon + 2 : colon + 1",
      replace: "charCodeAt(colon + 1) === space ? colon + 1 : colon + 1",
      breaks: "the blank after a colon is part of the value",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "        eventLength = 0\n",
      replace: "",
      breaks: "the bound on one event is one on the whole stream",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "return eventLength + line.length > limits.eventLength",
      replace: "return eventLength > limits.eventLength",
      breaks: "a line without an end has no bound",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "      if (violation !== undefined) return violation\n",
      replace: "",
      breaks: "reading goes on after a bound was broken",
      tests: sse
    },
    {
      file: "src/wire/framing/Sse.ts",
      find: "/[\\u0085\\u2028\\u2029]/g",
      replace: "/[\\u0085]/g",
      breaks: "a line separator in a text ends a line for some clients",
      tests: sse
    },
    {
      file: "src/wire/framing/EventStream.ts",
      find: 'if (crc32(whole.subarray(0, end)) !== view.getUint32(end)) return "an event stream message with a wrong checksum"',
      replace: "",
      breaks: "a corrupted event stream message is accepted",
      tests: ["test/wire/framing/EventStream.test.ts"]
    },
    {
      file: "src/wire/framing/EventStream.ts",
      find: "filled === 0 ? undefined :",
      replace: "true ? undefined :",
      breaks: "an event stream that ends inside a message is whole",
      tests: ["test/wire/framing/EventStream.test.ts"]
    },
    {
      file: "src/wire/validation/JsonBounds.ts",
      find: "text.charCodeAt(escapes - 1) === backslash) escapes--\n    if ((end - escapes) % 2 === 0) return end",
      replace: "text.charCodeAt(escapes - 1) === backslash) escapes--\n    return end",
      breaks: "an escaped quote ends a long string, so that brackets in it count",
      tests: ["test/wire/validation/JsonBounds.test.ts"]
    },
    {
      file: "src/wire/validation/JsonBounds.ts",
      find: "bytes[escapes - 1] === backslash) escapes--\n    if ((end - escapes) % 2 === 0) return end",
      replace: "bytes[escapes - 1] === backslash) escapes--\n    return end",
      breaks: "an escaped quote ends a long string of a body",
      tests: ["test/wire/validation/LongStrings.test.ts"]
    },
    {
      file: "src/wire/validation/JsonBounds.ts",
      find: "&& !isName(bytes, end + 1)",
      replace: "",
      breaks: "the long name of a member is parsed apart",
      tests: ["test/wire/validation/LongStrings.test.ts"]
    },
    {
      file: "src/wire/validation/LongStrings.ts",
      find: "if (isCompact(value, utf8.length) && isWhole(value, utf8)) this.literals",
      replace: "if (isWhole(value, utf8)) this.literals",
      breaks: "a provider gets a body of twice the size from a client that escapes every character",
      tests: ["test/wire/validation/LongStrings.test.ts"]
    },
    {
      file: "src/wire/validation/LongStrings.ts",
      find: '!(utf8.includes("\\\\ud") || utf8.includes("\\\\uD"))',
      replace: '!utf8.includes("\\\\ud")',
      breaks: "half of a surrogate pair that is written in capitals is copied into the body for a provider",
      tests: ["test/wire/validation/LongStrings.test.ts"]
    },
    {
      file: "src/wire/validation/LongStrings.ts",
      find: "    return { json: parseExactly(this.bytes",
      replace: '    if (this.mark !== "") throw new SyntaxError()\n    return { json: parseExactly(this.bytes',
      breaks: "an error in a body with a long string names no position",
      tests: ["test/wire/validation/LongStrings.test.ts"]
    },
    {
      file: "src/provider/protocols/shared/UpstreamBody.ts",
      find: "      same.next = at + 1\n",
      replace: "",
      breaks: "of long strings with one length only the first eight are copied",
      tests: ["test/provider/protocols/shared/UpstreamBody.test.ts"]
    },
    {
      file: "src/domain/StringLiterals.ts",
      find: "    this.left = []\n",
      replace: "",
      breaks: "a call keeps its client's body in memory until it ends",
      tests: ["test/wire/validation/LongStrings.test.ts"]
    },
    {
      file: "src/wire/validation/JsonBounds.ts",
      find: "closeBracket) depth--\n    else if ((unit === comma || unit === colon) && ++marks > max) return marks",
      replace: "closeBracket) {}\n    else if ((unit === comma || unit === colon) && ++marks > max) return marks",
      breaks: "brackets side by side count as nested",
      tests: ["test/wire/validation/JsonBounds.test.ts"]
    },
    {
      file: "src/wire/chat/ChatStream.ts",
      find: "    this.send(Sse.done)\n",
      replace: "",
      breaks: "a whole stream ends without [DONE]"
    },
    {
      file: "src/wire/chat/ChatStream.ts",
      find: "    this.send(Sse.write({ error }))\n",
      replace: "    this.send(Sse.write({ error }))\n    this.send(Sse.done)\n",
      breaks: "a stream that has failed ends with [DONE]"
    },
    {
      file: "src/wire/chat/ChatStream.ts",
      find: "if (!this.options.excludeReasoning) this.reasoning(event)",
      replace: "this.reasoning(event)",
      breaks: "reasoning is sent to a client that wants none"
    },
    {
      file: "src/wire/chat/ChatStream.ts",
      find: "if (!this.write(frame)) this.isFlowing = false",
      replace: "this.isFlowing = this.write(frame)",
      breaks: "a slow reader is forgotten when an event has several frames"
    },
    {
      file: "src/wire/chat/ChatStream.ts",
      find: "    this.isOver = true\n    return this.isFlowing",
      replace: "    return this.isFlowing",
      breaks: "a stream that has ended can be ended again"
    },
    {
      file: "src/wire/ErrorBody.ts",
      find: 'byType.get(type) ?? "api_error"',
      replace: "byType.get(type) ?? type",
      breaks: "a client of Anthropic's shape is told an error type that it does not know",
      tests: ["test/wire/ErrorBody.test.ts"]
    },
    {
      file: "src/domain/Completion.ts",
      find: 'name: before?.name || (event.name ?? ""),',
      replace: 'name: event.name ?? before?.name ?? "",',
      breaks: "a later fragment renames a tool call",
      tests: ["test/domain/Completion.test.ts"]
    },
    {
      file: "src/domain/Completion.ts",
      find: ".sort(([a], [b]) => a - b)",
      replace: "",
      breaks: "blocks of an answer are in the order in which they came, not in theirs",
      tests: ["test/domain/Completion.test.ts"]
    }
  ]
}
