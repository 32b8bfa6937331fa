import type { ChatRequest } from "../../src/domain/Chat.ts"
import type { Model } from "../../src/domain/Model.ts"
import { type Usage, usage } from "../../src/domain/Usage.ts"
import type { Provider, ProviderCall } from "../../src/provider/Provider.ts"
import {
  end,
  fail,
  finish,
  hang,
  type Script,
  ScriptPlayer,
  type ScriptStep,
  text,
  used,
  wait
} from "../../src/provider/simulated/Script.ts"
import { testModel } from "../../src/testing/doubles/TestModel.ts"
import type { Dice } from "./Dice.ts"
import type { NodeScheduler } from "./NodeScheduler.ts"

/** What a simulated provider did with one attempt. */
export interface SimulatedAttempt {
  readonly call: ProviderCall
  /** Of the complete response, whatever of it was sent. */
  readonly usage: Usage
  /** Its cost at the model's prices. */
  readonly fullCostMicroUsd: number
  readonly endsWell: boolean
  readonly isOpen: () => boolean
}

const rates = { cacheRead: null, cacheWrite: null, tiers: [] }

/** Two providers with a cheap and a dear model each. */
export const models: ReadonlyArray<Model> = [
  testModel("one/cheap", { quality: 0.5, prices: { ...rates, input: 150_000, output: 600_000 } }),
  testModel("one/dear", { quality: 0.9, prices: { ...rates, input: 5_000_000, output: 25_000_000 } }),
  testModel("two/cheap", { quality: 0.6, prices: { ...rates, input: 400_000, output: 1_600_000 } }),
  testModel("two/dear", { quality: 0.8, prices: { ...rates, input: 3_000_000, output: 15_000_000 } })
]

export const providerIds = ["one", "two"] as const

const wordsPerPiece = 60

export const makeProvider = (
  id: (typeof providerIds)[number],
  node: NodeScheduler,
  dice: Dice,
  wordsOf: (call: ProviderCall) => number,
  opened: (attempt: SimulatedAttempt) => void
): Provider => ({
  id,
  open: (call, receiver) => {
    const counted = usageOf(call.request, Math.min(call.maxOutputTokens, wordsOf(call)))
    const { endsWell, script } = scriptOf(dice, counted, call.maxOutputTokens)
    const player = new ScriptPlayer(id, node.timers, script, receiver)
    opened({
      call,
      usage: counted,
      fullCostMicroUsd: exactCost(call.model, counted),
      endsWell,
      isOpen: () => player.state === "open"
    })
    return player
  }
})

/** One token in four characters of the prompt, so never more than the bound that the hold covers. */
export const usageOf = (request: ChatRequest, words: number): Usage =>
  usage({ inputTokens: Math.ceil(JSON.stringify(request.messages).length / 4), outputTokens: words })

/** Counted apart from the gateway, in whole numbers: micro-USD, rounded up once. */
export const exactCost = ({ prices }: Model, { inputTokens, outputTokens }: Usage): number => {
  if (prices === null) return 0
  const millionths = BigInt(inputTokens) * BigInt(prices.input) + BigInt(outputTokens) * BigInt(prices.output)
  return Number((millionths + 999_999n) / 1_000_000n)
}

const scriptOf = (dice: Dice, counted: Usage, cap: number): { readonly endsWell: boolean; readonly script: Script } => {
  const first = wait(dice.between(50, 2_000))
  const pieces = piecesOf(dice, counted.outputTokens)
  const cut = pieces.slice(0, dice.between(0, pieces.length))
  const kind = dice.next()
  if (kind < 0.86) {
    const reason = counted.outputTokens === cap ? "length" : "stop"
    return { endsWell: true, script: [first, ...pieces, finish(reason), used(counted), end] }
  }
  const script = ((): Script => {
    if (kind < 0.89) return [first, fail({ _tag: "ServerError", status: 500 })]
    if (kind < 0.91) return [first, fail({ _tag: "RateLimited", retryAfterMillis: dice.between(0, 2_000) })]
    if (kind < 0.93) return [fail({ _tag: "Unreachable", detail: "refused" })]
    if (kind < 0.97) return [first, ...cut]
    if (kind < 0.98) return [first, ...cut, fail({ _tag: "BadResponse", detail: "not an event" })]
    return [first, ...cut, hang]
  })()
  return { endsWell: false, script }
}

/** The answer in pieces of a few words, some time apart. */
const piecesOf = (dice: Dice, words: number): ReadonlyArray<ScriptStep> => {
  const gapMillis = dice.between(20, 1_500)
  const pieces: Array<ScriptStep> = []
  for (let left = words; left > 0; left -= wordsPerPiece) {
    if (pieces.length > 0) pieces.push(wait(gapMillis))
    pieces.push(text("word ".repeat(Math.min(left, wordsPerPiece))))
  }
  return pieces
}
