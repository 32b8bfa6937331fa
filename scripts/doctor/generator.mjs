// @ts-check
// Synthetic applications with planted causes of waste and with traps that only look like them. Each application is billed as its
// provider would bill it, then again without each cause: the difference is the true saving. Everything follows from the seed.
//   node scripts/doctor/generator.mjs --out DIR [--seed 1] [--apps 200]
// writes one file per application: { app, calls: CapturedCall[], truth }.
import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { amountOf, bill, routes } from "./providers.mjs"
import { random, uuid } from "./random.mjs"
import { base64, code, log, prose, records, repeatedLog, tool } from "./text.mjs"

/** @import { AssistantMessage, Message, Tool } from "../../src/domain/Chat.ts" */
/** @import { CapturedBlock, CapturedCall } from "../../src/domain/CapturedCall.ts" */
/** @import { Billable, Route } from "./providers.mjs" */
/** @import { Random } from "./random.mjs" */

/**
 * @typedef {"agent" | "chat" | "extraction" | "dialogue"} Kind
 * @typedef {{ readonly id: string, readonly kind: Kind, readonly route: string, readonly planted: ReadonlyArray<number>, readonly traps: ReadonlyArray<string> }} App
 * @typedef {{ readonly chargedMicroUsd: number, readonly jointMicroUsd: number, readonly alone: Readonly<Record<string, number>> }} Truth
 * alone: by cause, what the application would have cost less without that cause
 * @typedef {{ readonly app: App, readonly calls: ReadonlyArray<CapturedCall>, readonly truth: Truth }} Generated
 */

/** @typedef {{ readonly tool: string, readonly result: (on: ReadonlySet<number>) => string }} ToolUse */
/** @typedef {{ readonly user: ((on: ReadonlySet<number>, call: number) => string) | null, readonly use: ToolUse | null, readonly answer: string, readonly gapMillis: number }} Step */
/** @typedef {{ readonly key: string, readonly startsAt: number, readonly system: string, readonly steps: ReadonlyArray<Step> }} Conversation */
/** @typedef {{ readonly app: App, readonly seed: number, readonly route: Route, readonly other: Route | undefined, readonly tools: ReadonlyArray<Tool>, readonly conversations: ReadonlyArray<Conversation> }} Plan */
/**
 * @typedef {object} Call
 * @property {string} id
 * @property {Conversation} conversation
 * @property {number} at
 * @property {Route} route
 * @property {boolean} isPinned
 * @property {Route | undefined} failedFirst
 * @property {ReadonlyArray<Tool>} tools
 * @property {ReadonlyArray<Message>} messages
 * @property {ReadonlyArray<number>} marks positions of marked blocks, those of tools first
 * @property {"5m" | "1h"} ttl
 * @property {AssistantMessage} answer
 * @property {"stop" | "length" | "tool_calls" | null} finish
 * @property {number | undefined} maxOutputTokens
 * @property {number | undefined} temperature
 * @property {boolean} wantsJson
 * @property {boolean} evicted
 */

const minute = 60_000
const firstMillis = Date.UTC(2026, 2, 2, 8)

/** Causes that fit each kind of application; those in `explicitOnly` need marks. @type {Readonly<Record<Kind, ReadonlyArray<number>>>} */
const fitting = {
  agent: [1, 2, 3, 6, 7, 9, 12, 13, 14, 16],
  chat: [1, 3, 5, 6, 7, 9, 10, 15],
  extraction: [3, 4, 8, 10, 11],
  dialogue: [1, 2, 3, 6, 7, 8, 9, 14, 15, 16]
}
const explicitOnly = new Set([3, 4, 5])
const cachedOnly = new Set([1, 2, 3, 4, 5, 6, 7])
/** Two that would hide each other. @type {ReadonlyArray<readonly [number, number]>} */
const exclusive = [
  [3, 4],
  [3, 5],
  [1, 3],
  [2, 3],
  [3, 6],
  [3, 7],
  [1, 2],
  [1, 6],
  [2, 6],
  [1, 7],
  [2, 7],
  [6, 7],
  [5, 6],
  [8, 11],
  [4, 8],
  [4, 10],
  [4, 11]
]

/** @type {Readonly<Record<Kind, ReadonlyArray<string>>>} */
const trapsOf = {
  agent: ["user_name", "new_version", "rare_tool", "user_stop", "failover", "polling", "asked_log", "mixed_json"],
  chat: ["user_name", "new_version", "user_stop", "length_once", "short_reminder", "pinned", "failover", "few_gaps"],
  extraction: ["sampling", "length_once", "clarification", "user_stop"],
  dialogue: ["user_name", "new_version", "rare_tool", "failover", "short_reminder", "user_stop", "sampling"]
}

/** @param {number} seed @param {number} count @returns {Generator<Generated>} */
export function* generate(seed, count) {
  for (let index = 0; index < count; index++) yield application(planOf(seed, index))
}

/** @param {number} seed @param {number} index @returns {Plan} */
const planOf = (seed, index) => {
  const rng = random(seed, "app", index)
  // every cause is planted as often as the others: first the cause, then what fits it
  const first = (index % 18) + 1
  const wanted = first > 16 ? null : first
  const kinds = /** @type {ReadonlyArray<Kind>} */ (["agent", "chat", "extraction", "dialogue"])
  const kind = rng.pick(wanted === null ? kinds : kinds.filter((name) => fitting[name].includes(wanted)))
  const allowed = routes.filter(([{ family }, other]) => {
    if (wanted === null) return true
    if (explicitOnly.has(wanted)) return family === "anthropic"
    return (!cachedOnly.has(wanted) || family !== "none") && (wanted !== 7 || other !== undefined)
  })
  const [route, other] = rng.pick(allowed)
  /** @type {Array<number>} */
  const planted = wanted === null ? [] : [wanted]
  const more = wanted === null ? 0 : rng.pick([0, 0, 1, 1, 2])
  for (const cause of wanted === null ? [] : rng.shuffled(fitting[kind])) {
    if (planted.length > more || planted.includes(cause)) continue
    if (explicitOnly.has(cause) && route.family !== "anthropic") continue
    if (cachedOnly.has(cause) && route.family === "none") continue
    if (cause === 7 && other === undefined) continue
    if (exclusive.some(([a, b]) => (cause === a && planted.includes(b)) || (cause === b && planted.includes(a))))
      continue
    planted.push(cause)
  }
  const traps = rng
    .shuffled(trapsOf[kind])
    .slice(0, rng.int(0, 4))
    .filter((trap) => isTrap(trap, planted, other))
  const app = {
    id: `app-${seed}-${index}`,
    kind,
    route: route.model,
    planted: planted.toSorted((a, b) => a - b),
    traps
  }
  const tools = toolsOf(rng, kind, planted, traps)
  return { app, seed, route, other, tools, conversations: conversationsOf(app, seed, tools) }
}

/** A trap is one only where the cause that it looks like is not planted. @param {string} trap @param {ReadonlyArray<number>} planted @param {Route | undefined} other */
const isTrap = (trap, planted, other) => {
  const looksLike = { user_name: 1, new_version: 1, rare_tool: 16, user_stop: 9, failover: 7, pinned: 7, polling: 12 }
  const also = {
    asked_log: 13,
    mixed_json: 14,
    length_once: 10,
    short_reminder: 15,
    few_gaps: 5,
    sampling: 8,
    clarification: 11
  }
  const cause = { ...looksLike, ...also }[trap]
  if (cause !== undefined && planted.includes(cause)) return false
  return (trap !== "failover" && trap !== "pinned") || other !== undefined
}

/** Each of them is used: one that is never called would be waste that nobody has planted. @type {Readonly<Record<"agent" | "dialogue", ReadonlyArray<string>>>} */
const toolNames = {
  agent: ["read_file", "search", "edit_file", "run_command", "get_status"],
  dialogue: ["fetch_order", "find_customer", "get_status"]
}

/** @param {Random} rng @param {Kind} kind @param {ReadonlyArray<number>} planted @param {ReadonlyArray<string>} traps */
const toolsOf = (rng, kind, planted, traps) => {
  if (kind === "chat" || kind === "extraction") return []
  const used = toolNames[kind].map((name) => tool(rng, name, rng.int(20, 60)))
  if (traps.includes("rare_tool")) used.push(tool(rng, "escalate_rarely", 60))
  if (kind === "agent" && planted.includes(14)) used.push(tool(rng, "read_records", 40))
  const unused = planted.includes(16) ? Array.from({ length: 14 }, (_, at) => tool(rng, `connector_${at}`, 70)) : []
  return [...used, ...unused]
}

/** @param {App} app @param {number} seed @param {ReadonlyArray<Tool>} tools @returns {ReadonlyArray<Conversation>} */
const conversationsOf = (app, seed, tools) => {
  const { id, kind, planted, traps } = app
  const rng = random(seed, id, "conversations")
  const base =
    kind === "extraction"
      ? prose(rng, planted.includes(4) ? 120 : rng.int(900, 1_400))
      : prose(rng, kind === "chat" ? rng.int(1_000, 1_600) : rng.int(1_200, 2_400))
  const count = kind === "extraction" ? rng.int(50, 90) : kind === "agent" ? rng.int(4, 8) : rng.int(12, 24)
  const counter = { rare: 0 }
  return Array.from({ length: count }, (_, at) => {
    const own = random(seed, id, "conversation", at)
    const name = traps.includes("user_name") ? `The user is ${prose(own, 2)}\n` : ""
    const version = traps.includes("new_version") && at >= count / 2 ? "Release 2.\n" : ""
    const startsAt = firstMillis + at * (kind === "extraction" ? 7 * minute : 95 * minute) + own.int(0, minute)
    return {
      key: uuid(seed, id, "conversation", at),
      startsAt,
      system: `${version}${name}${base}`,
      steps: stepsOf(app, seed, at, own, tools, counter)
    }
  })
}

/** @param {App} app @param {number} seed @param {number} at @param {Random} rng @param {ReadonlyArray<Tool>} tools @param {{ rare: number }} counter @returns {ReadonlyArray<Step>} */
const stepsOf = (app, seed, at, rng, tools, counter) => {
  const { id, kind, planted, traps } = app
  if (kind === "extraction") {
    const document = prose(rng, planted.includes(4) ? 1_800 : rng.int(150, 500))
    return [{ user: () => document, use: null, answer: JSON.stringify(records(rng, 2)), gapMillis: 0 }]
  }
  const shared = random(seed, id, "shared")
  const reminder = prose(shared, 70)
  const short = "Answer briefly and in English."
  if (kind === "chat") {
    const gaps = planted.includes(5) || (traps.includes("few_gaps") && at === 0)
    return Array.from({ length: rng.int(5, 9) }, (_, turn) => {
      const question = prose(rng, rng.int(15, 60))
      return {
        user: (on) => {
          if (planted.includes(15)) return turn === 0 || on.has(15) ? `${question}\n\n${reminder}` : question
          return traps.includes("short_reminder") ? `${question}\n\n${short}` : question
        },
        use: null,
        answer: prose(rng, rng.int(60, 200)),
        gapMillis: gaps && turn % 2 === 1 ? rng.int(8, 45) * minute : rng.int(20, 150) * 1_000
      }
    })
  }
  /** The results of this conversation so far, by what was read. @type {Map<string, string>} */
  const results = new Map()
  const length = kind === "agent" ? rng.int(15, 32) : rng.int(6, 12)
  return Array.from({ length }, (_, turn) => {
    const asks = kind === "agent" ? turn === 0 || rng.chance(0.1) : turn % 2 === 0
    const question = prose(rng, kind === "agent" ? 80 : rng.int(12, 30))
    const isLast = turn === length - 1
    return {
      user: asks
        ? (on) => {
            if (planted.includes(15)) return turn === 0 || on.has(15) ? `${question}\n\n${reminder}` : question
            return traps.includes("short_reminder") ? `${question}\n\n${short}` : question
          }
        : null,
      use: isLast ? null : toolUse(app, rng, turn, results, tools, counter),
      answer: isLast ? prose(rng, 120) : prose(rng, rng.int(5, 25)),
      gapMillis: rng.int(4, kind === "agent" ? 60 : 90) * 1_000
    }
  })
}

/** @param {App} app @param {Random} rng @param {number} turn @param {Map<string, string>} results @param {ReadonlyArray<Tool>} tools @param {{ rare: number }} counter @returns {ToolUse} */
const toolUse = ({ kind, planted, traps }, rng, turn, results, tools, counter) => {
  if (traps.includes("rare_tool") && turn === 2 && counter.rare++ === 0 && tools.length > 0) {
    const text = prose(rng, 40)
    return { tool: "escalate_rarely", result: () => text }
  }
  if (kind === "dialogue") {
    const value = records(rng, rng.int(6, 14))
    const [pretty, compact] = [JSON.stringify(value, null, 2), JSON.stringify(value)]
    return { tool: rng.pick(toolNames.dialogue), result: (on) => (on.has(14) ? pretty : compact) }
  }
  if (planted.includes(13) && rng.chance(0.3)) {
    const report = prose(rng, 60)
    const noise = rng.chance(0.5) ? base64(rng, rng.int(2_000, 4_000)) : repeatedLog(rng, rng.int(80, 160))
    return { tool: "run_command", result: (on) => (on.has(13) ? `${report}\n${noise}` : report) }
  }
  if (traps.includes("asked_log") && rng.chance(0.2)) {
    const text = log(rng, rng.int(60, 100))
    return { tool: "run_command", result: () => text }
  }
  if (traps.includes("polling") && rng.chance(0.25)) {
    const text = `state ${rng.int(0, 1) === 0 ? "running" : "waiting"}`
    return { tool: "get_status", result: () => text }
  }
  if (planted.includes(14) && rng.chance(0.35)) {
    const value = records(rng, rng.int(8, 20))
    const [pretty, compact] = [JSON.stringify(value, null, 2), JSON.stringify(value)]
    return { tool: "read_records", result: (on) => (on.has(14) ? pretty : compact) }
  }
  if (traps.includes("mixed_json") && rng.chance(0.15)) {
    const text = JSON.stringify(records(rng, 6), null, 2)
    return { tool: "read_file", result: () => text }
  }
  const name = rng.chance(0.4) ? "read_file" : rng.pick(toolNames.agent.slice(1))
  if (planted.includes(12) && results.size > 0 && rng.chance(0.35)) {
    const text = rng.pick([...results.values()])
    return { tool: "read_file", result: (on) => (on.has(12) ? text : "Unchanged since it was last read.") }
  }
  const text = rng.chance(0.5) ? code(rng, rng.int(80, 160)) : prose(rng, rng.int(60, 400))
  if (name === "read_file" && text.length > 2_000) results.set(`${turn}`, text)
  return { tool: name, result: () => text }
}

/** @param {Plan} plan @returns {Generated} */
const application = (plan) => {
  const { app } = plan
  const all = new Set(app.planted)
  const { calls, charged } = billed(plan, all)
  /** @type {Record<string, number>} */
  const alone = {}
  for (const cause of app.planted) {
    const without = new Set(all)
    without.delete(cause)
    alone[cause] = charged - billed(plan, without).charged
  }
  const jointMicroUsd = charged - billed(plan, new Set()).charged
  // nobody has planted it, and yet marks that are written and not read in time are waste
  if (plan.route.family === "anthropic" && !app.planted.some((cause) => cachedOnly.has(cause))) {
    const saved = charged - billed(plan, all, false).charged
    if (saved > 0) alone[4] = saved
  }
  return { app, calls, truth: { chargedMicroUsd: charged, jointMicroUsd, alone } }
}

/** @param {Plan} plan @param {ReadonlySet<number>} on @param {boolean} [mayMark] */
const billed = (plan, on, mayMark = true) => {
  const calls = plan.conversations
    .flatMap((conversation, index) => callsOf(plan, conversation, index, on))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    .map((call) => (mayMark ? call : { ...call, marks: [] }))
  const counts = bill(calls.map(billable))
  let charged = 0
  const captured = calls.map((call, index) => {
    const usage = counts[index]
    if (usage === undefined) throw new Error("a call was not billed")
    const amount = amountOf(call.route.rates, usage, call.ttl === "1h")
    charged += amount
    return capturedCall(plan, call, usage, amount)
  })
  return { calls: captured, charged }
}

/** @param {Plan} plan @param {Conversation} conversation @param {number} index @param {ReadonlySet<number>} on @returns {Array<Call>} */
const callsOf = ({ app, other, route, seed, tools }, conversation, index, on) => {
  const { planted, traps } = app
  /** @type {Array<Call>} */
  const calls = []
  /** @type {Array<Message>} */
  const history = []
  let at = conversation.startsAt
  const explicit = route.family === "anthropic"
  const offered =
    on.has(16) || !planted.includes(16) ? tools : tools.filter((item) => !nameOf(item).startsWith("connector_"))
  for (const [turn, step] of conversation.steps.entries()) {
    const rng = random(seed, app.id, "call", index, turn)
    at += step.gapMillis
    const [switches, evicts, cancels, fails, stops, truncates, breaks, repeats] = Array.from({ length: 8 }, () =>
      rng.next()
    )
    if (step.user !== null) history.push({ role: "user", content: step.user(on, turn) })
    const system = planted.includes(1)
      ? `${conversation.system.slice(0, 900)}\nIt is ${clock(at, on.has(1))}.\n${conversation.system.slice(900)}`
      : conversation.system
    /** @type {ReadonlyArray<Message>} */
    const messages = [{ role: "system", content: system }, ...history]
    const shown = on.has(2) ? random(seed, app.id, "order", index, turn).shuffled(offered) : offered
    const moved = on.has(7) && (switches ?? 1) < 0.4 && other !== undefined
    const pinned = traps.includes("pinned") && index % 4 === 3
    const answer = answerOf(step, turn)
    const last = shown.length + messages.length - 1
    const marked = explicit && !(planted.includes(3) && on.has(3)) && !(planted.includes(4) && !on.has(4))
    /** @type {Call} */
    const call = {
      id: uuid(seed, app.id, index, turn),
      conversation,
      at,
      route: (moved || pinned) && other !== undefined ? other : route,
      isPinned: pinned,
      failedFirst: undefined,
      tools: shown,
      messages,
      marks: !marked ? [] : planted.includes(4) ? [last] : [shown.length, last],
      ttl: planted.includes(5) && !on.has(5) ? "1h" : "5m",
      answer,
      finish: step.use === null ? "stop" : "tool_calls",
      maxOutputTokens: undefined,
      temperature: app.kind === "extraction" ? 0 : undefined,
      wantsJson: app.kind === "extraction",
      evicted: on.has(6) && (evicts ?? 1) < 0.25 && turn > 0
    }
    // what is planted decides what happens at a turn: without a cause the turn is a plain call, and no other cause takes its place
    if (traps.includes("failover") && other !== undefined && (fails ?? 1) < 0.04) {
      calls.push({ ...call, route: other, failedFirst: route })
    } else if (planted.includes(9) && (cancels ?? 1) < 0.15) {
      if (on.has(9)) {
        calls.push({ ...call, ...cancelled(call) })
        at += 12_000
      }
      calls.push({ ...call, at })
    } else if (traps.includes("user_stop") && turn === conversation.steps.length - 1 && (stops ?? 1) < 0.3) {
      calls.push({ ...call, ...cancelled(call) })
    } else if (planted.includes(10) && (truncates ?? 1) < 0.2) {
      if (on.has(10)) {
        calls.push({ ...call, ...truncated(call) })
        at += 20_000
      }
      calls.push({ ...call, at, maxOutputTokens: 4_000 })
    } else if (traps.includes("length_once") && (truncates ?? 1) < 0.08) {
      calls.push({ ...call, ...truncated(call) })
    } else if (planted.includes(11) && (breaks ?? 1) < 0.25) {
      if (on.has(11)) calls.push(...reasked(call, "That was invalid JSON: answer again with valid JSON only.", true))
      else calls.push({ ...call })
    } else if (traps.includes("clarification") && (breaks ?? 1) < 0.1) {
      calls.push(...reasked(call, "Thank you. Please do the same and leave out closed records.", false))
    } else {
      calls.push(call)
    }
    const plain = (repeats ?? 1) < 0.2 && calls.at(-1) === call
    if (on.has(8) && plain)
      calls.push({ ...call, id: uuid(call.id, "again"), at: at + rng.int(1, 4) * minute, temperature: 0 })
    if (planted.includes(8) && plain) {
      const first = calls.findLast(({ id }) => id === call.id)
      if (first !== undefined) calls[calls.indexOf(first)] = { ...first, temperature: 0 }
    }
    if (traps.includes("sampling") && plain) {
      const again = { role: /** @type {const} */ ("assistant"), content: prose(rng, 60) }
      calls.push({
        ...call,
        id: uuid(call.id, "again"),
        at: at + 2_000,
        temperature: 1,
        answer: again
      })
      const first = calls.findLast(({ id }) => id === call.id)
      if (first !== undefined) calls[calls.indexOf(first)] = { ...first, temperature: 1 }
    }
    history.push(answer)
    if (step.use !== null) {
      history.push({ role: "tool", tool_call_id: `call_${turn}`, content: step.use.result(on) })
    }
  }
  return calls
}

/** Cancelled after a part of the response. @param {Call} call @returns {Partial<Call> & Pick<Call, "answer" | "finish" | "id">} */
const cancelled = ({ answer, id }) => ({
  id: uuid(id, "cancelled"),
  answer: { role: "assistant", content: textOf(answer).slice(0, 60) },
  finish: null
})

/** @param {Call} call @returns {Partial<Call> & Pick<Call, "answer" | "finish" | "id">} */
const truncated = ({ answer, id }) => ({
  id: uuid(id, "truncated"),
  answer: { role: "assistant", content: textOf(answer).slice(0, Math.ceil(textOf(answer).length * 0.7)) },
  finish: "length",
  maxOutputTokens: 100
})

/** @param {Call} call @param {string} text @param {boolean} isBroken @returns {ReadonlyArray<Call>} */
const reasked = (call, text, isBroken) => {
  const content = isBroken ? `${textOf(call.answer).slice(0, -12)},,` : textOf(call.answer)
  /** @type {AssistantMessage} */
  const answer = { role: "assistant", content }
  return [
    { ...call, answer },
    {
      ...call,
      id: uuid(call.id, "asked again"),
      at: call.at + 15_000,
      messages: [...call.messages, answer, { role: "user", content: text }],
      marks: call.marks.length === 0 ? [] : [call.tools.length, call.tools.length + call.messages.length + 1]
    }
  ]
}

/** @param {Step} step @param {number} turn @returns {AssistantMessage} */
const answerOf = ({ answer, use }, turn) =>
  use === null
    ? { role: "assistant", content: answer }
    : {
        role: "assistant",
        content: answer,
        tool_calls: [
          {
            id: `call_${turn}`,
            type: "function",
            function: { name: use.tool, arguments: JSON.stringify({ path: `src/${use.tool}/${turn}` }) }
          }
        ]
      }

/** @param {number} at @param {boolean} toTheSecond */
const clock = (at, toTheSecond) => {
  const text = new Date(at).toISOString()
  return toTheSecond ? text.slice(0, 19) : `${text.slice(0, 8)}01`
}

/** @param {AssistantMessage} message */
const textOf = ({ content }) => (typeof content === "string" ? content : "")

/** @param {Tool} item */
const nameOf = (item) => (item.type === "function" ? item.function.name : item.custom.name)

/** @param {Call} call @returns {Billable} */
const billable = (call) => ({
  at: call.at,
  blocks: [...call.tools, ...call.messages].map((block, index) => ({
    text: jsonOf(block),
    mark: call.marks.includes(index) ? call.ttl : null
  })),
  output: JSON.stringify(call.answer),
  reasoningTokens: 0,
  route: call.route,
  cancelled: call.finish === null,
  evicted: call.evicted,
  luck: random(call.id, "luck").next()
})

/** @type {WeakMap<object, string>} */
const texts = new WeakMap()

/** Written once: the calls of a conversation share their blocks. @param {Tool | Message} block */
const jsonOf = (block) => {
  const text = texts.get(block) ?? JSON.stringify(block)
  texts.set(block, text)
  return text
}

/** @param {Plan} plan @param {Call} call @param {import("./providers.mjs").Counts} counts @param {number} amount @returns {CapturedCall} */
const capturedCall = ({ app, route, seed }, call, counts, amount) => {
  const isCancelled = call.finish === null
  const usage = {
    ...counts,
    details: { inputAudioTokens: 0, outputAudioTokens: 0, acceptedPredictionTokens: 0, rejectedPredictionTokens: 0 }
  }
  const cost = {
    amount_microusd: amount,
    currency: /** @type {const} */ ("USD"),
    basis: /** @type {const} */ ("charged")
  }
  /** @type {CapturedCall["status"]} */
  const status = isCancelled ? "cancelled" : "success"
  const error = isCancelled ? { code: "client_disconnected", message: null } : null
  const latencyMillis = 800 + 12 * counts.outputTokens
  const attempt = {
    provider: call.route.provider,
    model: call.route.model,
    status,
    error,
    cost,
    usage,
    startedAt: call.at,
    latencyMillis
  }
  const { failedFirst } = call
  const before =
    failedFirst === undefined
      ? []
      : [
          {
            ...attempt,
            provider: failedFirst.provider,
            model: failedFirst.model,
            status: /** @type {const} */ ("error"),
            error: { code: "provider_overloaded", message: null },
            cost: { ...cost, amount_microusd: 0 },
            usage: null
          }
        ]
  const prompt = [...call.tools, ...call.messages].map((value, index) => blockOf(value, call, index))
  const { rates } = call.route
  return {
    requestId: /** @type {CapturedCall["requestId"]} */ (call.id),
    projectId: /** @type {CapturedCall["projectId"]} */ (uuid(seed, app.id, "project")),
    capturedAt: call.at,
    window: { configVersion: 1, samplingRate: 1, inclusion: 1 },
    keyId: /** @type {CapturedCall["keyId"]} */ (uuid(seed, app.id, "key")),
    endUser: null,
    conversation: createHash("sha256").update(call.conversation.key).digest("hex").slice(0, 32),
    class: {
      agent: /** @type {const} */ ("code"),
      chat: /** @type {const} */ ("chat"),
      extraction: /** @type {const} */ ("extraction"),
      dialogue: /** @type {const} */ ("tool_use")
    }[app.kind],
    endpoint: "chat",
    status,
    error,
    request: {
      messages: call.messages,
      tools: call.tools,
      blocks: prompt,
      params: {
        stream: app.kind !== "extraction",
        ...(call.maxOutputTokens === undefined ? {} : { maxOutputTokens: call.maxOutputTokens }),
        ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
        ...(call.wantsJson ? { responseFormat: { type: "json_object" } } : {})
      },
      toolsOffered: call.tools.map(nameOf),
      toolsCalled: (call.answer.tool_calls ?? []).map((made) =>
        made.type === "function" ? made.function.name : made.custom.name
      ),
      media: []
    },
    candidatePool: { models: [call.route.model, ...(call.route === route ? [] : [route.model])] },
    decision: {
      requestedModel: call.isPinned ? call.route.model : "auto",
      reason: call.isPinned
        ? "pinned_model"
        : failedFirst === undefined
          ? "quality_cost_tradeoff"
          : "fallback_after_error",
      alpha: call.isPinned ? null : 0.65,
      routingConfig: null,
      policyVersion: 1
    },
    attempts: [...before, attempt],
    response: { message: call.answer, block: blockOf(call.answer, undefined, -1), finish: call.finish },
    usage,
    cost,
    prices: {
      input: rates.input,
      output: rates.output,
      ...(rates.cacheRead === null ? {} : { cacheRead: rates.cacheRead }),
      ...(rates.cacheWrite === null ? {} : { cacheWrite: rates.cacheWrite })
    },
    latencyMillis,
    firstContentMillis: isCancelled ? null : 700,
    truncated: false,
    flowAuthorized: true,
    expiresAt: call.at + 30 * 86_400_000
  }
}

/** @type {WeakMap<object, Omit<CapturedBlock, "cacheMark">>} */
const known = new WeakMap()

/** @param {Tool | Message} value @param {Call | undefined} call @param {number} index @returns {CapturedBlock} */
const blockOf = (value, call, index) => {
  const block = known.get(value) ?? describe(value, call)
  known.set(value, block)
  return { ...block, cacheMark: call?.marks.includes(index) === true ? call.ttl : null }
}

/** @param {Tool | Message} value @param {Call | undefined} call @returns {Omit<CapturedBlock, "cacheMark">} */
const describe = (value, call) => {
  const text = jsonOf(value)
  const content = "role" in value && typeof value.content === "string" ? value.content : ""
  return {
    id: digest(text),
    canonicalId: digest(canonical(value)),
    kind: "role" in value ? kindOf(value) : "tool",
    bytes: Buffer.byteLength(text),
    tool: "role" in value ? toolOf(value, call) : nameOf(value),
    looks: looksOf(content)
  }
}

/** @param {Message} message @returns {CapturedBlock["kind"]} */
const kindOf = ({ role }) => (role === "developer" ? "system" : role === "tool" ? "tool_result" : role)

/** @param {Message} message @param {Call | undefined} call */
const toolOf = (message, call) => {
  if (message.role !== "tool" || call === undefined) return null
  const made = call.messages
    .flatMap((earlier) => (earlier.role === "assistant" ? (earlier.tool_calls ?? []) : []))
    .find(({ id }) => id === message.tool_call_id)
  return made?.type === "function" ? made.function.name : null
}

/** @param {string} content @returns {CapturedBlock["looks"]} */
const looksOf = (content) => {
  /** @type {Array<CapturedBlock["looks"][number]>} */
  const looks = []
  if (/^\s*[[{]/.test(content)) {
    try {
      JSON.parse(content)
      looks.push("json", ...(/\n\s+"/.test(content) ? [/** @type {const} */ ("json_pretty")] : []))
    } catch {
      // text that begins like JSON
    }
  }
  if (/[A-Za-z0-9+/]{512}/.test(content)) looks.push("base64")
  return looks
}

/** With sorted keys, and without what changes from call to call. @param {unknown} value */
const canonical = (value) =>
  JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : typeof inner === "string"
        ? inner.replace(/\d{4}-\d{2}-\d{2}(T[\d:.]+Z?)?/g, "<date>")
        : inner
  )

/** @param {string} text */
const digest = (text) => createHash("sha256").update(text).digest("hex").slice(0, 32)

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      out: { type: "string" },
      seed: { type: "string", default: "1" },
      apps: { type: "string", default: "200" }
    }
  })
  if (values.out === undefined) throw new Error("--out DIR: where to write the applications")
  mkdirSync(values.out, { recursive: true })
  for (const generated of generate(Number(values.seed), Number(values.apps))) {
    writeFileSync(join(values.out, `${generated.app.id}.json`), JSON.stringify(generated))
  }
}
