import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Message, ReasoningDetail, ToolCall, UserPart } from "../../../../src/domain/Chat.ts"
import type { ResultBlock } from "../../../../src/provider/protocols/shared/Blocks.ts"
import { type Conversation, conversationOf, type Turn } from "../../../../src/provider/protocols/shared/Conversation.ts"

const origin = "acme/large"

const turnsOf = (...messages: ReadonlyArray<Message>): Conversation => {
  const conversation = conversationOf({ messages }, origin)
  if ("_tag" in conversation) throw new Error(JSON.stringify(conversation))
  return conversation
}

const failureOf = (...messages: ReadonlyArray<Message>): unknown => conversationOf({ messages }, origin)

const calling = (...calls: ReadonlyArray<readonly [id: string, name: string, args?: string]>): Message => ({
  role: "assistant",
  content: null,
  tool_calls: calls.map(([id, name, args = "{}"]) => ({ id, type: "function", function: { name, arguments: args } }))
})
const result = (id: string, content: string): Message => ({ role: "tool", tool_call_id: id, content })
const user = (content: string): Message => ({ role: "user", content })

type Block = Turn["blocks"][number]
const blocksOf = (turns: ReadonlyArray<Turn>): ReadonlyArray<Block> =>
  turns.flatMap(({ blocks }): ReadonlyArray<Block> => blocks)

const blockSketch = (block: Block): string => {
  switch (block._tag) {
    case "Text":
      return block.text
    case "ToolCall":
      return `${block.name}#${block.id}${JSON.stringify(block.input)}`
    case "ToolResult":
      return `#${block.id}=${block.content.map((inner) => (inner._tag === "Text" ? inner.text : inner._tag)).join("|")}${block.isError ? "!" : ""}`
    case "Reasoning":
      return `<${block.detail.text ?? block.detail.data}>${block.detail.signature ?? ""}`
    case "Image":
    case "Audio":
    case "File":
      return `[${block._tag} ${block.param}]`
  }
}

/** A conversation in one line a turn. */
const sketch = ({ turns }: Conversation): ReadonlyArray<string> =>
  turns.map((turn) => `${turn.role}: ${blocksOf([turn]).map(blockSketch).join(" ")}`)

describe("a conversation as alternating turns", () => {
  it("takes the instructions out, wherever they stand, in their order", () => {
    const { instructions, turns } = turnsOf(
      { role: "system", content: "one" },
      user("hi"),
      {
        role: "developer",
        content: [
          { type: "text", text: "two" },
          { type: "text", text: " " }
        ]
      },
      { role: "assistant", content: "hello" }
    )
    expect(instructions.map(({ text }) => text)).toEqual(["one", "two"])
    expect(turns.map(({ role }) => role)).toEqual(["user", "assistant"])
  })

  it("merges consecutive messages of one role", () => {
    expect(
      sketch(
        turnsOf(
          user("a"),
          user("b"),
          { role: "assistant", content: "c" },
          { role: "assistant", content: "d" },
          user("e")
        )
      )
    ).toEqual(["user: a b", "assistant: c d", "user: e"])
  })

  it("puts all results of parallel calls into the next turn, first and in the order of the calls", () => {
    expect(
      sketch(
        turnsOf(
          user("go"),
          calling(["a", "f"], ["b", "g"]),
          user("by the way"),
          result("b", "B"),
          result("a", "A"),
          user("so?")
        )
      )
    ).toEqual(["user: go", "assistant: f#a{} g#b{}", "user: #a=A #b=B by the way so?"])
  })

  it("says so where a call has no result, before the assistant goes on and at the end", () => {
    expect(
      sketch(turnsOf(user("go"), calling(["a", "f"]), { role: "assistant", content: "well" }, calling(["b", "g"])))
    ).toEqual([
      "user: go",
      "assistant: f#a{}",
      "user: #a=(no result was given for this call)!",
      "assistant: well g#b{}",
      "user: #b=(no result was given for this call)!"
    ])
  })

  it("refuses a result that answers nothing", () => {
    const stray = { _tag: "RequestRejected", param: "messages[1].tool_call_id" }
    expect(failureOf(user("go"), result("a", "A"))).toMatchObject(stray)
    expect(failureOf(calling(["a", "f"]), result("b", "B"))).toMatchObject(stray)
    expect(
      failureOf(calling(["a", "f"]), result("a", "A"), { role: "assistant", content: "x" }, result("a", "A"))
    ).toMatchObject({
      param: "messages[3].tool_call_id"
    })
  })

  it("leaves nothing empty", () => {
    expect(
      sketch(
        turnsOf(
          { role: "user", content: [{ type: "text", text: "" }] },
          { role: "assistant", content: " \n" },
          {
            role: "user",
            content: [
              { type: "text", text: "\t" },
              { type: "text", text: "x" }
            ]
          },
          calling(["a", "f"]),
          result("a", "")
        )
      )
    ).toEqual(["user: (empty)", "assistant: (empty)", "user: x", "assistant: f#a{}", "user: #a=(empty)"])
  })

  it("begins with the user, and has a turn even when there are only instructions", () => {
    expect(sketch(turnsOf({ role: "assistant", content: "hello" }, user("hi")))).toEqual([
      "user: (continued)",
      "assistant: hello",
      "user: hi"
    ])
    expect(sketch(turnsOf({ role: "system", content: "be nice" }))).toEqual(["user: (empty)"])
  })

  it("takes the blanks off the end of a last turn of the assistant, and of no other", () => {
    expect(
      sketch(
        turnsOf(user("a "), { role: "assistant", content: "b " }, user("c"), { role: "assistant", content: "d \n" })
      )
    ).toEqual(["user: a ", "assistant: b ", "user: c", "assistant: d"])
  })

  it("reads arguments as objects: nothing is no arguments, anything else than an object is refused with its place", () => {
    expect(sketch(turnsOf(user("go"), calling(["a", "f", ""], ["b", "g", "null"], ["c", "h", '{"x":[1]}'])))[1]).toBe(
      'assistant: f#a{} g#b{} h#c{"x":[1]}'
    )
    for (const bad of ["{", "[]", "1", '"x"']) {
      expect(failureOf(user("go"), calling(["a", "f"], ["b", "g", bad]))).toMatchObject({
        _tag: "RequestRejected",
        param: "messages[1].tool_calls[1].function.arguments"
      })
    }
  })

  it("replaces ids that a provider would refuse or that come twice, alike in call and result", () => {
    const { turns } = turnsOf(
      calling(["functions.f:0", "f"], ["same", "g"], ["same", "h"]),
      result("same", "first"),
      result("same", "second"),
      result("functions.f:0", "third"),
      calling(["same", "f"]),
      result("same", "fourth")
    )
    const ids = blocksOf(turns).flatMap((block) => (block._tag === "ToolCall" ? [block.id] : []))
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    const results = blocksOf(turns).flatMap((block) => (block._tag === "ToolResult" ? [block] : []))
    expect(results.map(({ content, id }) => [ids.indexOf(id), textsOf(content)[0]])).toEqual([
      [0, "third"],
      [1, "first"],
      [2, "second"],
      [3, "fourth"]
    ])
  })

  it("keeps a model's own reasoning, each block complete, and no other's", () => {
    const detail = (more: Partial<ReasoningDetail>): ReasoningDetail => ({
      type: "reasoning.text",
      format: origin,
      ...more
    })
    const assistant: Message = {
      role: "assistant",
      content: "so",
      reasoning_content: "not signed",
      reasoning_details: [
        detail({ text: "a", index: 0 }),
        detail({ text: "b", index: 0 }),
        detail({ text: "", signature: "s1", index: 0 }),
        detail({ text: "c", index: 1 }),
        detail({ text: "d", signature: "foreign", format: "acme/small" }),
        detail({ signature: "s2", index: 1 }),
        { type: "reasoning.encrypted", data: "x", format: origin, index: 2 },
        { type: "reasoning.encrypted", data: "y", format: origin, index: 3 }
      ]
    }
    expect(sketch(turnsOf(user("q"), assistant))[1]).toBe("assistant: <ab>s1 <c>s2 <x> <y> so")
  })

  it("keeps the order of a message that tells it, without the reasoning of others", () => {
    const detail = (text: string, format: string): ReasoningDetail => ({
      type: "reasoning.text",
      text,
      signature: "s",
      format
    })
    const message: Message = {
      role: "assistant",
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" }
      ],
      tool_calls: ["a", "b"].map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
      reasoning_details: [detail("x", origin), detail("y", "other/model"), detail("z", origin)],
      order: ["reasoning", "text", "call", "reasoning", "reasoning", "text", "call"]
    }
    expect(sketch(turnsOf(user("hi"), message, result("a", "r"), result("b", "r")))).toEqual([
      "user: hi",
      "assistant: <x>s one f#a{} <z>s two f#b{}",
      "user: #a=r #b=r"
    ])
  })

  it("keeps a block whose fragments the client has added up, the name of their model with them", () => {
    const block = (model: string): ReasoningDetail => ({
      type: "reasoning.text",
      text: "ab",
      signature: "s1",
      format: model.repeat(3),
      index: 0
    })
    const sent = (model: string) =>
      sketch(turnsOf(user("q"), { role: "assistant", content: "so", reasoning_details: [block(model)] }))[1]
    expect(sent(origin)).toBe("assistant: <ab>s1 so")
    expect(sent("acme/small")).toBe("assistant: so")
  })

  it("tells where a part stood that a provider may refuse", () => {
    const parts: ReadonlyArray<UserPart> = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      { type: "file", file: { filename: "a.pdf" } }
    ]
    expect(sketch(turnsOf({ role: "system", content: "x" }, { role: "user", content: parts }))).toEqual([
      "user: look [Image messages[1].content[1].image_url.url] [Audio messages[1].content[2]] [File messages[1].content[3].file]"
    ])
  })
})

describe("whatever the conversation", () => {
  const words = fc.constantFrom("", " ", "word", "two words ", "\n")
  const ids = fc.constantFrom("a", "b", "call:1", "ü")
  const call = fc.tuple(ids, words).map(
    ([id, args]): ToolCall => ({
      id,
      type: "function",
      function: { name: "f", arguments: args.trim() === "" ? args : "{}" }
    })
  )
  const message: fc.Arbitrary<Message> = fc.oneof(
    words.map((content): Message => ({ role: "user", content })),
    words.map((content): Message => ({ role: "system", content })),
    fc
      .tuple(words, fc.array(call, { maxLength: 3 }))
      .map(([content, tool_calls]): Message => ({ role: "assistant", content, tool_calls })),
    fc.tuple(ids, words).map(([id, content]): Message => result(id, content))
  )

  it("turns alternate, begin with the user, are never empty, and every call is answered at once; no word is lost", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const conversation = conversationOf({ messages }, origin)
        if ("_tag" in conversation) return
        const { instructions, turns } = conversation
        expect(turns.length).toBeGreaterThan(0)
        turns.forEach((turn, at) => {
          expect(turn.role).toBe(at % 2 === 0 ? "user" : "assistant")
          expect(turn.blocks.length).toBeGreaterThan(0)
          const results = blocksOf([turn]).filter((block) => block._tag === "ToolResult")
          expect(turn.blocks.slice(0, results.length)).toEqual(results)
          const before = blocksOf(turns.slice(Math.max(0, at - 1), at))
          const called = before.flatMap((block) => (block._tag === "ToolCall" ? [block.id] : []))
          expect(results.map((block) => block.id)).toEqual(called)
        })
        expect(blocksOf(turns.slice(-1)).some((block) => block._tag === "ToolCall")).toBe(false)
        const texts = [...instructions, ...blocksOf(turns)].flatMap((block) =>
          block._tag === "Text" ? [block.text] : block._tag === "ToolResult" ? textsOf(block.content) : []
        )
        for (const one of texts) expect(one.trim()).not.toBe("")
        const spoken = messages.filter(({ content }) => String(content).trim() !== "").length
        expect(texts.filter((one) => !one.startsWith("(")).length).toBe(spoken)
      }),
      { numRuns: 1000 }
    )
  })

  it("a longer conversation begins as the shorter one did, so that a prompt cache finds it again", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(message, { maxLength: 4 }), (head, tail) => {
        const short = conversationOf({ messages: [...head, user("next")] }, origin)
        const long = conversationOf(
          { messages: [...head, user("next"), { role: "assistant", content: "x" }, ...tail] },
          origin
        )
        if ("_tag" in short || "_tag" in long) return
        expect(long.turns.slice(0, short.turns.length)).toEqual(short.turns)
      })
    )
  })
})

const textsOf = (content: ReadonlyArray<ResultBlock>): ReadonlyArray<string> =>
  content.flatMap((block) => (block._tag === "Text" ? [block.text] : []))
