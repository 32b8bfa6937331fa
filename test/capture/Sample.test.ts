import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { canonicalOf, looks, looksOf } from "../../src/capture/worker/blocks.js"
import {
  type Base,
  type Encoded,
  type Expanded,
  encode,
  expand,
  identify,
  type Job,
  maxNewBytes,
  openSample,
  openShared
} from "../../src/capture/worker/sample.js"
import { keysOf } from "../../src/capture/worker/seal.js"
import type { Message, Tool } from "../../src/domain/Chat.ts"

const dayKey = Buffer.alloc(32, 3)
const keys = keysOf(dayKey)
const [project, day] = ["p", "2026-01-01"]

const jobOf = (id: string, messages: ReadonlyArray<Message>, tools: ReadonlyArray<Tool>, text: string | null): Job => ({
  id,
  project,
  day,
  dayKey,
  content: "full",
  facts: {},
  body: undefined,
  prompt: { messages, tools },
  answer: text === null ? null : { text, refusal: "", reasoning: [], toolCalls: [] }
})

const packsOf = (all: ReadonlyArray<Encoded>) =>
  new Map(
    all.flatMap(({ shared }) =>
      shared.map(({ id, sealed }) => [id, openShared(keys.seal, project, day, id, sealed) ?? []] as const)
    )
  )

const text = fc.string({ unit: "grapheme", maxLength: 60 })
const longText = fc.string({ unit: "grapheme", minLength: 600, maxLength: 900 })
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), content: text }),
  fc.record({ role: fc.constant("assistant" as const), content: text }),
  fc.record({ role: fc.constant("tool" as const), content: text, tool_call_id: fc.string({ minLength: 1 }) })
)
const tool: fc.Arbitrary<Tool> = fc.record({
  type: fc.constant("function" as const),
  function: fc.record({ name: fc.string({ minLength: 1 }), description: longText })
})

describe("a conversation", () => {
  const turns = fc.record({
    system: fc.option(longText, { nil: undefined }),
    tools: fc.array(tool, { maxLength: 3 }),
    // a turn can go on, change the beginning, or drop some of the middle
    steps: fc.array(
      fc.record({
        added: fc.array(message, { maxLength: 4 }),
        system: fc.boolean(),
        dropped: fc.nat(3),
        answer: fc.option(text, { nil: null })
      }),
      { minLength: 1, maxLength: 8 }
    )
  })

  it("is expanded to exactly what was sent, whatever the turns have in common", () => {
    fc.assert(
      fc.property(turns, ({ steps, system, tools }) => {
        const sent: Array<ReadonlyArray<Message>> = []
        let messages: ReadonlyArray<Message> = []
        for (const { added, dropped, system: changes } of steps) {
          messages = [...messages.slice(0, -dropped || undefined), ...added]
          const first: ReadonlyArray<Message> =
            system === undefined ? [] : [{ role: "system", content: changes ? `${system} ${sent.length}` : system }]
          sent.push([...first, ...messages])
        }
        let base: Base | null = null
        const encoded: Array<Encoded> = []
        for (const [at, some] of sent.entries()) {
          const next = encode(jobOf(String(at), some, tools, steps[at]?.answer ?? null), base)
          encoded.push(next)
          base = { id: String(at), keys: next.keys }
        }
        const packs = packsOf(encoded)
        let before: Expanded | undefined
        for (const [at, some] of sent.entries()) {
          const opened = openSample(keys.seal, project, String(at), encoded[at]?.sealed ?? new Uint8Array())
          const found = opened && expand(opened, before, (id) => packs.get(id))
          expect(found?.blocks.map((block) => block.text)).toEqual(
            [...tools, ...some].map((one) => JSON.stringify(one))
          )
          before = found
        }
      }),
      { numRuns: 200 }
    )
  })

  it("is stored once: a turn costs what is new in it", () => {
    const first: ReadonlyArray<Message> = [{ role: "user", content: "x".repeat(100_000) }]
    const one = encode(jobOf("1", first, [], "yes"), null)
    const next: ReadonlyArray<Message> = [
      ...first,
      { role: "assistant", content: "yes" },
      { role: "user", content: "go" }
    ]
    const two = encode(jobOf("2", next, [], "no"), { id: "1", keys: one.keys })
    const opened = openSample(keys.seal, project, "2", two.sealed)
    expect(opened?.own.map((block) => block.text)).toEqual([
      '{"role":"user","content":"go"}',
      '{"role":"assistant","content":"no"}'
    ])
  })
})

describe("marks for the provider's cache", () => {
  const cache_control = { type: "ephemeral" } as const
  const turn = (role: "user" | "assistant", text: string, isMarked: boolean): Message => ({
    role,
    // as Messages are read: a lone text is a string, unless it is marked
    content: isMarked ? [{ type: "text", text, cache_control }] : text
  })
  const parts = (marked: number): Message => ({
    role: "user",
    content: ["a", "b"].map((text, at) => ({ type: "text" as const, text, ...(at === marked && { cache_control }) }))
  })
  const calls = (marked: boolean): Message => ({
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "c", type: "function", function: { name: "f", arguments: "{}" }, ...(marked && { cache_control }) }
    ]
  })
  const result = (marked: boolean): Message => ({
    role: "tool",
    content: "done",
    tool_call_id: "c",
    ...(marked && { cache_control })
  })
  const offered = (marked: boolean): Tool => ({
    type: "function",
    function: { name: "f", parameters: { properties: { cache_control: { type: "string" } } } },
    ...(marked && { cache_control })
  })
  const requests: ReadonlyArray<{ messages: ReadonlyArray<Message>; tools: ReadonlyArray<Tool> }> = [
    { tools: [offered(true)], messages: [turn("user", "one", true)] },
    { tools: [offered(false)], messages: [turn("user", "one", false), calls(true), result(true)] },
    { tools: [offered(true)], messages: [turn("user", "one", true), calls(false), result(false), parts(0)] },
    { tools: [offered(true)], messages: [turn("user", "one", false), calls(false), result(true), parts(1)] }
  ]

  it.each(["full", "fingerprint"] as const)(
    "that move on leave the ids of blocks as they are, content %s",
    (content) => {
      let base: Base | null = null
      let before: Expanded | undefined
      let ids: ReadonlyArray<string> = []
      for (const [at, { messages, tools }] of requests.entries()) {
        const encoded: Encoded = encode({ ...jobOf(String(at), messages, tools, null), content }, base)
        base = { id: String(at), keys: encoded.keys }
        const opened = openSample(keys.seal, project, String(at), encoded.sealed)
        before = opened && expand(opened, before, () => undefined)
        const blocks = before?.blocks ?? []
        const named = blocks.flatMap((block) => Object.values(identify(block, keys.id)))
        expect(named.slice(0, ids.length)).toEqual(ids)
        ids = named
        // each as it was sent
        if (content === "full")
          expect(blocks.map(({ text }) => text)).toEqual([...tools, ...messages].map((one) => JSON.stringify(one)))
        expect(blocks.map(({ mark }) => mark)).toEqual(
          [...tools, ...messages].map((one) => (JSON.stringify(one).includes(',"cache_control"') ? "5m" : null))
        )
      }
      expect(new Set(ids)).toHaveLength(ids.length)
    }
  )
})

it("a sample opens only with its own key and as itself", () => {
  const { sealed } = encode(jobOf("1", [{ role: "user", content: "hello" }], [], null), null)
  expect(openSample(keys.seal, project, "1", sealed)).toBeDefined()
  expect(openSample(keys.seal, project, "2", sealed)).toBeUndefined()
  expect(openSample(keys.seal, "another", "1", sealed)).toBeUndefined()
  expect(openSample(keysOf(Buffer.alloc(32, 4)).seal, project, "1", sealed)).toBeUndefined()
})

it("keeps of a chat completion no field that only Messages has, whatever stands in the schema of a tool", () => {
  const control = { cache_control: { type: "ephemeral", ttl: "1h" } }
  const schema = { type: "object", properties: control }
  const messages = [
    { role: "user", content: [{ type: "text", text: "hello", ...control }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" }, ...control }]
    },
    { role: "tool", tool_call_id: "1", content: "none", is_error: true, ...control }
  ]
  const tools = [{ type: "function", function: { name: "f", parameters: schema }, ...control }]
  const body = Buffer.from(JSON.stringify({ messages, tools }))
  const { sealed } = encode({ ...jobOf("1", [], [], null), body, prompt: undefined }, null)
  const own = openSample(keys.seal, project, "1", sealed)?.own ?? []
  expect(own.map(({ mark }) => mark)).toEqual([null, null, null, null])
  expect(own.map(({ text }) => text)).toEqual([
    JSON.stringify({ type: "function", function: { name: "f", parameters: schema } }),
    '{"role":"user","content":[{"type":"text","text":"hello"}]}',
    '{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}',
    '{"role":"tool","content":"none","tool_call_id":"1"}'
  ])
})

it("keeps no text of a sample whose new blocks are too large, and does not let it flow", () => {
  const large: ReadonlyArray<Message> = [{ role: "user", content: "y".repeat(maxNewBytes + 1) }]
  const { keys: ids, mayFlow, sealed, truncated } = encode(jobOf("1", large, [], "answer"), null)
  expect([truncated, mayFlow, ids]).toEqual([true, false, []])
  const opened = openSample(keys.seal, project, "1", sealed)
  const found = opened && expand(opened, undefined, () => undefined)
  expect(found?.blocks).toMatchObject([
    { kind: "user", text: null, bytes: Buffer.byteLength(JSON.stringify(large[0])) }
  ])
  expect(sealed.length).toBeLessThan(2_000)
})

it("blocks that differ in times, dates, epochs, UUIDs or the order of keys have one canonical form", () => {
  const at = (content: string) => canonicalOf({ role: "system", content })
  expect(at("now 2026-01-01T10:00:00.123Z")).toBe(at("now 2025-12-31 23:59:59"))
  expect(at("at 10:00, since 1767225600")).toBe(at("at 9:59:30, since 1867225600123"))
  expect(at("id 0192f0c1-2222-7333-8444-555566667777")).toBe(at("id 0292f0c1-2222-7333-8444-555566667778"))
  expect(canonicalOf({ a: 1, b: "c" })).toBe(canonicalOf({ b: "c", a: 1 }))
  expect(at("now 10:00")).not.toBe(at("then 10:00"))
})

it("says what a block looks like, as soon of the worst text as of any other", () => {
  const looksLike = (content: string) => {
    const bits = looksOf({ kind: "user", text: "", content, tool: null, mark: null })
    return looks.filter((_, at) => (bits & (1 << at)) !== 0)
  }
  expect(looksLike(`so: ${"aB3/".repeat(128)}`)).toEqual(["base64"])
  expect(looksLike("<p>one</p><p>two</p>")).toEqual(["markup"])
  expect(looksLike(`<${"a".repeat(200)}>`)).toEqual(["markup"])
  for (const none of [
    `<${"a".repeat(201)}>`,
    "<><><>",
    "a < b or c > d; in all that follows there is none",
    "<<<",
    ">>>"
  ])
    expect(looksLike(none)).toEqual([])
  const characters = 16 * 1024 * 1024
  const startedAt = performance.now()
  for (const part of [`${"A".repeat(511)} `, `<${"a".repeat(199)}`, "<a>"])
    looksLike(part.repeat(characters / part.length))
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})
