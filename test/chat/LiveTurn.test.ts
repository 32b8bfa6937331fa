import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { LiveTurn, maxContentCharacters, type ReadPosition, readFrom, unread } from "../../src/chat/LiveTurn.ts"
import { ConversationId, MessageId } from "../../src/domain/Ids.ts"

const answer = {
  id: MessageId.make("00000000-0000-7000-8000-000000000001"),
  conversationId: ConversationId.make("00000000-0000-7000-8000-000000000002")
}

describe("an answer that is being written", () => {
  it("is the same text however it is cut into pieces and whenever it is read", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.tuple(FastCheck.string({ unit: "binary" }), FastCheck.boolean(), FastCheck.nat(3))),
        (pieces) => {
          const turn = new LiveTurn(answer)
          let position: ReadPosition = unread
          const known = { content: "", reasoning: "" }
          const read = () => {
            const news = readFrom(turn, position)
            position = news.position
            for (const part of news.parts) {
              if (part._tag !== "Delta" && part._tag !== "Reasoning") continue
              const to = part._tag === "Delta" ? "content" : "reasoning"
              expect(part.offset).toBe(known[to].length)
              known[to] += part.text
            }
          }
          const sent = { content: "", reasoning: "" }
          for (const [text, isReasoning, cut] of pieces) {
            sent[isReasoning ? "reasoning" : "content"] += text
            // also in the middle of a character
            for (const piece of [text.slice(0, cut), text.slice(cut)]) {
              if (isReasoning) turn.reason(piece)
              else turn.append(piece)
              if (cut % 2 === 0) read()
            }
          }
          turn.close()
          read()
          const storable = (text: string) => text.replaceAll("\0", "\ufffd")
          expect(known).toEqual({ content: storable(sent.content), reasoning: storable(sent.reasoning) })
          expect(turn.content).toBe(known.content)
        }
      )
    )
  })

  it("replaces what can never be a character", () => {
    const turn = new LiveTurn(answer)
    for (const piece of ["a\ud83d", "b\0", "\udc4b", "c\ud83d"]) turn.append(piece)
    expect(turn.content).toBe("a\ufffdb\ufffd\ufffdc")
    turn.close()
    expect(turn.content).toBe("a\ufffdb\ufffd\ufffdc\ufffd")
  })
  it.each([
    ["at its end", "aa", "a".repeat(maxContentCharacters)],
    ["in the middle of a character", "👋", `${"a".repeat(maxContentCharacters - 1)}\ufffd`]
  ])("has at most 1 MiB, however much comes at once: cut %s", (_, last, content) => {
    const turn = new LiveTurn(answer)
    turn.append("a".repeat(maxContentCharacters - 1))
    expect(turn.isFull).toBe(false)
    turn.append(last)
    expect(turn.isFull).toBe(true)
    turn.append("more")
    turn.close()
    expect(turn.content === content).toBe(true)
  })
})
