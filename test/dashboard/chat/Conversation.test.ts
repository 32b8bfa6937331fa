import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { serverEventsOf } from "../../../src/dashboard/api/events.ts"
import {
  applied,
  type ChatEvent,
  type ChatState,
  type Conversation,
  cursorOf,
  type Message,
  nothing,
  parsed,
  started
} from "../../../src/dashboard/pages/chat/conversation.ts"

const message = (parts: Partial<Message>): Message => ({
  id: "00000000-0000-7000-8000-000000000001",
  role: "assistant",
  position: 1,
  content: "",
  reasoning: "",
  status: "streaming",
  created_at: "2026-01-01T00:00:00.000Z",
  model_requested: "auto",
  model_used: null,
  request_ids: [],
  finish_reason: null,
  error: null,
  cost: null,
  images: [],
  artifact_events: [],
  versions: [],
  ...parts
})

const conversation = (messages: ReadonlyArray<Message>): Conversation => ({
  id: "00000000-0000-7000-8000-00000000000a",
  project_id: "00000000-0000-7000-8000-00000000000b",
  title: "",
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  running: true,
  messages: [...messages],
  artifacts: []
})

const answer = message({})
const snapshotAt = (text: string): ChatEvent => ({
  name: "snapshot",
  data: conversation([
    message({ id: "00000000-0000-7000-8000-000000000000", role: "user", status: "complete", position: 0 }),
    { ...answer, content: text }
  ])
})
const delta = (offset: number, text: string): ChatEvent => ({
  name: "delta",
  data: { message_id: answer.id, offset, text }
})
const textOf = ({ conversation: found }: ChatState): string | undefined =>
  found?.messages.find(({ id }) => id === answer.id)?.content

const frameOf = ({ data, name }: ChatEvent): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** The events that a browser makes of these bytes. */
const received = async (bytes: Uint8Array, cuts: ReadonlyArray<number>): Promise<ReadonlyArray<ChatEvent>> => {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((some, other) => some - other)
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      let from = 0
      for (const end of [...ends, bytes.length]) {
        controller.enqueue(bytes.slice(from, end))
        from = end
      }
      controller.close()
    }
  })
  const events: Array<ChatEvent> = []
  for await (const { data, name } of serverEventsOf(body)) {
    const event = parsed(name, data)
    if (event !== undefined) events.push(event)
  }
  return events
}

const words = fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 })
const places = fc.array(fc.nat(2_000), { maxLength: 12 })

describe("a conversation that is followed", () => {
  it("has the same text wherever its bytes are cut and however often it is attached to anew", async () => {
    await fc.assert(
      fc.asyncProperty(words, places, places, places, async (parts, cuts, breaks, overlaps) => {
        const whole = parts.join("")
        let state: ChatState = nothing
        // each attachment ends somewhere; the next one begins at the cursor, or sends again some of what is known
        for (const [index, end] of [...breaks.map((at) => at % (whole.length + 1)), whole.length].entries()) {
          const cursor = cursorOf(state)
          const known = Number(cursor?.split(":")[1] ?? 0)
          const from = Math.max(0, known - ((overlaps[index] ?? 0) % 4))
          const events = [
            ...(cursor === undefined ? [snapshotAt(whole.slice(0, known))] : []),
            ...(end > from ? [delta(from, whole.slice(from, end))] : [])
          ]
          const bytes = new TextEncoder().encode(events.map(frameOf).join(": keep-alive\n\n"))
          for (const event of await received(bytes, cuts)) state = applied(state, event) ?? nothing
        }
        expect(textOf(state)).toBe(whole)
        expect(textOf(state)?.length).toBe(whole.length)
      }),
      { numRuns: 300 }
    )
  })

  it("is followed from its beginning when text is missing, and not changed by what it has", () => {
    const state = applied(nothing, snapshotAt("one two"))
    if (state === undefined) throw new Error("a snapshot is always applied")
    expect(applied(state, delta(8, "gap"))).toBeUndefined()
    expect(applied(state, delta(4, "two"))).toBe(state)
    expect(textOf(applied(state, delta(4, "two three")) ?? nothing)).toBe("one two three")
    expect(applied(nothing, delta(0, "before any snapshot"))).toBeUndefined()
  })

  it("keeps the place of a message that is written anew, and has no cursor once nothing is written", () => {
    const state = applied(nothing, snapshotAt("before")) ?? nothing
    const again = message({ id: "00000000-0000-7000-8000-000000000002", content: "after", status: "complete" })
    const ended = applied(state, { name: "message", data: again }) ?? nothing
    expect(ended.conversation?.messages.map(({ content }) => content)).toEqual(["", "after"])
    expect([cursorOf(state), cursorOf(ended)]).toEqual([`${answer.id}:6`, undefined])
  })

  it("is read anew where a question was asked: more may have been written elsewhere before it", () => {
    const state = applied(nothing, { name: "snapshot", data: conversation([]) }) ?? nothing
    const asked = message({ id: "00000000-0000-7000-8000-000000000003", role: "user", status: "complete", position: 4 })
    const begun = message({ id: "00000000-0000-7000-8000-000000000004", position: 5 })
    const begunState = started(state, { user_message: asked, assistant_message: begun })
    expect(begunState.conversation?.messages).toEqual([asked, begun])
    expect(cursorOf(begunState)).toBeUndefined()
  })

  it("has the text of an artifact that is written, then its versions, also where it is told of them twice", () => {
    const artifactAt = (version: number) => ({
      id: "00000000-0000-7000-8000-0000000000aa",
      name: "a.md",
      media_type: "text/markdown",
      size_bytes: 3,
      version,
      created_at: "2026-01-01T00:00:00.000Z",
      updated_at: "2026-01-01T00:00:00.000Z",
      content_url: "",
      download_url: ""
    })
    const draft = (offset: number, text: string): ChatEvent => ({
      name: "artifact_delta",
      data: { message_id: answer.id, name: "a.md", offset, text }
    })
    const event = (version: number, action: "created" | "updated" | "deleted"): ChatEvent => ({
      name: "artifact",
      data: { action, artifact: artifactAt(version) }
    })
    const stateAfter = (events: ReadonlyArray<ChatEvent>) =>
      events.reduce<ChatState>((state, each) => applied(state, each) ?? nothing, nothing)
    const begun = [snapshotAt(""), draft(0, "# O"), draft(3, "ne")]
    expect(stateAfter(begun).drafts).toMatchObject([{ name: "a.md", text: "# One" }])
    // who comes back is sent it from the beginning
    expect(stateAfter([...begun, draft(0, "# One tw")]).drafts).toMatchObject([{ text: "# One tw" }])
    expect(applied(stateAfter(begun), draft(9, "gap"))).toBeUndefined()
    const made = [...begun, event(1, "created"), event(2, "updated")]
    expect(stateAfter(made)).toMatchObject({ drafts: [], conversation: { artifacts: [{ version: 2 }] } })
    expect(stateAfter([...made, event(1, "created")]).conversation?.artifacts).toMatchObject([{ version: 2 }])
    expect(stateAfter([...made, event(2, "deleted")]).conversation?.artifacts).toEqual([])
  })
})
