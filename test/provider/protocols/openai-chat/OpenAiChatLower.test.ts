import { createHash } from "node:crypto"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import type {
  ChatRequest,
  Effort,
  FilePart,
  JsonObject,
  Message,
  ToolCall,
  UserPart
} from "../../../../src/domain/Chat.ts"
import type { Reasoning } from "../../../../src/domain/Model.ts"
import { shapingParameters, tuningParameters } from "../../../../src/domain/Support.ts"
import type { ProviderCall } from "../../../../src/provider/Provider.ts"
import { withItems } from "../../../../src/provider/protocols/openai-chat/ArrayItems.ts"
import { nonStreaming } from "../../../../src/provider/protocols/openai-chat/Decode.ts"
import { lower } from "../../../../src/provider/protocols/openai-chat/Lower.ts"
import {
  compatible,
  openAi,
  type Quirks,
  reasoningByEnabled,
  reasoningByFlag,
  reasoningByObject,
  reasoningByType
} from "../../../../src/provider/protocols/openai-chat/Quirks.ts"
import { vendorOf } from "../../../../src/provider/vendors/Vendors.ts"
import { reasoningDetail } from "../../../../src/wire/chat/ChatAnswer.ts"
import { signatureOf } from "../../../../src/wire/messages/MessagesReasoning.ts"
import { decode } from "../../../../src/wire/messages/MessagesRequest.ts"
import { decodeReasoning, encodeReasoning } from "../../../../src/wire/ReasoningContinuity.ts"
import { call, model, saying } from "../calls.ts"

const text = (asked: Partial<ChatRequest>, quirks: Quirks = openAi, more: Partial<ProviderCall> = {}): string =>
  String(lower({ ...call(asked), ...more }, quirks))
const body = (asked: Partial<ChatRequest>, quirks: Quirks = openAi, more: Partial<ProviderCall> = {}) =>
  JSON.parse(text(asked, quirks, more)) as Record<string, unknown>

const noParameters = { type: "object", properties: {} } as const
const weather = { type: "function", function: { name: "weather", parameters: noParameters } } as const
const clock = { type: "function", function: { name: "clock" } } as const

const everything: Partial<ChatRequest> = {
  tools: [weather],
  toolChoice: "required",
  temperature: 0.5,
  topP: 0.9,
  stop: ["END"],
  frequencyPenalty: 0.1,
  presencePenalty: 0.2,
  seed: 7,
  logprobs: true,
  topLogprobs: 2,
  parallelToolCalls: false,
  responseFormat: { type: "json_object" },
  verbosity: "low",
  serviceTier: "flex",
  metadata: { a: "b" },
  store: false,
  safetyIdentifier: "s",
  promptCacheKey: "k",
  promptCacheOptions: { mode: "auto" },
  promptCacheRetention: "24h",
  prediction: { type: "content", content: "p" },
  modalities: ["text"],
  audio: { voice: "v", format: "wav" },
  moderation: { model: "m" },
  webSearchOptions: {},
  user: "u"
}

describe("the upstream body", () => {
  it("of a small stream, byte for byte", () => {
    expect(text({})).toBe(
      '{"model":"large","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}'
    )
    expect(text({ stream: false }, compatible)).toBe(
      '{"model":"large","messages":[{"role":"user","content":"hi"}],"max_tokens":100,"stream":false}'
    )
    expect(text({}, { ...compatible, streamOptions: false, always: { split: true } })).toBe(
      '{"model":"large","messages":[{"role":"user","content":"hi"}],"split":true,"max_tokens":100,"stream":true}'
    )
  })

  it("with every parameter, byte for byte", () => {
    const reasoning: Reasoning = {
      efforts: ["high"],
      style: "effort",
      budget: null,
      defaultEffort: null,
      mandatory: false,
      depth: null
    }
    expect(text(everything, openAi, { effort: "high", model: model({ reasoning }) })).toBe(
      '{"model":"large","messages":[{"role":"user","content":"hi"}],' +
        '"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{}}}}],' +
        '"tool_choice":"required","parallel_tool_calls":false,"temperature":0.5,"top_p":0.9,"stop":["END"],"frequency_penalty":0.1,"presence_penalty":0.2,' +
        '"seed":7,"logprobs":true,"top_logprobs":2,"response_format":{"type":"json_object"},"reasoning_effort":"high",' +
        '"verbosity":"low","service_tier":"flex","metadata":{"a":"b"},"store":false,"safety_identifier":"s","prompt_cache_key":"k",' +
        '"prompt_cache_options":{"mode":"auto"},"prompt_cache_retention":"24h","prediction":{"type":"content","content":"p"},' +
        '"modalities":["text"],"audio":{"voice":"v","format":"wav"},"moderation":{"model":"m"},"web_search_options":{},"user":"u",' +
        '"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}'
    )
  })

  it("has none of the parameters that this route drops", () => {
    const sent = body(everything, openAi, { dropped: [...shapingParameters, ...tuningParameters] })
    expect(Object.keys(sent)).toEqual(["model", "messages", "max_completion_tokens", "stream", "stream_options"])
  })

  it("has no field that asks for nothing, where vendors reject the field itself", () => {
    const unasked = { logprobs: false, topLogprobs: 0, modalities: ["text"] }
    for (const vendor of ["mistral", "groq", "cerebras"]) {
      const provider = vendorOf(vendor)?.protocol
      const sent = provider?.lower(call({ ...unasked, stream: false }))
      expect(sent, vendor).not.toMatch(/logprobs|modalities/)
    }
    expect(body({ modalities: ["text", "audio"] }, compatible)).toMatchObject({ modalities: ["text", "audio"] })
    expect(Object.keys(body(unasked, openAi))).not.toContain("logprobs")
    expect(body(unasked, openAi)).toMatchObject({ modalities: ["text"] })
    expect(body({ logprobs: true, topLogprobs: 0 })).not.toHaveProperty("top_logprobs")
  })

  it("the client's own cap is never sent in place of the hold's", () => {
    expect(body({ maxOutputTokens: 99_999 })["max_completion_tokens"]).toBe(100)
  })

  it("has a digest of an id that is longer than the vendor takes, always the same", () => {
    const user = `user_${"a".repeat(64)}_account_${"b".repeat(36)}_session_${"c".repeat(36)}`
    const digest = createHash("sha256").update(user).digest("hex")
    const ids = { user, safetyIdentifier: user, promptCacheKey: user }
    const digests = { user: digest, safety_identifier: digest, prompt_cache_key: digest }
    for (const vendor of ["openai", "azure"]) {
      expect(JSON.parse(String(vendorOf(vendor)?.protocol.lower(call(ids))))).toMatchObject(digests)
    }
    for (const vendor of ["openrouter", "groq"]) {
      expect(String(vendorOf(vendor)?.protocol.lower(call({ user, stream: false })))).toContain(`"user":"${digest}"`)
    }
    expect(body({ user: "u".repeat(64) })).toMatchObject({ user: "u".repeat(64) })
    const of128 = call({ user: "u".repeat(128) })
    expect(String(vendorOf("openrouter")?.protocol.lower(of128))).toContain(`"user":"${"u".repeat(128)}"`)
  })

  it("has no field that the domain does not know", () => {
    const sneaky: ReadonlyArray<Message> = [
      Object.assign(
        { role: "user" as const, content: [Object.assign({ type: "text" as const, text: "hi" }, { evil: 1 })] },
        { evil: 1 }
      ),
      Object.assign({ role: "tool" as const, content: "r", tool_call_id: "c" }, { evil: 1 })
    ]
    const sent = text({
      messages: sneaky,
      tools: [Object.assign({}, weather, { evil: 1 })],
      toolChoice: { type: "function", function: { name: "weather", evil: 1 }, evil: 1 }
    })
    expect(sent).not.toContain("evil")
  })

  it("has members of the response format that are not documented here at OpenAI alone", () => {
    const responseFormat = { type: "json_schema", json_schema: { name: "n", schema: {}, later: 1 }, later: 2 }
    expect(body({ responseFormat }, openAi)["response_format"]).toEqual(responseFormat)
    expect(body({ responseFormat }, compatible)["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "n", schema: {} }
    })
  })
})

describe("messages", () => {
  it("each role and part keeps its shape", () => {
    const messages: ReadonlyArray<Message> = [
      { role: "developer", content: "d", name: "n" },
      { role: "system", content: [{ type: "text", text: "s" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "t" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } },
          { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
          { type: "file", file: { filename: "f.pdf", file_data: "data:application/pdf;base64,AA==" } }
        ]
      },
      { role: "assistant", content: [{ type: "refusal", refusal: "no" }], refusal: "no" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "r" }] }
    ]
    expect(body({ messages })["messages"]).toEqual(messages)
    expect(body({ messages }, { ...compatible, refusals: true, textParts: true })["messages"]).toEqual([
      { role: "system", content: "d", name: "n" },
      ...messages.slice(1)
    ])
  })

  it("content that is all text is one text where servers take no list of parts", () => {
    const parts = (...texts: ReadonlyArray<string>) => texts.map((one) => ({ type: "text" as const, text: one }))
    const image = { type: "image_url" as const, image_url: { url: "https://a.test/a.png" } }
    const messages: ReadonlyArray<Message> = [
      { role: "developer", content: parts("a", "b") },
      { role: "user", content: parts("only") },
      { role: "user", content: [...parts("", "see"), image] },
      { role: "assistant", content: parts("x", "", "y") },
      {
        role: "assistant",
        content: parts(""),
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: "c1", content: parts("r", "s") }
    ]
    const sent = body({ messages }, compatible)["messages"] as ReadonlyArray<{ readonly content: unknown }>
    expect(sent.map(({ content }) => content)).toEqual(["a\nb", "only", [...parts("see"), image], "x\ny", "", "r\ns"])
    const kept = body({ messages }, openAi)["messages"] as ReadonlyArray<{ readonly content: unknown }>
    expect(kept.map(({ content }) => content)).toEqual(messages.map(({ content }) => content))
  })

  it("of Claude's format keep their cache marks at OpenRouter: of texts, results, tools and the whole request", () => {
    const mark = { cache_control: { type: "ephemeral" } }
    const results = [
      { type: "tool_result", tool_use_id: "c1", content: "one", ...mark },
      { type: "tool_result", tool_use_id: "c2", content: "", ...mark }
    ]
    const asked = (more: object) =>
      Either.getOrThrow(
        decode({
          model: "m",
          max_tokens: 100,
          system: [{ type: "text", text: "a", ...mark }],
          tools: [{ name: "f", input_schema: noParameters, ...mark }],
          messages: [
            { role: "user", content: "hi" },
            { role: "assistant", content: ["c1", "c2"].map((id) => ({ type: "tool_use", id, name: "f", input: {} })) },
            { role: "user", content: results }
          ],
          ...more
        })
      ).request
    const openrouter = vendorOf("openrouter")
    const support = openrouter?.protocol.support ?? model().support
    const sent = (more: object, takes = support) =>
      JSON.parse(String(openrouter?.protocol.lower({ ...call(asked(more)), model: model({ support: takes }) }))) as {
        readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
        readonly tools: ReadonlyArray<object>
      }
    const text = (content: string) => [{ type: "text", text: content, ...mark }]
    const { messages, tools } = sent({})
    expect(messages.map(({ content }) => content)).toEqual([text("a"), "hi", null, text("one"), ""])
    expect(tools).toMatchObject([{ type: "function", ...mark }])
    // the last text of the request stands for all of it: the empty result after it cannot be marked
    expect(sent(mark)).toEqual(sent({}))
    const asking = { messages: [{ role: "user", content: "hi" }] }
    expect(sent({ ...asking, ...mark }).messages.at(-1)?.content).toEqual(text("hi"))
    expect(sent(asking).messages.at(-1)?.content).toBe("hi")
    expect(JSON.stringify(sent(mark, { ...support, cache_control: "dropped" }))).not.toContain("cache_control")
  })

  it("of Claude's format are texts at DeepSeek, which rejects lists", () => {
    const asked = Either.getOrThrow(
      decode({
        model: "m",
        max_tokens: 100,
        system: [
          { type: "text", text: "a" },
          { type: "text", text: "b", cache_control: { type: "ephemeral" } }
        ],
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "c1",
                content: [
                  { type: "text", text: "r" },
                  { type: "text", text: "s" }
                ]
              }
            ]
          }
        ]
      })
    ).request
    const sent = JSON.parse(String(vendorOf("deepseek")?.protocol.lower(call({ messages: asked.messages })))) as {
      readonly messages: ReadonlyArray<{ readonly content: unknown }>
    }
    expect(sent.messages.map(({ content }) => content)).toEqual(["a\nb", "hi", null, "r\ns"])
  })

  it("an answer without content or calls, which many vendors reject, says that it is empty", () => {
    const messages = (content: string | null): ReadonlyArray<Message> => [
      { role: "user", content: "hi" },
      { role: "assistant", content },
      { role: "user", content: "again" }
    ]
    for (const vendor of ["mistral", "moonshotai", "deepseek", "openrouter"]) {
      for (const content of ["", null]) {
        const sent = JSON.parse(String(vendorOf(vendor)?.protocol.lower(call({ messages: messages(content) })))) as {
          readonly messages: ReadonlyArray<unknown>
        }
        expect(sent.messages[1], vendor).toEqual({ role: "assistant", content: "(empty)" })
      }
    }
    const kept = body({ messages: messages("") }, openAi)["messages"] as ReadonlyArray<unknown>
    expect(kept[1]).toEqual({ role: "assistant", content: "" })
  })

  it("a file has the name that OpenAI requires beside data, and none beside an id", () => {
    const namesOf = (...files: ReadonlyArray<FilePart["file"]>) => {
      const content = files.map((file) => ({ type: "file" as const, file }))
      const [sent] = body({ messages: [{ role: "user", content }] })["messages"] as ReadonlyArray<{
        readonly content: ReadonlyArray<{ readonly file: { readonly filename?: string } }>
      }>
      return sent?.content.map(({ file }) => file.filename)
    }
    const pdf = "data:application/pdf;base64,AAAA"
    expect(
      namesOf(
        { file_data: pdf },
        { file_data: pdf, filename: "a.pdf" },
        { file_data: "data:image/png;base64,AAAA" },
        { file_data: "data:application/msword;base64,AAAA", filename: "" },
        { file_data: "data:application/zip;base64,AAAA" },
        { file_id: "f" }
      )
    ).toEqual(["document.pdf", "a.pdf", "document.png", "document.doc", "document", undefined])
  })

  it("a file that is text is sent as text after its name: OpenAI takes PDF files only", () => {
    const file = (head: string, content: string, filename?: string): FilePart => ({
      type: "file",
      file: {
        file_data: `data:${head};base64,${Buffer.from(content).toString("base64")}`,
        ...(filename !== undefined && { filename })
      }
    })
    const marked = { ...file("text/markdown", "# größer", "notes.md"), cache_control: { type: "ephemeral" } as const }
    const content: ReadonlyArray<FilePart> = [
      marked,
      file("application/octet-stream", "a,b", "a.csv"),
      file("text/plain", ""),
      file("application/json", "{}")
    ]
    const messages: ReadonlyArray<Message> = [
      { role: "user", content },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: "c", content: [file("text/plain", "said")] }
    ]
    const texts = ["notes.md\n\n# größer", "a.csv\n\na,b", "(empty)", "{}"].map((one) => ({ type: "text", text: one }))
    expect(body({ messages })["messages"]).toEqual([
      { role: "user", content: texts },
      messages[1],
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "said" }] }
    ])
    expect(body({ messages }, compatible)["messages"]).toMatchObject([
      { content: texts.map((one) => one.text).join("\n") },
      {},
      { content: "said" }
    ])
    const anthropic = { ...model(), support: { ...model().support, cache_control: "native" } } as const
    expect(body({ messages }, openAi, { model: anthropic })["messages"]).toMatchObject([
      { content: [{ type: "text", cache_control: { type: "ephemeral" } }, ...texts.slice(1)] },
      {},
      {}
    ])
  })

  it("keep cache breakpoints at parts of every kind where options of the cache are sent", () => {
    const marked = { prompt_cache_breakpoint: { mode: "explicit" } }
    const content: ReadonlyArray<UserPart> = [
      { type: "text", text: "look", ...marked },
      { type: "image_url", image_url: { url: "https://a.example/b.png" }, ...marked },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" }, ...marked },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }, ...marked }
    ]
    const messages: ReadonlyArray<Message> = [{ role: "user", content }]
    expect(body({ messages }, openAi)["messages"]).toEqual(messages)
    expect(text({ messages }, openAi, { dropped: ["prompt_cache_options"] })).not.toContain("breakpoint")
    const other = model({ support: { ...model().support, prompt_cache_options: "dropped" } })
    expect(text({ messages }, openAi, { model: other })).not.toContain("breakpoint")
  })

  it("name no participant where the route takes no names, as Mistral and Groq", () => {
    const messages: ReadonlyArray<Message> = [
      { role: "system", content: "s", name: "n" },
      { role: "user", content: "hi", name: "n" },
      { role: "assistant", content: "a", name: "n" }
    ]
    const dropped = ["messages.name"]
    for (const vendor of ["mistral", "groq"].map(vendorOf)) {
      expect(vendor?.protocol.support["messages.name"]).toBe("dropped")
      expect(String(vendor?.protocol.lower({ ...call({ messages }), dropped }))).not.toContain('"name"')
    }
    expect(body({ messages }, openAi)["messages"]).toEqual(messages)
  })

  it("are in the order that Mistral requires: instructions first, and the assistant between results and the user", () => {
    const image = { type: "image_url" as const, image_url: { url: "https://a.test/a.png" } }
    const messages: ReadonlyArray<Message> = [
      { role: "system", content: "first" },
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "abcdefghi", type: "function", function: { name: "f", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: "abcdefghi", content: [{ type: "text", text: "r" }, image] },
      { role: "system", content: "later" },
      { role: "user", content: "go on" }
    ]
    const rolesAt = (vendor: string) => {
      const sent = JSON.parse(String(vendorOf(vendor)?.protocol.lower(call({ messages })))) as {
        readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
      }
      return sent.messages.map(
        ({ content, role }) => `${role}: ${typeof content === "string" ? content : typeof content}`
      )
    }
    expect(rolesAt("mistral")).toEqual([
      "system: first",
      "system: later",
      "user: hi",
      "assistant: object",
      "tool: r",
      "assistant: (continued)",
      "user: object",
      "user: go on"
    ])
    expect(rolesAt("groq")).toEqual([
      "system: first",
      "user: hi",
      "assistant: object",
      "tool: r",
      "user: object",
      "system: later",
      "user: go on"
    ])
  })

  it("end with an answer that Mistral is to go on with, as it requires it to be marked", () => {
    const last = (vendor: string, ...messages: ReadonlyArray<Message>) =>
      (
        JSON.parse(String(vendorOf(vendor)?.protocol.lower(call({ messages })))) as {
          readonly messages: ReadonlyArray<unknown>
        }
      ).messages.at(-1)
    const question: Message = { role: "user", content: "A list as JSON" }
    const begun: Message = { role: "assistant", content: "[" }
    expect(last("mistral", question, begun)).toEqual({ ...begun, prefix: true })
    // instructions are moved to the front
    expect(last("mistral", question, begun, { role: "system", content: "s" })).toEqual({ ...begun, prefix: true })
    expect(last("mistral", question, begun, question)).toEqual(question)
    expect(last("groq", question, begun)).toEqual(begun)
  })

  it("a refusal is text where only OpenAI's models know refusals", () => {
    const sent = (message: object) => {
      const messages: ReadonlyArray<Message> = [Object.assign({ role: "assistant" as const }, message)]
      return (body({ messages }, compatible)["messages"] as ReadonlyArray<unknown>)[0]
    }
    expect(sent({ content: null, refusal: "I can't." })).toEqual({ role: "assistant", content: "I can't." })
    expect(sent({ content: [{ type: "refusal", refusal: "I can't." }] })).toEqual({
      role: "assistant",
      content: "I can't."
    })
    expect(sent({ content: "Well.", refusal: "I can't." })).toEqual({
      role: "assistant",
      content: "Well.\nI can't."
    })
    expect(sent({ content: "a", refusal: null })).toEqual({ role: "assistant", content: "a" })
  })

  const reasoningOf = (format: string) => ({
    type: "reasoning.text" as const,
    text: `by ${format}`,
    signature: "g",
    format,
    index: 0
  })
  const thinking = (more: object): ReadonlyArray<Message> => [{ role: "assistant", content: "a", ...more }]
  const back = (more: object, reasoningBack: Quirks["reasoningHistory"]) => {
    const [message] = body({ messages: thinking(more) }, { ...compatible, reasoningHistory: reasoningBack })[
      "messages"
    ] as ReadonlyArray<object>
    return message
  }

  it("reasoning goes back to its own origin only", () => {
    const details = { reasoning_details: [reasoningOf("acme/large"), reasoningOf("other/model")] }
    expect(back(details, "reasoning_details")).toEqual({
      role: "assistant",
      content: "a",
      reasoning_details: [{ type: "reasoning.text", text: "by acme/large", signature: "g", index: 0 }]
    })
    expect(back(details, "reasoning_content")).toEqual({
      role: "assistant",
      content: "a",
      reasoning_content: "by acme/large"
    })
    const addedUp = { ...reasoningOf("acme/large"), format: "acme/large".repeat(2) }
    expect(back({ reasoning_details: [addedUp] }, "reasoning_content")).toMatchObject({
      reasoning_content: "by acme/large"
    })
    expect(
      back({ reasoning_details: [reasoningOf("other/model")], reasoning_content: "x" }, "reasoning_content")
    ).toEqual({
      role: "assistant",
      content: "a"
    })
  })

  it("blocks of reasoning go back whole, as the vendor has encoded them, from the fragments of a stream too", () => {
    const model = "acme/large"
    const block = { kind: "text" as const, text: "ab", signature: "g", id: null, providerFormat: "google-gemini-v1" }
    const whole = { type: "reasoning.text", text: "ab", signature: "g", format: "google-gemini-v1" }
    const fragments = [
      { _tag: "Reasoning" as const, index: 0, kind: "text" as const, text: "", id: "before" },
      { _tag: "Reasoning" as const, index: 0, kind: "text" as const, text: "a", providerFormat: "google-gemini-v1" },
      { _tag: "Reasoning" as const, index: 0, kind: "text" as const, text: "b" },
      { _tag: "Reasoning" as const, index: 0, kind: "text" as const, text: "", signature: "g" }
    ]
    const streamed = fragments.map((fragment) => reasoningDetail({ ...fragment, model }))
    expect(back({ reasoning_details: streamed }, "reasoning_details")).toMatchObject({ reasoning_details: [whole] })
    const plain = [reasoningDetail({ ...block, index: 0, model })]
    expect(back({ reasoning_details: plain }, "reasoning_details")).toMatchObject({ reasoning_details: [whole] })
    const sealed = [decodeReasoning(encodeReasoning(block, model), "ab")]
    expect(back({ reasoning_details: sealed }, "reasoning_details")).toMatchObject({ reasoning_details: [whole] })
  })

  it("plain reasoning goes where a vendor wants it, and nowhere else", () => {
    expect(back({ reasoning_content: "t" }, "reasoning_content")).toMatchObject({ reasoning_content: "t" })
    expect(back({ reasoning: "t" }, "reasoning_content")).toMatchObject({ reasoning_content: "t" })
    expect(back({ reasoning_content: "t", reasoning: "t" }, "none")).toEqual({ role: "assistant", content: "a" })
  })

  it("reasoning after the text of a turn, as Messages has it, is no message without content", () => {
    const sealed = (data: string, format: string) => ({
      type: "redacted_thinking",
      data: signatureOf({ kind: "encrypted", text: data, signature: null, id: null }, format)
    })
    const asked = (format: string) =>
      Either.getOrThrow(
        decode({
          model: "acme/large",
          max_tokens: 100,
          messages: [
            { role: "user", content: "hi" },
            {
              role: "assistant",
              content: [sealed("a", format), { type: "text", text: "Hello." }, sealed("b", format)]
            },
            { role: "user", content: "and now?" }
          ]
        })
      ).request
    const sent = (format: string, reasoningHistory: Quirks["reasoningHistory"]) =>
      body({ messages: asked(format).messages }, { ...compatible, reasoningHistory })["messages"]
    expect(sent("google/gemini", "none")).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "and now?" }
    ])
    expect(sent("acme/large", "reasoning_details")).toMatchObject([
      {},
      {
        content: "Hello.",
        reasoning_details: [
          { data: "a", index: 0 },
          { data: "b", index: 1 }
        ]
      },
      {}
    ])
  })

  it("a vendor that requires reasoning beside tools gets a placeholder where a message has none of its own", () => {
    const calling = (more: object): Message => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: "{}" } }],
      ...more
    })
    const result: Message = { role: "tool", tool_call_id: "c1", content: "noon" }
    const messages: ReadonlyArray<Message> = [
      ...saying("hi"),
      calling({ reasoning_details: [reasoningOf("other/model")] }),
      result,
      { role: "assistant", content: "It is noon." },
      ...saying("and now?"),
      calling({ reasoning_details: [reasoningOf("acme/large")] }),
      result
    ]
    const reasoningIn = (quirks: Quirks, asked: Partial<ChatRequest>, more: Partial<ProviderCall> = {}) =>
      (body(asked, quirks, more)["messages"] as ReadonlyArray<Record<string, unknown>>).flatMap((message) =>
        message["role"] === "assistant" ? [message["reasoning_content"]] : []
      )
    const quirks: Quirks = { ...compatible, reasoningHistory: "reasoning_content", requiresReasoning: true }
    const placeholder = "(no reasoning was given)"
    expect(reasoningIn(quirks, { messages })).toEqual([placeholder, placeholder, "by acme/large"])
    expect(reasoningIn(quirks, { messages }, { effort: "none" })).toEqual([undefined, undefined, "by acme/large"])
    expect(reasoningIn(quirks, { messages: thinking({}) })).toEqual([undefined])
    expect(reasoningIn(quirks, { messages: thinking({}), tools: [clock] })).toEqual([placeholder])
    expect(reasoningIn({ ...quirks, requiresReasoning: false }, { messages })).toEqual([
      undefined,
      undefined,
      "by acme/large"
    ])
  })

  it("extra content goes back only to vendors that made it; ids are made to fit, alike in call and result", () => {
    const toolCall: ToolCall = {
      id: "call_abc",
      type: "function",
      function: { name: "f", arguments: "{}" },
      extra_content: { google: {} }
    }
    const messages: ReadonlyArray<Message> = [
      { role: "assistant", tool_calls: [toolCall] },
      { role: "tool", tool_call_id: "call_abc", content: "r" },
      { role: "tool", tool_call_id: "abcDEF123", content: "r" }
    ]
    expect(JSON.stringify(body({ messages }))).not.toContain("extra_content")
    expect(JSON.stringify(body({ messages }, { ...compatible, extraContent: true }))).toContain(
      '"extra_content":{"google":{}}'
    )
    const long = "functions.mcp__browser__take_screenshot_of_page:12"
    const foreign = JSON.stringify(
      body({
        messages: [
          { role: "assistant", tool_calls: [{ ...toolCall, id: long }] },
          {
            role: "tool",
            tool_call_id: long,
            content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }]
          }
        ]
      })
    )
    const [ofCall, ...others] = [...foreign.matchAll(/(?:"(?:id|tool_call_id)":"|of the call )([^":]+)/g)]
    expect(ofCall?.[1]).toMatch(/^[a-z0-9]{40}$/)
    expect(others.map((match) => match[1])).toEqual([ofCall?.[1], ofCall?.[1]])
    expect(foreign).not.toContain(long)
    expect(
      JSON.stringify(body({ messages: [{ role: "tool", tool_call_id: long, content: "r" }] }, compatible))
    ).toContain(long)
    const short = JSON.stringify(body({ messages }, { ...compatible, toolCallIdLength: 9 }))
    const ids = [...short.matchAll(/"(?:id|tool_call_id)":"([^"]+)"/g)].map((match) => match[1])
    expect(ids[0]).toMatch(/^[a-z0-9]{9}$/)
    expect(ids).toEqual([ids[0], ids[0], "abcDEF123"])
  })
})

describe("tools", () => {
  const allowed = (mode: string, ...names: ReadonlyArray<string>) => ({
    type: "allowed_tools",
    allowed_tools: { mode, tools: names.map((name) => ({ type: "function", function: { name } })) }
  })

  it("an allow-list is sent as it is, or becomes the allowed tools alone where the vendor has none", () => {
    const asked = { tools: [weather, clock], toolChoice: allowed("required", "clock") }
    expect(body(asked)).toMatchObject({ tools: [weather, clock], tool_choice: allowed("required", "clock") })
    expect(body(asked, compatible)).toMatchObject({ tools: [clock], tool_choice: "required" })
    const none = body({ tools: [weather], toolChoice: allowed("auto", "gone") }, compatible)
    expect([none["tools"], none["tool_choice"]]).toEqual([undefined, undefined])
  })

  it("named choices are rebuilt; without tools there is no choice", () => {
    const choice = { type: "function", function: { name: "weather" } }
    expect(body({ tools: [weather], toolChoice: choice })["tool_choice"]).toEqual(choice)
    const bare = body({ toolChoice: "auto", parallelToolCalls: true })
    expect([bare["tool_choice"], bare["parallel_tool_calls"]]).toEqual([undefined, undefined])
  })

  it("names that no vendor takes are sent as others, everywhere alike, and come back as they were", () => {
    const long = `mcp__plugin_observability__${"query_".repeat(10)}logs`
    const odd = "files.read"
    const named = (name: string) => ({ type: "function", function: { name } }) as const
    const custom = { type: "custom", custom: { name: "run it" } } as const
    const asked: Partial<ChatRequest> = {
      tools: [named(long), named(odd), weather, custom],
      toolChoice: named(long),
      messages: [
        ...saying("hi"),
        {
          role: "assistant",
          tool_calls: [{ id: "c1", type: "function", function: { name: odd, arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "c1", content: "r" }
      ]
    }
    const sent = text(asked)
    const names = [...sent.matchAll(/"name":"([^"]+)"/g)].map((match) => match[1] ?? "")
    const [sentLong = "", sentOdd = "", kept, ofCustom] = names.slice(1)
    expect(names).toEqual([sentOdd, sentLong, sentOdd, "weather", ofCustom, sentLong])
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(kept).toBe("weather")
    const allowedOf = (quirks: Quirks) => body({ ...asked, toolChoice: allowed("auto", odd) }, quirks)
    expect(allowedOf(openAi)["tool_choice"]).toEqual(allowed("auto", sentOdd))
    expect(allowedOf(compatible)["tools"]).toMatchObject([named(sentOdd)])
    const answer = {
      choices: [
        {
          message: { tool_calls: [{ id: "c2", type: "function", function: { name: sentLong, arguments: "{}" } }] },
          finish_reason: "tool_calls"
        }
      ]
    }
    const { events } = nonStreaming(call(asked), JSON.stringify(answer), openAi)
    expect(events[0]).toMatchObject({ _tag: "ToolCall", name: long })
  })

  it("a function without parameters has an empty object of them where servers require one", () => {
    expect(body({ tools: [clock] }, openAi)["tools"]).toEqual([clock])
    expect(JSON.parse(String(vendorOf("mistral")?.protocol.lower(call({ tools: [clock] }))))["tools"]).toEqual([
      { type: "function", function: { name: "clock", parameters: noParameters } }
    ])
  })

  it.each([{}, { type: "object" }, { properties: {} }])(
    "parameters %j are completed, as every server takes them",
    (parameters) => {
      const tool = { type: "function", function: { name: "clock", parameters } } as const
      for (const quirks of [openAi, compatible])
        expect(body({ tools: [tool] }, quirks)["tools"]).toEqual([
          { type: "function", function: { name: "clock", parameters: noParameters } }
        ])
    }
  )

  it("arrays of a schema that say nothing of their items do so, at every depth", () => {
    const sent = (parameters: JsonObject) =>
      body({ tools: [{ type: "function", function: { name: "f", parameters } }] })["tools"]
    const expected = (parameters: JsonObject) => [{ type: "function", function: { name: "f", parameters } }]
    const schema = (list: JsonObject, union: JsonObject) => ({
      type: "object",
      properties: {
        items: { type: "string" },
        list,
        deep: { anyOf: [{ type: "object", properties: { list } }, union] }
      },
      $defs: { one: { type: "array", items: list } }
    })
    const [bare, either] = [{ type: "array", description: "d" }, { type: ["array", "null"] }]
    expect(sent(schema(bare, either))).toEqual(expected(schema({ ...bare, items: {} }, { ...either, items: {} })))
    const whole = schema({ type: "array", prefixItems: [] }, { type: "array", items: { type: "string" } })
    expect(sent(whole)).toEqual(expected(whole))
    expect(withItems(whole)).toBe(whole)
  })

  it("content without parts is an empty text", () => {
    const called = { id: "a", type: "function", function: { name: "clock", arguments: "{}" } } as const
    const messages: ReadonlyArray<Message> = [
      { role: "user", content: [] },
      { role: "assistant", content: [], tool_calls: [called] },
      { role: "tool", tool_call_id: "a", content: [] }
    ]
    for (const quirks of [openAi, compatible])
      expect(body({ messages }, quirks)["messages"]).toMatchObject(messages.map(() => ({ content: "" })))
  })

  it("a call without arguments goes back with an empty object of them", () => {
    const messages = ["", " \n", "{}"].map((text, at): Message => {
      const call = { id: `call_${at}`, type: "function", function: { name: "clock", arguments: text } } as const
      return { role: "assistant", tool_calls: [call] }
    })
    for (const message of body({ messages })["messages"] as ReadonlyArray<Message>)
      expect(message).toMatchObject({ tool_calls: [{ function: { arguments: "{}" } }] })
  })

  it("custom tools go through", () => {
    const custom = { type: "custom", custom: { name: "c", format: { type: "text" } } } as const
    expect(body({ tools: [custom] })["tools"]).toEqual([custom])
  })

  it("a seed goes under the vendor's name for it", () => {
    const quirks = { ...compatible, seedField: "random_seed" } as const
    expect(body({ seed: 7 }, quirks)).toMatchObject({ random_seed: 7 })
    expect(body({ seed: 7 }, quirks)).not.toHaveProperty("seed")
    expect(body({ seed: 7 }, quirks, { dropped: ["seed"] })).not.toHaveProperty("random_seed")
  })
})

describe("reasoning at vendors of chat completions", () => {
  const reasoning = (style: Reasoning["style"], more: Partial<Reasoning> = {}) =>
    model({
      reasoning: { efforts: [], style, budget: null, defaultEffort: null, mandatory: false, depth: null, ...more }
    })
  const known = new Set(Object.keys(body({})).concat("max_tokens"))
  const sent = (
    quirks: Quirks["reasoningFields"],
    style: Reasoning["style"],
    effort: ProviderCall["effort"],
    maxTokens?: number,
    more: Partial<Reasoning> = {}
  ) => {
    const all = body(
      { reasoning: { maxTokens, summary: undefined, exclude: false }, messages: saying("hi") },
      { ...compatible, reasoningFields: quirks },
      { effort, model: reasoning(style, more), maxOutputTokens: 1000 }
    )
    return Object.fromEntries(Object.entries(all).filter(([key]) => !known.has(key)))
  }

  it("is asked for in the vendor's own fields", () => {
    expect(sent(openAi.reasoningFields, "effort", "high")).toEqual({ reasoning_effort: "high" })
    expect(sent(openAi.reasoningFields, "effort", 42)).toEqual({ reasoning_effort: 42 })
    expect(sent(reasoningByType, "toggle", "high")).toEqual({ thinking: { type: "enabled" } })
    expect(sent(reasoningByType, "toggle", "none")).toEqual({ thinking: { type: "disabled" } })
    expect(sent(reasoningByFlag, "toggle", "none")).toEqual({ enable_thinking: false })
    expect(sent(reasoningByFlag, "budget", "medium")).toEqual({ enable_thinking: true, thinking_budget: 500 })
    expect(sent(reasoningByObject, "effort", "low")).toEqual({ reasoning: { effort: "low" } })
    expect(sent(reasoningByObject, "budget", undefined, 300)).toEqual({ reasoning: { max_tokens: 300 } })
    expect(sent(reasoningByEnabled, "toggle", "high")).toEqual({ reasoning: { enabled: true } })
  })

  it("is not mentioned where nothing was asked, or nothing can be", () => {
    for (const style of ["effort", "toggle", "budget", "fixed"] as const)
      expect(sent(reasoningByType, style, undefined)).toEqual({})
    expect(sent(reasoningByType, "fixed", "high")).toEqual({})
  })

  it("is turned off where it is unasked and the vendor rejects a forced tool call beside it", () => {
    const sentTo = (
      id: string,
      style: Reasoning["style"],
      more: Parameters<typeof call>[0],
      effort?: Effort,
      dropped: ReadonlyArray<string> = []
    ) => {
      const own = { efforts: ["none", "high"] as const, style, budget: null, defaultEffort: null }
      const asked = call(
        { tools: [clock], ...more },
        {
          effort,
          dropped,
          model: model({ reasoning: { ...own, mandatory: false, depth: null }, reasonsByDefault: true })
        }
      )
      const body = vendorOf(id)?.protocol.lower(asked)
      const fields = ["enable_thinking", "reasoning_effort", "thinking", "tool_choice"]
      const sentBody: object = JSON.parse(String(body))
      return Object.fromEntries(Object.entries(sentBody).filter(([field]) => fields.includes(field)))
    }
    const disabled = { thinking: { type: "disabled" } }
    for (const toolChoice of ["required", clock] as const) {
      expect(sentTo("deepseek", "effort", { toolChoice })).toEqual({ ...disabled, tool_choice: toolChoice })
      expect(sentTo("moonshotai", "toggle", { toolChoice })).toEqual({ ...disabled, tool_choice: toolChoice })
      expect(sentTo("alibaba", "budget", { toolChoice })).toEqual({ enable_thinking: false, tool_choice: toolChoice })
      expect(sentTo("zai", "toggle", { toolChoice })).toEqual({ tool_choice: toolChoice })
    }
    const forced = { toolChoice: "required" } as const
    expect(sentTo("deepseek", "effort", forced, undefined, ["reasoning_effort"])).toMatchObject(disabled)
    expect(sentTo("deepseek", "effort", { toolChoice: "auto" })).toEqual({ tool_choice: "auto" })
    expect(sentTo("deepseek", "effort", forced, "high")).toEqual({
      reasoning_effort: "high",
      tool_choice: "required"
    })
    expect(sentTo("deepseek", "effort", {}, "none")).toEqual(disabled)
  })

  it("a budget stays in the model's range and below the cap", () => {
    const budget = { budget: { min: 128, max: 600 } }
    expect(sent(reasoningByFlag, "budget", "minimal", undefined, budget)).toMatchObject({ thinking_budget: 128 })
    expect(sent(reasoningByFlag, "budget", "max", undefined, budget)).toMatchObject({ thinking_budget: 600 })
    expect(sent(reasoningByFlag, "budget", undefined, 5000)).toMatchObject({ thinking_budget: 999 })
  })
})
