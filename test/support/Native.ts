import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../src/provider/protocols/shared/Json.ts"
import type { Simulator } from "../../src/testing/simulators/core/Simulator.ts"

/** What a conversation holds, whatever format it is written in; lists are in the order of the conversation. */
export interface Said {
  readonly instructions: ReadonlyArray<string>
  readonly texts: ReadonlyArray<string>
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: unknown }>
  /** By the id of the call that they answer. */
  readonly results: Readonly<Record<string, string>>
  /** Their bytes in base64. */
  readonly images: ReadonlyArray<string>
  /** Whatever proves that a reasoning block is the model's own. */
  readonly signatures: ReadonlyArray<string>
}

/** The tokens of an answer by the provider's own count. */
export interface Counted {
  readonly prompt: number
  readonly cached: number
  readonly written: number
  readonly completion: number
  readonly reasoning: number
}

/** How the requests and answers of one provider are read. */
export interface Native {
  readonly said: (body: Json) => Said
  readonly counted: (answer: string) => Counted
}

export const lastRequest = (simulator: Simulator): Json => parseObject(simulator.requests.at(-1)?.text ?? "") ?? {}

export const lastAnswer = (simulator: Simulator): string =>
  Buffer.from(simulator.answers.at(-1) ?? new Uint8Array()).toString("utf8")

/** The last count of this name: those that come again count from the start. */
const countIn = (answer: string, name: string): number =>
  Number([...answer.matchAll(new RegExp(`"${name}":(\\d+)`, "g"))].at(-1)?.[1] ?? 0)

const objects = (value: Json | undefined, key: string): ReadonlyArray<Json> => listAt(value, key).filter(isObject)

const text = (value: Json | undefined, key: string): ReadonlyArray<string> => {
  const found = textAt(value, key)
  return found === undefined || found === "" ? [] : [found]
}

export const openAi: Native = {
  said: (body) => {
    const messages = objects(body, "messages")
    const of = (...roles: ReadonlyArray<string>) => messages.filter(({ role }) => roles.includes(String(role)))
    const parts = (message: Json) =>
      typeof message["content"] === "string"
        ? [{ type: "text", text: message["content"] }]
        : objects(message, "content")
    const texts = (message: Json) => parts(message).flatMap((part) => text(part, "text"))
    return {
      instructions: of("system", "developer").flatMap(texts),
      texts: of("user", "assistant").flatMap(texts),
      calls: messages.flatMap((message) =>
        objects(message, "tool_calls").map((call) => ({
          id: textAt(call, "id") ?? "",
          name: textAt(objectAt(call, "function"), "name") ?? "",
          arguments: parseObject(textAt(objectAt(call, "function"), "arguments") ?? "")
        }))
      ),
      results: Object.fromEntries(of("tool").map((message) => [message["tool_call_id"], texts(message).join("\n")])),
      images: messages.flatMap((message) =>
        parts(message).flatMap((part) =>
          text(objectAt(part, "image_url"), "url").map((url) => url.slice(url.indexOf(",") + 1))
        )
      ),
      signatures: []
    }
  },
  counted: (answer) => ({
    prompt: countIn(answer, "prompt_tokens"),
    cached: countIn(answer, "cached_tokens"),
    written: 0,
    completion: countIn(answer, "completion_tokens"),
    reasoning: countIn(answer, "reasoning_tokens")
  })
}

export const anthropic: Native = {
  said: (body) => {
    const blocks = objects(body, "messages").flatMap((message) => objects(message, "content"))
    const of = (type: string) => blocks.filter((block) => block["type"] === type)
    return {
      instructions: objects(body, "system").flatMap((block) => text(block, "text")),
      texts: of("text").flatMap((block) => text(block, "text")),
      calls: of("tool_use").map((block) => ({
        id: textAt(block, "id") ?? "",
        name: textAt(block, "name") ?? "",
        arguments: block["input"]
      })),
      results: Object.fromEntries(
        of("tool_result").map((block) => [
          block["tool_use_id"],
          objects(block, "content")
            .flatMap((one) => text(one, "text"))
            .join("\n")
        ])
      ),
      images: of("image").flatMap((block) => text(objectAt(block, "source"), "data")),
      signatures: blocks.flatMap((block) => [
        ...text(block, "signature"),
        ...(block["type"] === "redacted_thinking" ? text(block, "data") : [])
      ])
    }
  },
  counted: (answer) => {
    const [cached, written] = ["cache_read_input_tokens", "cache_creation_input_tokens"].map((name) =>
      countIn(answer, name)
    ) as [number, number]
    return {
      prompt: countIn(answer, "input_tokens") + cached + written,
      cached,
      written,
      completion: countIn(answer, "output_tokens"),
      reasoning: countIn(answer, "thinking_tokens")
    }
  }
}

export const gemini: Native = {
  said: (body) => {
    const parts = objects(body, "contents").flatMap((content) => objects(content, "parts"))
    return {
      instructions: objects(objectAt(body, "systemInstruction"), "parts").flatMap((part) => text(part, "text")),
      texts: parts.flatMap((part) => (part["thought"] === true ? [] : text(part, "text"))),
      calls: parts.flatMap((part) => {
        const call = objectAt(part, "functionCall")
        return call === undefined
          ? []
          : [{ id: textAt(call, "id") ?? "", name: textAt(call, "name") ?? "", arguments: call["args"] }]
      }),
      results: Object.fromEntries(
        parts.flatMap((part) => {
          const result = objectAt(part, "functionResponse")
          const response = objectAt(result, "response")
          return result === undefined ? [] : [[result["id"], textAt(response, "output") ?? textAt(response, "error")]]
        })
      ),
      images: parts.flatMap((part) => text(objectAt(part, "inlineData"), "data")),
      signatures: parts
        .flatMap((part) => text(part, "thoughtSignature"))
        .filter((signature) => signature !== "skip_thought_signature_validator")
    }
  },
  counted: (answer) => {
    const reasoning = countIn(answer, "thoughtsTokenCount")
    return {
      prompt: countIn(answer, "promptTokenCount"),
      cached: countIn(answer, "cachedContentTokenCount"),
      written: 0,
      completion: countIn(answer, "candidatesTokenCount") + reasoning,
      reasoning
    }
  }
}

export const bedrock: Native = {
  said: (body) => {
    const blocks = objects(body, "messages").flatMap((message) => objects(message, "content"))
    const of = (kind: string) => blocks.map((block) => objectAt(block, kind)).filter(isObject)
    return {
      instructions: objects(body, "system").flatMap((block) => text(block, "text")),
      texts: blocks.flatMap((block) => text(block, "text")),
      calls: of("toolUse").map((call) => ({
        id: textAt(call, "toolUseId") ?? "",
        name: textAt(call, "name") ?? "",
        arguments: call["input"]
      })),
      results: Object.fromEntries(
        of("toolResult").map((result) => [
          result["toolUseId"],
          objects(result, "content")
            .flatMap((one) => text(one, "text"))
            .join("\n")
        ])
      ),
      images: of("image").flatMap((image) => text(objectAt(image, "source"), "bytes")),
      signatures: of("reasoningContent").flatMap((block) => [
        ...text(objectAt(block, "reasoningText"), "signature"),
        ...text(block, "redactedContent")
      ])
    }
  },
  counted: (answer) => {
    const [cached, written] = ["cacheReadInputTokens", "cacheWriteInputTokens"].map((name) =>
      countIn(answer, name)
    ) as [number, number]
    return {
      prompt: countIn(answer, "inputTokens") + cached + written,
      cached,
      written,
      completion: countIn(answer, "outputTokens"),
      reasoning: 0
    }
  }
}
