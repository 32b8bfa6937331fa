import { expect, it } from "@effect/vitest"
import type { UserPart } from "../../../../src/domain/Chat.ts"
import { anthropicMessages } from "../../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../../../src/provider/protocols/gemini/Gemini.ts"
import { call } from "../calls.ts"

const formats = { anthropicMessages, bedrockConverse, gemini: Gemini.make("json") }

it.each(Object.entries(formats))("%s says of a data: URL that cannot be read what is wrong with it", (_, format) => {
  const rejectionOf = (part: UserPart) => format.lower(call({ messages: [{ role: "user", content: [part] }] }))
  for (const url of ["data:image/png;base64,@@@", "data:image/png;base64", "data:image/png;base64,AAAAA"]) {
    const wrong = { _tag: "RequestRejected", message: expect.stringContaining("data: URL cannot be read") }
    expect(rejectionOf({ type: "image_url", image_url: { url } })).toMatchObject(wrong)
    expect(rejectionOf({ type: "file", file: { file_data: url } })).toMatchObject(wrong)
  }
  expect(rejectionOf({ type: "image_url", image_url: { url: "data:image/tiff;base64,AAAA" } })).not.toMatchObject({
    message: expect.stringContaining("cannot be read")
  })
  expect(rejectionOf({ type: "file", file: { file_id: "file-1" } })).not.toMatchObject({
    message: expect.stringContaining("cannot be read")
  })
})
