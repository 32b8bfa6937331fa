import { createHash } from "node:crypto"
import { random } from "../../../src/analysis/Decompose.ts"
import { textOf } from "../../../src/analysis/Prepare.ts"
import type { CapturedBlock, CapturedCall } from "../../../src/domain/CapturedCall.ts"
import type { AssistantMessage, Message, Tool } from "../../../src/domain/Chat.ts"
import type { PromptCache } from "../../../src/domain/Model.ts"
import { usage } from "../../../src/domain/Usage.ts"
import { type BilledCall, billed, type SimulatedRoute, simulatedRoutes, tokensOf } from "./Provider.ts"

/** Synthetic applications with planted causes of waste, and with signs that look like them and are none. All follows from a seed. */

export type Shape = "agent" | "chat" | "extraction" | "unshared"

export interface Application {
  readonly seed: number
  readonly shape: Shape
  readonly plants: ReadonlySet<string>
  readonly traps: ReadonlySet<string>
}

export interface Conversation {
  readonly id: string
  readonly calls: ReadonlyArray<CapturedCall>
}

const plantsOf: Readonly<Record<Shape, ReadonlyArray<string>>> = {
  agent: [
    "prefix_volatile",
    "tools_shuffled",
    "cache_unmarked",
    "cache_lost",
    "route_switch",
    "client_retry",
    "repeat_read",
    "oversize_output",
    "json_pretty",
    "unused_tools"
  ],
  chat: [
    "prefix_volatile",
    "cache_unmarked",
    "ttl_gap",
    "cache_lost",
    "route_switch",
    "client_retry",
    "truncated_retry",
    "repeated_instruction"
  ],
  extraction: ["duplicate", "client_retry", "truncated_retry", "schema_reask"],
  unshared: ["write_never_read"]
}
const trapsOf: Readonly<Record<Shape, ReadonlyArray<string>>> = {
  agent: ["name", "version", "failover", "stopped", "polling", "verbatim", "jsonFiles", "rareTool"],
  chat: ["name", "version", "failover", "pinned", "stopped", "cut", "reminder"],
  extraction: ["samples", "stopped", "cut", "clarified"],
  unshared: ["stopped"]
}
const claudeOnly = new Set(["cache_unmarked", "ttl_gap", "write_never_read", "cache_lost"])

const routeOf = (seed: number, plants: ReadonlySet<string>, shape: Shape): SimulatedRoute => {
  const next = random(seed * 31 + 7)
  const claude = shape === "unshared" || [...plants].some((plant) => claudeOnly.has(plant))
  return simulatedRoutes[claude ? 0 : Math.floor(next() * 3)] as SimulatedRoute
}

export const applicationOf = (seed: number): Application => {
  const next = random(seed * 7919 + 13)
  const at = next()
  const shape: Shape = at < 0.42 ? "agent" : at < 0.75 ? "chat" : at < 0.95 ? "extraction" : "unshared"
  const plants = new Set<string>()
  const count = shape === "unshared" ? 1 : Math.floor(next() * 4)
  const may = plantsOf[shape]
  for (let i = 0; i < count; i++) plants.add(may[Math.floor(next() * may.length)] ?? "")
  if (plants.has("prefix_volatile") || plants.has("tools_shuffled") || plants.has("cache_unmarked")) {
    // without reads from the cache the cause has no room
    for (const hidden of ["ttl_gap", "cache_lost", "route_switch"]) plants.delete(hidden)
    if (plants.has("tools_shuffled")) for (const hidden of ["prefix_volatile", "cache_unmarked"]) plants.delete(hidden)
    if (plants.has("prefix_volatile")) plants.delete("cache_unmarked")
  }
  if (plants.has("ttl_gap")) plants.delete("route_switch")
  if (plants.has("cache_lost")) plants.delete("route_switch")
  const traps = new Set(trapsOf[shape].filter(() => next() < 0.35))
  if (plants.has("route_switch")) traps.delete("pinned")
  return { seed, shape, plants, traps }
}

/** Clean parts do not depend on what is planted: each draws from numbers of its own. */
const stream = (seed: number, name: string) =>
  random(Number.parseInt(createHash("sha1").update(`${seed} ${name}`).digest("hex").slice(0, 8), 16))

const vocabulary =
  "account balance report service customer network update region schedule release monitor payment storage measure gather collect finish resolve sample window signal channel product history pattern".split(
    " "
  )
const prose = (next: () => number, words: number): string => {
  const out: Array<string> = []
  for (let i = 0; i < words; i++) {
    const each = vocabulary[Math.floor(next() * vocabulary.length)] ?? "word"
    out.push(i % 13 === 12 ? `${each}.` : next() < 0.1 ? `${each}${Math.floor(next() * 1000)}` : each)
  }
  return out.join(" ")
}

/** Plants that leave something of them when their waste is gone; the others are simply not planted. */
const cleaned: ReadonlySet<string> = new Set([
  "oversize_output",
  "repeated_instruction",
  "ttl_gap",
  "route_switch",
  "schema_reask",
  "repeat_read",
  "write_never_read"
])

interface Draft {
  readonly cacheRoute: string
  readonly long: boolean
  readonly conversation: string
  readonly at: number
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<Tool>
  readonly marked: boolean
  readonly route: SimulatedRoute
  readonly answer: AssistantMessage
  readonly finish: "stop" | "length" | "tool_calls"
  readonly status: "success" | "cancelled"
  readonly temperature?: number
  readonly json?: boolean
  readonly failedFirst?: boolean
  readonly pinned?: boolean
  readonly outputTokens: number
  readonly evicted: boolean
}

const toolOf = (name: string, words: number): Tool => ({
  type: "function",
  function: {
    name,
    description: prose(stream(name.length * 77 + words, name), words),
    parameters: { type: "object", properties: { path: { type: "string", description: `What ${name} works on` } } }
  }
})

/** With `without`, the waste of this plant is left out and all else is as before. */
export const generate = (app: Application, without?: string): ReadonlyArray<Conversation> => {
  const { seed, shape, traps } = app
  const plants = new Set([...app.plants].filter((plant) => plant !== without || cleaned.has(plant)))
  const clean = (plant: string): boolean => plant === without
  const drafts: Array<Draft> = []
  const main = routeOf(seed, app.plants, shape)
  const other = simulatedRoutes[main.kind === "claude" ? 3 : main.kind === "openai" ? 4 : 1] as SimulatedRoute
  const structure = stream(seed, "structure")
  const conversations = shape === "agent" ? 6 : shape === "chat" ? 12 : 50
  const systemText = `${prose(stream(seed, "system"), shape === "unshared" ? 30 : 1300)}\n\nAnswer in the language of the customer.`
  const baseTools = ["read_file", "search", "query", "edit_file", "status", "list_dir"]
  const extra = plants.has("unused_tools") ? Array.from({ length: 12 }, (_, i) => `extra_tool_${i}`) : []
  const rare = traps.has("rareTool") ? ["rare_tool"] : []
  const tools = shape === "agent" ? [...baseTools, ...rare, ...extra].map((name) => toolOf(name, 60)) : []
  let clock = 1_700_000_000_000
  for (let c = 0; c < conversations; c++) {
    const id = `conversation-${seed}-${c}`
    const own = stream(seed, `conversation ${c}`)
    const noise = (name: string) => stream(seed, `${name} ${c}`)
    const planted = Object.fromEntries(
      ["shuffle", "switch", "retry", "cut", "evict", "gap", "repeat", "duplicate", "reask"].map((name) => [
        name,
        noise(name)
      ])
    ) as Record<string, () => number>
    const roll = (name: string): number => planted[name]?.() ?? 1
    clock += 20_000 + Math.floor(structure() * 40_000)
    let at = clock
    let route = main
    const pinned = traps.has("pinned") && c % 4 === 0
    const turns = shape === "agent" ? 10 + Math.floor(own() * 8) : shape === "chat" ? 5 + Math.floor(own() * 5) : 1
    const name = traps.has("name") ? `\n\nThe customer is called ${vocabulary[c % vocabulary.length]} ${c}.` : ""
    const version = traps.has("version") && c >= conversations / 2 ? "\n\nVersion 2 of these instructions." : ""
    let messages: Array<Message> = []
    const paragraph = `\n\n${prose(stream(seed, "instruction"), 110)}`
    const reminder = traps.has("reminder") ? "\n\nKeep it brief." : ""
    const question = (i: number) =>
      shape === "extraction" || shape === "unshared"
        ? `${shape === "extraction" ? "Give JSON. " : ""}Document ${c}: ${prose(own, shape === "unshared" ? 1800 : 300)}`
        : `${prose(own, shape === "chat" ? 60 : 40)} ${i}${plants.has("repeated_instruction") && (i === 0 || !clean("repeated_instruction")) ? paragraph : ""}${reminder}`
    messages.push({ role: "user", content: question(0) })
    let lastFile: string | undefined
    for (let turn = 0; turn < turns; turn++) {
      const clockText = plants.has("prefix_volatile") ? `\nCurrent time: ${new Date(at).toISOString()}` : ""
      const system: Message = { role: "system", content: `${clockText}${systemText}${name}${version}`.trim() }
      const sent = plants.has("tools_shuffled") ? [...tools].sort(() => roll("shuffle") - 0.5) : tools
      const failedFirst = traps.has("failover") && own() < 0.03
      if (plants.has("route_switch") && turn > 0 && roll("switch") < 0.3) route = route === main ? other : main
      else if (failedFirst) route = route === main ? other : main
      if (pinned && turn === 3) route = other
      const base = {
        conversation: id,
        messages: [system, ...messages],
        tools: sent,
        marked: main.kind === "claude" && !plants.has("cache_unmarked") && !clean("write_never_read"),
        route,
        cacheRoute: clean("route_switch") && !failedFirst ? main.id : route.id,
        long: clean("ttl_gap"),
        pinned,
        failedFirst,
        evicted: plants.has("cache_lost") && turn > 0 && roll("evict") < 0.25,
        status: "success" as const,
        ...(shape === "extraction" && { temperature: traps.has("samples") ? 1 : 0, json: true })
      }
      const words = 40 + Math.floor(own() * 60)
      const tool =
        shape === "agent" && turn < turns - 1
          ? traps.has("rareTool") && c === 0 && turn === 2
            ? "rare_tool"
            : (baseTools[Math.floor(own() * baseTools.length)] ?? "search")
          : undefined
      const callId = `call_${c}_${turn}`
      let text =
        shape === "extraction"
          ? JSON.stringify({ total: Math.floor(own() * 1e6), note: prose(own, words / 2) })
          : prose(own, words)
      const longer = traps.has("cut") && own() < 0.05
      const answer: AssistantMessage =
        tool === undefined
          ? { role: "assistant", content: text }
          : {
              role: "assistant",
              content: text,
              tool_calls: [
                { id: callId, type: "function", function: { name: tool, arguments: `{"path":"${prose(own, 2)}"}` } }
              ]
            }
      const finish = tool === undefined ? (longer ? "length" : "stop") : "tool_calls"
      const outputTokens = tokensOf(textOf(answer), "openai") + 5
      if (plants.has("client_retry") && roll("retry") < 0.15) {
        drafts.push({
          ...base,
          at,
          answer: { role: "assistant", content: text.slice(0, 80) },
          finish: "stop",
          status: "cancelled",
          outputTokens: 90,
          failedFirst: false
        })
        at += 25_000
      } else if (traps.has("stopped") && turn === turns - 1 && own() < 0.1) {
        drafts.push({
          ...base,
          at,
          answer: { role: "assistant", content: text.slice(0, 60) },
          finish: "stop",
          status: "cancelled",
          outputTokens: 40
        })
        at += 30_000
        continue
      }
      if (plants.has("truncated_retry") && roll("cut") < 0.25) {
        drafts.push({
          ...base,
          at,
          answer: { role: "assistant", content: text.slice(0, 200) },
          finish: "length",
          outputTokens: 100,
          failedFirst: false
        })
        at += 15_000
      }
      if (shape === "extraction" && plants.has("schema_reask") && roll("reask") < 0.35) {
        const bad: AssistantMessage = { role: "assistant", content: `Here is the result: ${text.slice(0, 120)}` }
        drafts.push({ ...base, at, answer: bad, finish: "stop", outputTokens })
        at += 8_000
        if (!clean("schema_reask"))
          drafts.push({
            ...base,
            at,
            messages: [...base.messages, bad, { role: "user", content: "That is not valid JSON. Send only the JSON." }],
            answer,
            finish: "stop",
            outputTokens
          })
        at += 8_000
        continue
      }
      drafts.push({ ...base, at, answer, finish, outputTokens })
      if (shape === "extraction" && plants.has("duplicate") && !traps.has("samples") && roll("duplicate") < 0.3) {
        drafts.push({ ...base, at: at + 60_000, answer, finish, outputTokens })
      }
      if (shape === "extraction" && traps.has("samples") && c % 5 === 0) {
        drafts.push({
          ...base,
          at: at + 2_000,
          answer: { role: "assistant", content: JSON.stringify({ total: c }) },
          finish,
          outputTokens
        })
      }
      if (shape === "extraction" && traps.has("clarified") && c % 6 === 0) {
        drafts.push({
          ...base,
          at: at + 20_000,
          messages: [...base.messages, answer, { role: "user", content: "Now add the totals of both documents." }],
          answer: { role: "assistant", content: `{"sum":${c}}` },
          finish: "stop",
          outputTokens: 12
        })
      }
      messages = [...messages, answer]
      if (tool !== undefined) {
        let result = resultOf({ ...app, plants }, tool, own, noise(`result ${turn}`), turn, clean("oversize_output"))
        if (tool === "read_file") {
          if (plants.has("repeat_read") && lastFile !== undefined && roll("repeat") < 0.7) {
            result = clean("repeat_read") ? "The file has not changed since it was last read." : lastFile
          } else if (!plants.has("repeat_read") || lastFile === undefined) lastFile = result
        }
        messages.push({ role: "tool", tool_call_id: callId, content: result })
        if (traps.has("verbatim") && turn === 1 && !plants.has("oversize_output")) {
          const log = Array.from({ length: 90 }, (_, i) => `line ${i} of the file that is edited to the letter`).join(
            "\n"
          )
          messages[messages.length - 1] = { role: "tool", tool_call_id: callId, content: log }
          messages.push(
            { role: "assistant", content: `I replace: line 40 of the file that is edited to the letter` },
            { role: "user", content: "Go on." }
          )
        }
        if (traps.has("polling") && turn === 2) {
          const state = prose(stream(seed, "poll"), 420)
          for (let i = 0; i < 2; i++) {
            messages.push(
              {
                role: "assistant",
                content: "",
                tool_calls: [{ id: `${callId}_${i}`, type: "function", function: { name: "status", arguments: "{}" } }]
              },
              { role: "tool", tool_call_id: `${callId}_${i}`, content: state }
            )
          }
        }
      } else messages.push({ role: "user", content: question(turn + 1) })
      at += shape === "agent" ? 6_000 + Math.floor(own() * 20_000) : 20_000 + Math.floor(own() * 100_000)
      if (plants.has("ttl_gap") && roll("gap") < 0.7) at += 400_000 + Math.floor(roll("gap") * 1_500_000)
      text = ""
    }
  }
  return captured(drafts)
}

const resultOf = (
  app: Application,
  tool: string,
  own: () => number,
  planted: () => number,
  turn: number,
  clean: boolean
): string => {
  const words = 150 + Math.floor(own() * 250)
  const text = prose(own, tool === "read_file" ? 450 : words)
  const id = Math.floor(own() * 1e6)
  if (tool === "query") {
    const rows = Array.from({ length: 25 }, (_, i) => ({
      id: id + i,
      name: vocabulary[(id + i) % vocabulary.length],
      state: "open",
      owner: { team: "a", level: i }
    }))
    return app.plants.has("json_pretty") ? JSON.stringify(rows, null, 2) : JSON.stringify(rows)
  }
  if (tool === "read_file" && app.traps.has("jsonFiles") && turn % 3 === 0 && !app.plants.has("repeat_read")) {
    return JSON.stringify({ file: text.slice(0, 900), values: [1, 2, 3, id] }, null, 4)
  }
  if (tool === "search" && app.plants.has("oversize_output")) {
    const kind = Math.floor(planted() * 3)
    if (clean && kind === 1) return Array.from({ length: 160 }, (_, i) => vocabulary[i % 20]).join(" ")
    if (clean) return text
    if (kind === 0)
      return `${text}\n${createHash("sha512").update(text).digest("base64").replaceAll("=", "").repeat(45)}`
    if (kind === 1)
      return Array.from(
        { length: 160 },
        (_, i) => `<div class="row item-${i}"><span data-id="${id + i}">${vocabulary[i % 20]}</span></div>`
      ).join("")
    return `${text}\n${Array.from({ length: 170 }, (_, i) => `2024-01-01 12:${i} INFO worker ${i} handled request ${id + i} in ${i} ms`).join("\n")}`
  }
  return text
}

const digest = (text: string): string => createHash("sha1").update(text).digest("hex").slice(0, 32)
const volatile = /\d{4}-\d\d-\d\d(T[\d:.]+Z?)?|\d\d:\d\d(:\d\d)?/gu

const captured = (unsorted: ReadonlyArray<Draft>): ReadonlyArray<Conversation> => {
  const drafts = [...unsorted].sort((a, b) => a.at - b.at)
  const bills = billed(drafts.map(billable))
  const conversations = new Map<string, Array<CapturedCall>>()
  drafts.forEach((draft, index) => {
    const bill = bills[index]
    if (bill === undefined) return
    const blocks = blocksOf(draft)
    const amount = { amount_microusd: bill.microUsd, currency: "USD" as const, basis: "charged" as const }
    const used = usage({
      inputTokens: bill.input,
      cacheReadTokens: bill.read,
      cacheWriteTokens: bill.written,
      outputTokens: draft.outputTokens
    })
    const { cacheRead, cacheWrite, input, output } = draft.route
    const attempt = {
      provider: "p",
      model: draft.route.id,
      status: draft.status,
      error: null,
      cost: amount,
      usage: used,
      startedAt: draft.at,
      latencyMillis: 2000
    }
    const call: CapturedCall = {
      requestId: `00000000-0000-7000-8000-${String(index).padStart(12, "0")}` as CapturedCall["requestId"],
      projectId: "00000000-0000-4000-8000-000000000001" as CapturedCall["projectId"],
      capturedAt: draft.at,
      window: { configVersion: 1, samplingRate: 1, inclusion: 1 },
      keyId: "00000000-0000-4000-8000-000000000002" as CapturedCall["keyId"],
      endUser: null,
      conversation: draft.conversation,
      class: null,
      endpoint: "chat",
      status: draft.status,
      error: null,
      request: {
        messages: draft.messages,
        tools: draft.tools,
        blocks,
        params: {
          stream: false,
          ...(draft.temperature !== undefined && { temperature: draft.temperature }),
          ...(draft.json === true && { responseFormat: { type: "json_object" } })
        },
        toolsOffered: draft.tools.map((tool) => (tool.type === "function" ? tool.function.name : tool.custom.name)),
        toolsCalled: (draft.answer.tool_calls ?? []).flatMap((each) =>
          each.type === "function" ? [each.function.name] : []
        ),
        media: []
      },
      candidatePool: { models: [draft.route.id] },
      decision: {
        requestedModel: draft.pinned === true ? draft.route.id : "auto",
        reason: draft.pinned === true ? "pinned_model" : "quality_cost_tradeoff",
        alpha: 0.5,
        routingConfig: null,
        policyVersion: 1
      },
      attempts:
        draft.failedFirst === true
          ? [{ ...attempt, model: "p/failed", status: "error", usage: null }, attempt]
          : [attempt],
      response: {
        message: draft.answer,
        block: {
          id: digest(JSON.stringify(draft.answer)),
          canonicalId: "",
          kind: "assistant",
          bytes: 100,
          tool: null,
          looks: [],
          cacheMark: null
        },
        finish: draft.status === "cancelled" ? null : draft.finish
      },
      usage: used,
      cost: amount,
      prices: { input, output, cacheRead, ...(cacheWrite !== undefined && { cacheWrite }) },
      latencyMillis: 2000,
      firstContentMillis: null,
      truncated: false,
      flowAuthorized: true,
      expiresAt: draft.at + 1e9
    }
    conversations.set(draft.conversation, [...(conversations.get(draft.conversation) ?? []), call])
  })
  return [...conversations].map(([id, calls]) => ({ id, calls }))
}

const textsOf = ({ messages, tools }: Draft) => [...tools.map((tool) => JSON.stringify(tool)), ...messages.map(textOf)]

const marksOf = (draft: Draft): ReadonlySet<number> =>
  new Set(draft.marked ? [draft.tools.length, draft.tools.length + draft.messages.length - 1] : [])

const billable = (draft: Draft): BilledCall => {
  const marks = marksOf(draft)
  return {
    route: draft.route,
    at: draft.at,
    blocks: textsOf(draft).map((text, position) => ({ text, mark: marks.has(position) })),
    outputTokens: draft.outputTokens,
    cacheRoute: draft.cacheRoute,
    long: draft.long,
    evicted: draft.evicted
  }
}

const blocksOf = (draft: Draft): ReadonlyArray<CapturedBlock> => {
  const marks = marksOf(draft)
  const names = new Map<string, string>()
  for (const message of draft.messages) {
    if (message.role !== "assistant") continue
    for (const call of message.tool_calls ?? []) if (call.type === "function") names.set(call.id, call.function.name)
  }
  const sources: ReadonlyArray<Tool | Message> = [...draft.tools, ...draft.messages]
  return sources.map((source, position) => {
    const json = JSON.stringify(source)
    const role = "role" in source ? source.role : "tool_definition"
    return {
      id: digest(json),
      canonicalId: digest(json.replace(volatile, "")),
      kind:
        role === "tool_definition"
          ? "tool"
          : role === "tool"
            ? "tool_result"
            : role === "developer"
              ? "system"
              : (role as "user"),
      bytes: json.length,
      tool:
        "role" in source
          ? source.role === "tool"
            ? (names.get(source.tool_call_id) ?? null)
            : null
          : source.type === "function"
            ? source.function.name
            : null,
      looks: [],
      cacheMark: marks.has(position) ? "5m" : null
    }
  })
}

export const cacheOfSimulated = (model: string): PromptCache | null => {
  const kind = simulatedRoutes.find(({ id }) => id === model)?.kind
  if (kind === undefined) return null
  return kind === "claude"
    ? {
        mode: "explicit",
        minTokens: 1024,
        stepTokens: 1,
        ttlSeconds: 300,
        longTtl: { seconds: 3600, writeFactor: 2 },
        guaranteed: true
      }
    : {
        mode: "auto",
        minTokens: 1024,
        stepTokens: kind === "openai" ? 128 : 1,
        ttlSeconds: 300,
        longTtl: null,
        guaranteed: kind === "openai"
      }
}

/** What the planted waste has cost by itself: the bill of the application, less that of the same one without it. */
export const truthOf = (app: Application, plant: string): number =>
  spentOf(generate(app)) - spentOf(generate(app, plant))

export const spentOf = (conversations: ReadonlyArray<Conversation>): number =>
  conversations.reduce((sum, { calls }) => sum + calls.reduce((inner, { cost }) => inner + cost.amount_microusd, 0), 0)
