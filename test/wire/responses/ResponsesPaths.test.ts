import { describe, expect, it } from "@effect/vitest"
import { clientMetadata, paramOf } from "../../../src/wire/responses/ResponsesRequest.ts"
import { decoded, metadata, refusal, refused } from "./ResponsesFixtures.ts"

const image = { type: "input_image", image_url: "https://x/y.png" }
const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" })
const output = (id: string, value: unknown) => ({ type: "function_call_output", call_id: id, output: value })

describe("a field that is named as in chat completions", () => {
  it("gets its name in Responses", () => {
    const request = decoded({})
    const names = [
      ["messages", "input"],
      ["response_format", "text.format"],
      ["response_format.type", "text.format.type"],
      ["response_format.json_schema.schema", "text.format.schema"],
      ["reasoning_effort", "reasoning.effort"],
      ["reasoning.summary", "reasoning.summary"],
      ["max_completion_tokens", "max_output_tokens"],
      ["verbosity", "text.verbosity"],
      ["logprobs", "include"],
      ["tools", "tools"],
      ["tools[3].function.name", "tools"],
      ["tools.function.strict", "tools.strict"],
      ["tool_choice", "tool_choice"],
      ["temperature", "temperature"]
    ]
    for (const [chat = "", responses] of names) expect(paramOf(chat, request)).toBe(responses)
    expect(
      clientMetadata({ ...metadata, dropped_parameters: ["verbosity", "user"] }, request).dropped_parameters
    ).toEqual(["text.verbosity", "user"])
  })

  it("is the one that asked for log probabilities", () => {
    const include = ["message.output_text.logprobs"]
    expect(paramOf("logprobs", decoded({ include }))).toBe("include")
    expect(paramOf("logprobs", decoded({ top_logprobs: 2 }))).toBe("top_logprobs")
    expect(paramOf("logprobs", decoded({ include, top_logprobs: 2 }))).toBe("top_logprobs")
  })

  it("is found in the item that it came from", () => {
    const request = decoded({
      instructions: "be brief",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            image,
            { type: "input_file", file_url: "https://x/a.pdf" },
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" }
          ]
        },
        { type: "reasoning", summary: [] },
        { role: "assistant", content: "hm" },
        call("a"),
        call("b"),
        output("a", "1"),
        output("b", [{ type: "input_text", text: "2" }, image]),
        { role: "user", content: "go on" }
      ]
    })
    const { messages } = request.request
    expect(messages.map(({ role }) => role)).toEqual(["developer", "user", "assistant", "tool", "tool", "user", "user"])
    const paths = [
      ["messages[0].content", "instructions"],
      ["messages[1].content[1].image_url.url", "input[0].content[1].image_url"],
      ["messages[1].content[1].type", "input[0].content[1].type"],
      ["messages[1].content[2].file.file_data", "input[0].content[2].file_url"],
      ["messages[1].content[3].file.file_data", "input[0].content[3].file_data"],
      ["messages[2].tool_calls[1].function.arguments", "input[4].arguments"],
      ["messages[2].tool_calls", "input[2]"],
      ["messages[3].role", "input[5].type"],
      ["messages[3].tool_call_id", "input[5].call_id"],
      ["messages[5].content[1].image_url.url", "input[6].output"],
      ["messages[6].content", "input[7]"],
      ["messages[99].content", "input"]
    ]
    for (const [chat = "", responses] of paths) expect(paramOf(chat, request)).toBe(responses)
    expect(paramOf("messages[0].content", decoded({ input: "hi" }))).toBe("input")
  })
})

describe("the input", () => {
  it("that is null, or neither text nor a list, says what it must be", () => {
    for (const input of [null, 5, {}, true]) {
      const { code, message, param } = refusal({ model: "auto", input })
      expect([code, param]).toEqual(["invalid_type", "input"])
      expect(message).toBe("Invalid type for 'input': expected a string or an array of items.")
    }
    expect(refusal({ model: "auto" }).code).toBe("missing_required_parameter")
  })

  it("names the parts that may be sent in the place of one of chat completions", () => {
    const messageOf = (item: object) => refusal({ model: "auto", input: [call("a"), item] }).message
    const text = { type: "text", text: "hi" }
    expect(messageOf({ role: "user", content: [text] })).toBe(
      "Content parts of type 'text' are not supported here: send 'input_text', 'input_image', 'input_file' or 'input_audio'."
    )
    expect(messageOf({ role: "assistant", content: [text] })).toContain("send 'output_text' or 'refusal'.")
    expect(messageOf({ role: "system", content: [text] })).toContain("send 'input_text'.")
    const either = "expected a string or an array."
    expect(messageOf({ role: "user", content: {} })).toBe(`Invalid type for 'input[1].content': ${either}`)
    expect(messageOf(output("a", { x: 1 }))).toBe(`Invalid type for 'input[1].output': ${either}`)
  })

  it.each(["file:///etc/passwd", "http://x/y.png", "ftp://x", "//x/y", "x.png", "javascript:0"])(
    "has images and files at https: or data: alone, not %s",
    (url) => {
      const at = (part: object) => refused({ input: [{ role: "user", content: [part] }] })
      expect(at({ type: "input_image", image_url: url })).toBe("invalid_value input[0].content[0].image_url")
      expect(at({ type: "input_file", file_data: url })).toBe("invalid_value input[0].content[0].file_data")
      expect(at({ type: "input_file", file_url: url })).toBe("invalid_value input[0].content[0].file_url")
      expect(refused({ input: [call("a"), output("a", [{ type: "input_image", image_url: url }])] })).toBe(
        "invalid_value input[1].output[0].image_url"
      )
    }
  )

  it("takes reasoning back by its content, where the summary is gone", () => {
    const [item] = [{ type: "reasoning", id: "rs", summary: [], content: [{ type: "reasoning_text", text: "hm" }] }]
    expect(decoded({ input: [item, { role: "user", content: "hi" }] }).request.messages).toHaveLength(1)
  })
})
