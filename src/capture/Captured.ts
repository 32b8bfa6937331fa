import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CapturedBlock, CapturedCall, CapturedConversation, CapturedParams } from "../domain/CapturedCall.ts"
import type { AssistantMessage, Message, Tool } from "../domain/Chat.ts"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ProjectId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { CaptureKeys } from "./CaptureKeys.ts"
import type { Place, SampleRow } from "./CaptureRecords.ts"
import { CaptureStore } from "./CaptureStore.ts"
import { firstOf } from "./Reservoir.ts"
import { sentMark } from "./SentMarks.ts"
import { decodeFacts } from "./StoredFacts.ts"
import {
  type Expanded,
  expand,
  identify,
  looksFrom,
  type Opened,
  openSample,
  openShared,
  type Stored
} from "./worker/sample.js"
import { type DayKeys, keysOf } from "./worker/seal.js"

/** A sample with its blocks, as they are stored. */
export interface ExpandedSample {
  readonly row: SampleRow
  readonly opened: Opened
  readonly expanded: Expanded
  readonly keys: DayKeys
}

export interface CapturedShape {
  /**
   * At most `max` conversations of the project that have calls between the two times, in hash order: a sample of all its
   * conversations, each with the probability of being in it.
   */
  readonly conversations: (
    project: ProjectId,
    range: { readonly from: Date; readonly to: Date; readonly max: number }
  ) => Effect.Effect<ReadonlyArray<CapturedConversation>, StoreUnavailable>
  /** All captured calls of the conversation, oldest first, whole; without those that were erased or have expired. */
  readonly calls: (
    project: ProjectId,
    conversation: Pick<CapturedConversation, "configVersion" | "conversation">
  ) => Effect.Effect<ReadonlyArray<CapturedCall>, StoreUnavailable>
  /** One call of it; `undefined` when it cannot be read any more. */
  readonly call: (row: SampleRow) => Effect.Effect<CapturedCall | undefined, StoreUnavailable>
  /** Whether a call that was read may be sent to other models still: it was not erased meanwhile and has not expired. */
  readonly mayFlow: (project: ProjectId, id: string) => Effect.Effect<boolean, StoreUnavailable>
  /** Without messages, tools and the response's text. */
  readonly summary: (row: SampleRow) => Effect.Effect<CapturedCall | undefined, StoreUnavailable>
  /** @internal For what writes a conversation anew. */
  readonly expanded: (place: Place) => Effect.Effect<ReadonlyArray<ExpandedSample>, StoreUnavailable>
}

/** Reads captured calls. */
export class Captured extends Context.Tag("gateway/capture/Captured")<Captured, CapturedShape>() {
  static readonly layer: Layer.Layer<Captured, never, CaptureKeys | CaptureStore | Timers> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* CaptureStore
  const keys = yield* CaptureKeys
  const timers = yield* Timers

  const keysByDay = (project: ProjectId, rows: ReadonlyArray<SampleRow>) =>
    Effect.map(
      Effect.forEach(new Set(rows.map(({ day }) => day)), (day) =>
        Effect.map(keys.existing(project, day), (key) => [day, key && keysOf(key)] as const)
      ),
      (found) => new Map(found)
    )

  const expanded: CapturedShape["expanded"] = (place) =>
    Effect.gen(function* () {
      const rows = yield* store.ofConversation(place)
      const days = yield* keysByDay(place.projectId, rows)
      const samples = new Map<string, { readonly row: SampleRow; readonly opened: Opened; readonly keys: DayKeys }>()
      for (const row of rows) {
        const dayKeys = days.get(row.day)
        const opened = dayKeys && openSample(dayKeys.seal, place.projectId, row.id, row.sealed)
        if (dayKeys !== undefined && opened !== undefined) samples.set(row.id, { row, opened, keys: dayKeys })
      }
      const packs = new Map<string, ReadonlyArray<Stored>>()
      for (const [day, dayKeys] of days) {
        if (dayKeys === undefined) continue
        const used = new Set(
          [...samples.values()].flatMap(({ opened, row }) => (row.day === day ? opened.header.s : []))
        )
        for (const { id, sealed } of yield* store.shared(place.projectId, day, [...used])) {
          const pack = openShared(dayKeys.seal, place.projectId, day, id, sealed)
          if (pack !== undefined) packs.set(id, pack)
        }
      }
      return [...samples.values()].flatMap((sample) => {
        const found = expandedOf(sample.row.id, samples, packs, new Map())
        return found === undefined ? [] : [{ ...sample, expanded: found }]
      })
    })

  const live = (samples: ReadonlyArray<ExpandedSample>) => {
    const now = timers.now()
    return samples.filter(({ row }) => row.expiresAt.getTime() > now)
  }

  return Captured.of({
    conversations: (project, { from, max, to }) =>
      Effect.map(store.conversations(project, from, to, max + 1, dateAt(timers.now())), (rows) =>
        firstOf(rows, max).map(({ calls, configVersion, conversation, inclusion, position }) => ({
          conversation,
          configVersion,
          inclusion,
          position,
          calls
        }))
      ),
    calls: (projectId, { configVersion, conversation }) =>
      Effect.map(expanded({ projectId, configVersion, conversation }), (samples) => {
        const read = reading()
        return live(samples)
          .flatMap((sample) => callOf(sample, read) ?? [])
          .sort((a, b) => a.capturedAt - b.capturedAt || (a.requestId < b.requestId ? -1 : 1))
      }),
    call: (row) =>
      Effect.map(expanded(row), (samples) => {
        const found = live(samples).find((sample) => sample.row.id === row.id)
        return found && callOf(found, reading())
      }),
    mayFlow: (project, id) =>
      Effect.map(
        store.sample(id, dateAt(timers.now())),
        (row) => row !== undefined && row.projectId === project && row.flowAuthorized
      ),
    summary: (row) =>
      Effect.map(keys.existing(row.projectId, row.day), (dayKey) => {
        if (dayKey === undefined) return undefined
        const own = keysOf(dayKey)
        const opened = openSample(own.seal, row.projectId, row.id, row.sealed)
        if (opened === undefined) return undefined
        const response = opened.header.r === 1 ? opened.own.at(-1) : undefined
        const call = callOf({ row, opened, expanded: { blocks: [], response }, keys: own }, reading())
        return call && withoutText(call)
      }),
    expanded
  })
})

/** With what its base says, and that with what its own says; a base that is not there leaves out all that follow. */
const expandedOf = (
  id: string,
  samples: ReadonlyMap<string, { readonly row: SampleRow; readonly opened: Opened }>,
  packs: ReadonlyMap<string, ReadonlyArray<Stored>>,
  known: Map<string, Expanded | undefined>
): Expanded | undefined => {
  const path: Array<string> = []
  for (let at: string | null = id; at !== null && !known.has(at); at = samples.get(at)?.opened.header.b ?? null) {
    path.push(at)
  }
  for (const one of path.reverse()) {
    const opened = samples.get(one)?.opened
    const base = opened?.header.b ?? null
    const isWhole = opened !== undefined && (base === null || known.get(base) !== undefined)
    known.set(
      one,
      isWhole ? expand(opened, base === null ? undefined : known.get(base), (pack) => packs.get(pack)) : undefined
    )
  }
  return known.get(id)
}

/** Blocks that calls have in common are parsed once. */
interface Reading {
  readonly blocks: Map<Stored, CapturedBlock>
  readonly values: Map<Stored, unknown>
}
const reading = (): Reading => ({ blocks: new Map(), values: new Map() })

const blockOf = (block: Stored, { id: key }: DayKeys, isTruncated: boolean, { blocks }: Reading): CapturedBlock => {
  const known = blocks.get(block)
  if (known !== undefined) return known
  const { bytes, kind, looks, mark, tool } = block
  const ids = isTruncated ? { id: "", canonicalId: "" } : identify(block, key)
  const made: CapturedBlock = { ...ids, kind, bytes, tool, looks: looksFrom(looks), cacheMark: mark }
  blocks.set(block, made)
  return made
}

/** As the provider had it: a mark that it was not sent caches nothing. */
const sentBlock = (block: CapturedBlock, longest: CapturedBlock["cacheMark"]): CapturedBlock => {
  const cacheMark = sentMark(block.cacheMark, longest)
  return cacheMark === block.cacheMark ? block : { ...block, cacheMark }
}

const sentParams = (
  { cacheMark: asked, ...params }: CapturedParams,
  longest: CapturedBlock["cacheMark"]
): CapturedParams => {
  const cacheMark = sentMark(asked ?? null, longest)
  return cacheMark === null ? params : { ...params, cacheMark }
}

const parsedOf = (block: Stored, { values }: Reading): unknown => {
  const known = values.get(block)
  if (known !== undefined) return known
  const value: unknown = JSON.parse(block.text ?? "null")
  values.set(block, value)
  return value
}

/** `undefined` where its facts cannot be read. Blocks are the gateway's own, in the shape that it wrote. */
const callOf = ({ expanded, keys, opened, row }: ExpandedSample, read: Reading): CapturedCall | undefined => {
  const { c: toolsCalled, f, g: media, x } = opened.header
  const decoded = decodeFacts(f)
  if (Option.isNone(decoded)) return undefined
  const { finish, maxMark = "1h", params, toolsOffered, ...facts } = decoded.value
  const isTruncated = x === 1
  const { blocks, response } = expanded
  const hasText =
    !isTruncated && [...blocks, ...(response === undefined ? [] : [response])].every(({ text }) => text !== null)
  const valuesOf = (isTool: boolean) =>
    blocks.filter(({ kind }) => (kind === "tool") === isTool).map((block) => parsedOf(block, read))
  return {
    ...facts,
    requestId: row.id,
    projectId: row.projectId,
    capturedAt: row.capturedAt.getTime(),
    window: { configVersion: row.configVersion, samplingRate: row.samplingRate, inclusion: row.inclusion },
    keyId: row.keyId,
    endUser: row.endUser,
    conversation: row.conversation,
    request: {
      messages: hasText ? (valuesOf(false) as ReadonlyArray<Message>) : null,
      tools: hasText ? (valuesOf(true) as ReadonlyArray<Tool>) : null,
      blocks: blocks.map((block) => sentBlock(blockOf(block, keys, isTruncated, read), maxMark)),
      params: sentParams(params, maxMark),
      toolsOffered,
      toolsCalled,
      media
    },
    response:
      response === undefined
        ? null
        : {
            message: hasText ? (parsedOf(response, read) as AssistantMessage) : null,
            block: blockOf(response, keys, isTruncated, read),
            finish
          },
    truncated: isTruncated,
    flowAuthorized: row.flowAuthorized,
    expiresAt: row.expiresAt.getTime()
  }
}

const withoutText = (call: CapturedCall): CapturedCall => ({
  ...call,
  request: { ...call.request, messages: null, tools: null },
  response: call.response === null ? null : { ...call.response, message: null }
})
