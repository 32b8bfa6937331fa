// @ts-check

const httpProvider = ["test/provider/transport/HttpProvider.test.ts"]
const openAi = [
  "test/provider/protocols/openai-chat/OpenAiChatDecode.test.ts",
  "test/provider/protocols/UnknownIsNeverSuccess.test.ts"
]

/** @type {import("../mutants.mjs").Area} */
export const provider = {
  name: "provider",
  tests: [
    "test/provider/transport/Transport.test.ts",
    "test/provider/protocols/openai-chat/OpenAiChatContract.test.ts"
  ],
  mutants: [
    {
      file: "src/provider/transport/Transport.ts",
      find: "    if (this.resetScore <= maxResetScore) return\n",
      replace: "    return\n",
      breaks: "connections that are reset each time are used again forever"
    },
    {
      file: "src/provider/transport/Transport.ts",
      find: "    if (this.resetScore > 0) this.resetScore -= 1\n",
      replace: "",
      breaks: "rare resets add up until connections are not used again"
    },
    {
      file: "src/provider/transport/HttpProvider.ts",
      find: "this.exchange?.wasSent() === true :",
      replace: "true :",
      breaks: "a request that was not sent counts as one that may be billed"
    },
    {
      file: "src/provider/transport/HttpProvider.ts",
      find: "=== true : isSuccess(this.status)",
      replace: "=== true : true",
      breaks: "a request that was refused counts as one that may be billed"
    },
    {
      file: "src/provider/transport/Transport.ts",
      find: "    this.sent = true\n",
      replace: "",
      breaks: "a request that was sent counts as one that cannot be billed"
    },
    {
      file: "src/provider/transport/Transport.ts",
      find: '    this.state = "over"\n    this.controller?.abort(closed)',
      replace: '    this.state = "over"',
      breaks: "closing a call leaves its socket open"
    },
    {
      file: "src/provider/transport/Transport.ts",
      find: '    this.state = "over"\n    this.controller = undefined\n    this.handler.end()',
      replace: "    this.handler.end()",
      breaks: "an answer that is over can still fail",
      equivalent: "undici tells nothing of a request after its end, and a provider closes no exchange that has ended"
    },
    {
      file: "src/provider/transport/SocketError.ts",
      find: 'if (phase === "answering") return { _tag: "Disconnected" }',
      replace: "",
      breaks: "a break in the middle of an answer is taken for one before it",
      tests: [
        "test/provider/transport/Transport.test.ts",
        "test/provider/protocols/openai-chat/OpenAiChatErrors.test.ts"
      ]
    },
    {
      file: "src/provider/transport/SocketError.ts",
      find: "reused ?? readBefore(error)",
      replace: "false",
      breaks: "a reset of a reused connection is not told from one of a fresh connection",
      tests: [
        "test/provider/transport/Transport.test.ts",
        "test/provider/protocols/openai-chat/OpenAiChatErrors.test.ts"
      ]
    },
    {
      file: "src/provider/transport/Transport.ts",
      find: "socket.bytesRead > before",
      replace: "socket.bytesRead > 0",
      breaks: "the answer of a proxy counts as one of the provider: a call that was read is sent again",
      tests: ["test/provider/transport/ProxiedTransport.test.ts"]
    },
    {
      file: "src/egress/Agent.ts",
      find: "AbortSignal.timeout(connectMillis)",
      replace: "AbortSignal.timeout(300_000)",
      breaks: "a proxy that does not answer is waited for without end",
      tests: ["test/provider/transport/ProxiedTransport.test.ts"]
    },
    {
      file: "src/egress/Agent.ts",
      find: "lookup === undefined || isIP(hostname) !== 0",
      replace: "true",
      breaks: "a proxy is asked for the name of a webhook, not for the address that was checked",
      tests: ["test/egress/Egress.test.ts"]
    },
    {
      file: "src/egress/Proxy.ts",
      find: "isThisHost(to.hostname) || isExcepted(to)",
      replace: "isExcepted(to)",
      breaks: "a proxy is asked for this host",
      tests: ["test/egress/Proxy.test.ts"]
    },
    {
      file: "src/provider/transport/HttpProvider.ts",
      find: "    this.deadline = this.options.timers.after(lingerMillis, () => exchange?.close())\n",
      replace: "",
      breaks: "the rest of a complete response may take forever",
      tests: httpProvider
    },
    {
      file: "src/provider/transport/HttpProvider.ts",
      find: "this.receivedBytes > this.maxBytes",
      replace: "this.receivedBytes > 10 * this.maxBytes",
      breaks: "an answer has no bound",
      tests: httpProvider
    },
    {
      file: "src/provider/transport/HttpProvider.ts",
      find: "this.options.timers.after(errorBodyMillis, () => this.read((body) => body.end()))",
      replace: "() => {}",
      breaks: "an error whose body does not end is waited for",
      tests: httpProvider
    },
    {
      file: "src/provider/transport/ResponseBody.ts",
      find: 'if (encoding.toLowerCase() !== "identity") return',
      replace: "if (false) return",
      breaks: "an encoded answer is read as if it were none",
      tests: httpProvider
    },
    {
      file: "src/provider/transport/ResponseBody.ts",
      find: "return isUtf8(bytes) ?",
      replace: "return true ?",
      breaks: "bytes of an answer that are not UTF-8 become replacement characters",
      tests: httpProvider
    },
    {
      file: "src/provider/protocols/bedrock-converse/Decode.ts",
      find: "isUtf8(message.payload) ?",
      replace: "true ?",
      breaks: "bytes of an event that are not UTF-8 become replacement characters",
      tests: ["test/provider/protocols/UnknownIsNeverSuccess.test.ts"]
    },
    {
      file: "src/provider/transport/HttpProvider.ts",
      find: "message: this.hasPiece(message) ?",
      replace: "message: false ?",
      breaks: "pieces of a credential in a provider's text are passed on",
      tests: httpProvider
    },
    {
      file: "src/provider/protocols/shared/Errors.ts",
      find: "bounded(Math.max(0, date - nowMillis))",
      replace: "bounded(Math.max(0, date))",
      breaks: "a Retry-After date is taken for a duration",
      tests: ["test/provider/protocols/openai-chat/OpenAiChatErrors.test.ts"]
    },
    {
      file: "src/provider/protocols/shared/Errors.ts",
      find: "isWait(seconds) ? bounded(seconds * 1000) : null",
      replace: "bounded(seconds * 1000)",
      breaks: "a negative Retry-After is believed",
      tests: ["test/provider/protocols/openai-chat/OpenAiChatErrors.test.ts"]
    },
    {
      file: "src/provider/protocols/openai-chat/Decode.ts",
      find: '(state.finished ? complete() : failed({ _tag: "Disconnected" }))',
      replace: "complete()",
      breaks: "a stream that ends without a finish is whole",
      tests: openAi
    },
    {
      file: "src/provider/protocols/openai-chat/Decode.ts",
      find: 'if (frame.event === "error") return failed(classifyInBand(json))',
      replace: "",
      breaks: "an error event is read as a chunk",
      tests: openAi
    },
    {
      file: "src/provider/protocols/openai-chat/Decode.ts",
      find: "  if (state.toolCalls.incomplete) return withoutName\n",
      replace: "",
      breaks: "a tool call without a name is passed on as whole",
      tests: openAi
    },
    {
      file: "src/provider/protocols/openai-chat/Decode.ts",
      find: "    if (state.toolCalls.incomplete) return failed(withoutName, step.events)\n",
      replace: "",
      breaks: "a tool call without a name is passed on as whole where no finish reason is said",
      tests: openAi
    },
    {
      file: "src/provider/protocols/openai-chat/Decode.ts",
      find: "finishAfter(state.toolCalls.count, known)",
      replace: "known",
      breaks: "an answer with tool calls may say that it has stopped",
      tests: openAi
    },
    {
      file: "src/provider/protocols/openai-chat/Usage.ts",
      find: "const cacheRead = Math.min(\n    prompt,\n",
      replace: "const cacheRead = Math.max(\n    0,\n",
      breaks: "more cached tokens are charged than the prompt has",
      tests: openAi
    },
    {
      file: "src/provider/StreamProvider.ts",
      find: "return exit.value ? undefined : new ProviderError",
      replace: "return true ? undefined : new ProviderError",
      breaks: "a provider written as a stream may end without a finish",
      tests: ["test/testing/doubles/ScriptedProvider.test.ts"]
    },
    {
      file: "src/provider/StreamProvider.ts",
      find: "          fiber.unsafeInterruptAsFork(fiber.id())\n",
      replace: "",
      breaks: "a provider written as a stream runs on after its call was closed",
      tests: ["test/provider/simulated/Simulated.test.ts", "test/testing/doubles/ScriptedProvider.test.ts"]
    },
    {
      file: "src/domain/StrictSchema.ts",
      find: "counts.optional > maxOptionalProperties || counts.unions > maxUnions",
      replace: "counts.optional > maxOptionalProperties",
      breaks: "Claude is sent more unions in strict tools than its providers take",
      tests: ["test/domain/StrictSchema.test.ts"]
    },
    {
      file: "src/provider/protocols/openai-chat/Tools.ts",
      find: "rules.isStrictUniform === true && isStrictMixed(request.tools)",
      replace: "rules.isStrictUniform === true",
      breaks: "no tool is strict at Cerebras",
      tests: ["test/provider/vendors/Vendors.test.ts"]
    }
  ]
}
