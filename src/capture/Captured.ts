import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { CapturedBlock, CapturedCall, CapturedConversation, CapturedParams } from "../domain/CapturedCall.ts"
import type { AssistantMessage, Message, Tool } from "../domain/Chat.ts"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ProjectId } from "../domain/Ids.ts"
import { nextTurn } from "../domain/NextTurn.ts"
import { Timers } from "../domain/Timers.ts"
import { CaptureKeys } from "./CaptureKeys.ts"
import type { SampleRow } from "./CaptureRecords.ts"
import { CaptureStore } from "./CaptureStore.ts"
import { firstOf } from "./Reservoir.ts"
import { sentMark } from "./SentMarks.ts"
import { decodeFacts } from "./StoredFacts.ts"
import { withoutText } from "./TextlessFacts.ts"
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
  /** The same one by one, in the order of their ids, opened as they are taken. */
  readonly each: (
    project: ProjectId,
    conversation: Pick<CapturedConversation, "configVersion" | "conversation">
  ) => Stream.Stream<CapturedCall, StoreUnavailable>
  /** One call of it; `undefined` when it cannot be read any more. */
  readonly call: (row: SampleRow) => Effect.Effect<CapturedCall | undefined, StoreUnavailable>
  /** Whether a call that was read may be sent to other models still: it was not erased meanwhile and has not expired. */
  readonly mayFlow: (project: ProjectId, id: string) => Effect.Effect<boolean, StoreUnavailable>
  /** Without any text: messages, tools, response, and what parameters and errors have of it. */
  readonly summary: (row: SampleRow) => Effect.Effect<CapturedCall | undefined, StoreUnavailable>
  /** @internal For what writes a conversation anew: all of its rows that can be read, in their order, which is that of their ids. */
  readonly expanded: (rows: ReadonlyArray<SampleRow>) => Stream.Stream<ExpandedSample, StoreUnavailable>
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

  /** Each in its own turn of the event loop, because a conversation may have hundreds with up to 1 MiB each. */
  const expanded: CapturedShape["expanded"] = (rows) =>
    Stream.suspend(() => {
      const days = new Map<string, DayKeys | undefined>()
      const packs = new Map<string, ReadonlyArray<Stored>>()
      const bases = new Map<string, Expanded>()
      const lastUses = new Map(rows.map(({ base, id }) => [base, id]))
      const one = (row: SampleRow): Effect.Effect<ExpandedSample | undefined, StoreUnavailable> =>
        Effect.gen(function* () {
          yield* nextTurn
          const { day, id, projectId } = row
          if (!days.has(day)) {
            const key = yield* keys.existing(projectId, day)
            days.set(day, key && keysOf(key))
          }
          const dayKeys = days.get(day)
          const opened = dayKeys && openSample(dayKeys.seal, projectId, id, row.sealed)
          if (dayKeys === undefined || opened === undefined) return undefined
          const { b: base, s: shared } = opened.header
          const missing = shared.filter((pack) => !packs.has(pack))
          for (const { id: pack, sealed } of yield* store.shared(projectId, day, missing)) {
            const blocks = openShared(dayKeys.seal, projectId, day, pack, sealed)
            if (blocks !== undefined) packs.set(pack, blocks)
          }
          const before = base === null ? undefined : bases.get(base)
          // a base that is not there leaves out all that follow
          if (base !== null && before === undefined) return undefined
          const found = expand(opened, before, (pack) => packs.get(pack))
          if (base !== null && lastUses.get(base) === id) bases.delete(base)
          if (found !== undefined && lastUses.has(id)) bases.set(id, found)
          return found && { row, opened, expanded: found, keys: dayKeys }
        })
      return Stream.fromIterable(rows).pipe(Stream.mapEffect(one), Stream.filterMap(Option.fromNullable))
    })

  const isLive = ({ row }: ExpandedSample) => row.expiresAt.getTime() > timers.now()
  const calls = (rows: ReadonlyArray<SampleRow>) => {
    const read = reading()
    return expanded(rows).pipe(
      Stream.filter(isLive),
      Stream.filterMap((sample) => Option.fromNullable(callOf(sample, read)))
    )
  }
  const each: CapturedShape["each"] = (projectId, { configVersion, conversation }) =>
    Stream.unwrap(Effect.map(store.ofConversation({ projectId, configVersion, conversation }), calls))

  return Captured.of({
    conversations: (project, { from, max, to }) =>
      Effect.map(store.conversations(project, from, to, max + 1, dateAt(timers.now())), (rows) =>
        firstOf(rows, max).map(({ calls: count, configVersion, conversation, inclusion, position }) => ({
          conversation,
          configVersion,
          inclusion,
          position,
          calls: count
        }))
      ),
    calls: (projectId, conversation) =>
      Effect.map(Stream.runCollect(each(projectId, conversation)), (found) =>
        Array.from(found).sort((a, b) => a.capturedAt - b.capturedAt || (a.requestId < b.requestId ? -1 : 1))
      ),
    each,
    call: (row) =>
      Effect.flatMap(store.ofConversation(row), (rows) =>
        Effect.map(Stream.runLast(expanded(untilBase(rows, row.id))), (last) => {
          const found = Option.getOrUndefined(last)
          return found?.row.id === row.id && isLive(found) ? callOf(found, reading()) : undefined
        })
      ),
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
        return callOf({ row, opened, expanded: { blocks: [], response }, keys: own }, reading(), false)
      }),
    expanded
  })
})

/** The sample and those that it is expanded with, in the order of the rows. */
const untilBase = (rows: ReadonlyArray<SampleRow>, id: string): ReadonlyArray<SampleRow> => {
  const needed = new Set<string | null>([id])
  // what a sample refers to has an earlier id
  return rows
    .toReversed()
    .filter((row) => needed.has(row.id) && needed.add(row.base))
    .reverse()
}

/** Blocks that calls have in common are parsed once. */
interface Reading {
  readonly blocks: WeakMap<Stored, CapturedBlock>
  readonly values: WeakMap<Stored, unknown>
}
const reading = (): Reading => ({ blocks: new WeakMap(), values: new WeakMap() })

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
const callOf = (
  { expanded, keys, opened, row }: ExpandedSample,
  read: Reading,
  withText = true
): CapturedCall | undefined => {
  const { c: toolsCalled, f, g: media, x } = opened.header
  const decoded = decodeFacts(f)
  if (Option.isNone(decoded)) return undefined
  const isTruncated = x === 1
  const { blocks, response } = expanded
  const isFull = [...blocks, ...(response === undefined ? [] : [response])].every(({ text }) => text !== null)
  const hasText = withText && isFull && !isTruncated
  // fingerprints of earlier versions have such text in their facts
  const isWhole = withText && (isFull || isTruncated)
  const {
    finish,
    maxMark = "1h",
    params,
    toolsOffered,
    ...facts
  } = isWhole ? decoded.value : withoutText(decoded.value, keys.id)
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
