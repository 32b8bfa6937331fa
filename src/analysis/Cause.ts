import type { Edits } from "./Edits.ts"
import type { Rebill } from "./Rebill.ts"
import type { WorkCall, Workload } from "./Workload.ts"

/** How sure a saving can be: ledger amounts, a bill computed again, or a guess that only other answers can decide. */
export type Tier = "exact" | "rebilled" | "hypothesis" | "info"
export type Owner = "client" | "gateway" | "provider"

/** A kind of waste. `find` reads the workload and says what to change; it never computes money. */
export interface Cause {
  readonly id: string
  /** In the documentation. */
  readonly number: number
  readonly tier: Tier
  readonly owner: Owner
  readonly title: string
  /** When the same signs are no waste. */
  readonly falsePositiveIf: string
  /** What to do about it, for people. */
  readonly advice: string
  readonly find: (input: CauseInput) => Finding | undefined
}

export interface CauseInput {
  readonly workload: Workload
  readonly rebill: Rebill
  /** Calls of each conversation, in order of time. */
  readonly turns: ReadonlyArray<ReadonlyArray<number>>
}

export interface Finding {
  readonly edits: Edits
  /** Calls that show the cause. */
  readonly calls: ReadonlySet<number>
  /** 0 to 1. */
  readonly confidence: number
  readonly evidence: ReadonlyArray<Evidence>
  /** Figures that are no money, such as milliseconds. */
  readonly figures?: Readonly<Record<string, number>>
}

export interface Evidence {
  readonly call: number
  /** Position of the block in the prompt; `null` for the whole call. */
  readonly block: number | null
}

export const turnsOf = ({ calls, conversations }: Workload): ReadonlyArray<ReadonlyArray<number>> => {
  const turns: Array<Array<number>> = conversations.map(() => [])
  calls.forEach((call, index) => {
    turns[call.conversation]?.push(index)
  })
  return turns
}

/** Consecutive calls of conversations. */
export const pairsOf = function* ({ turns, workload }: CauseInput): Generator<CallPair> {
  for (const conversation of turns) {
    for (let turn = 1; turn < conversation.length; turn++) {
      const [before, after] = [conversation[turn - 1] ?? 0, conversation[turn] ?? 0]
      const [first, second] = [workload.calls[before], workload.calls[after]]
      if (first !== undefined && second !== undefined) yield { before, after, first, second }
    }
  }
}

/**
 * Those, and consecutive calls of one group where they are all of their conversations: each request of an extraction or a search begins
 * a conversation of its own, and reads what the one before has written all the same.
 */
export const groupPairsOf = function* (input: CauseInput, groupOf: (call: WorkCall) => string): Generator<CallPair> {
  yield* pairsOf(input)
  const last = new Map<string, number>()
  for (const [after, second] of input.workload.calls.entries()) {
    if (input.turns[second.conversation]?.length !== 1) continue
    const group = `${second.route} ${groupOf(second)}`
    const before = last.get(group)
    const first = before === undefined ? undefined : input.workload.calls[before]
    if (before !== undefined && first !== undefined) yield { before, after, first, second }
    last.set(group, after)
  }
}

export interface CallPair {
  readonly before: number
  readonly after: number
  readonly first: WorkCall
  readonly second: WorkCall
}

/** Time between the calls lies within what the provider keeps a prefix for. */
export const withinTtl = ({ first, second }: CallPair): boolean =>
  first.cache !== null && second.at - first.at <= first.cache.ttlSeconds * 1000

export const positionsOf = (call: WorkCall, kinds: ReadonlySet<string>): ReadonlyArray<number> =>
  call.blocks.flatMap(({ kind }, position) => (kinds.has(kind) ? [position] : []))

const maxEvidence = 5

/** A finding without calls is none. */
export const found = (
  edits: Edits,
  calls: ReadonlySet<number>,
  confidence: number,
  evidence: ReadonlyArray<Evidence>,
  figures?: Readonly<Record<string, number>>
): Finding | undefined =>
  calls.size === 0
    ? undefined
    : {
        edits,
        calls,
        confidence,
        evidence: evidence.slice(0, maxEvidence),
        ...(figures !== undefined && { figures })
      }
