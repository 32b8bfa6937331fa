import { appendFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as GatewayCalls from "../../../src/analysis/evidence/GatewayCalls.ts"
import { Judge } from "../../../src/analysis/evidence/Judge.ts"
import { answer, type ReplaySample } from "../../../src/analysis/evidence/Replay.ts"
import { ReplayItems } from "../../../src/analysis/evidence/ReplayItemStore.ts"
import type { Verdict } from "../../../src/analysis/evidence/Verdict.ts"
import { AccountId, ProjectId } from "../../../src/domain/Ids.ts"
import {
  Accounts,
  CurrentUser,
  finishEvent,
  Ledger,
  makeModel,
  makeProvider,
  ProductionLayer,
  Projects,
  textEvent,
  usageEvent
} from "../../../src/index.ts"

/** Whose money the replays spend. */
export interface Payer {
  readonly projectId: string
  readonly accountId: string
}

/** What one process replays. */
export interface Run extends Payer {
  readonly url: string
  readonly analysisId: string
  readonly maxSpendMicroUsd: number
  readonly parallel: number
  /** Each request that reaches a provider is a line of this file, written before it is answered. */
  readonly log: string
}

const modelNames = ["incumbent", "candidate", "judge"]
const models = modelNames.map((name) =>
  makeModel({
    id: `mine/${name}`,
    prices: { input: 1_000_000, output: 2_000_000 },
    contextTokens: 32_000,
    outputTokens: 1_024
  })
)
const answerMillis = 25

const provider = (log: string) =>
  makeProvider("mine", ({ model, request }) => {
    const text = request.messages.map(({ content }) => String(content)).join("\n")
    appendFileSync(log, `${JSON.stringify([model.id, text])}\n`)
    const at = Number(/Question (\d+)/.exec(text)?.[1])
    // on every third prompt the answers differ, so that the judge is asked
    const said =
      model.id === "mine/judge" ? judged(text, at) : `${at % 3 === 0 ? model.id : "Agreed"}: the sum is ${at}.`
    return Stream.concat(
      Stream.drain(Stream.fromEffect(Effect.sleep(answerMillis))),
      Stream.make(textEvent(said), finishEvent(), usageEvent({ inputTokens: 60, outputTokens: 200 }))
    )
  })

/** Prefers the answer that has the sum, so that planted degradations are found. */
const judged = (text: string, at: number): string => {
  const right = [...text.matchAll(/<answer label="(.)">\n(.*)\n/g)].filter(([, , said]) =>
    said?.includes(`the sum is ${at}.`)
  )
  return `VERDICT: ${right.length === 1 ? right[0]?.[1] : "TIE"}`
}

const stack = (url: string, log: string) =>
  ProductionLayer({
    database: { url: Redacted.make(url) },
    providers: { providers: [{ provider: provider(log), models }] }
  })

/** An account with a project, in a new database. */
export const setUp = (url: string): Promise<Payer> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 1_000_000_000 })
      const project = yield* Effect.provideService((yield* Projects).create("search"), CurrentUser, user)
      return { projectId: project.id, accountId: user.accountId }
    }).pipe(Effect.provide(stack(url, "")))
  )

const samples: ReadonlyArray<ReplaySample> = Array.from({ length: 20_000 }, (_, at) => ({
  id: `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`,
  request: {
    messages: [{ role: "user", content: `Question ${at}: what is the sum?` }],
    tools: []
  },
  answer: { role: "assistant", content: `Agreed: the sum is ${at}.` }
}))

/** Replays until the cap, a verdict or the end of the process; with a margin so small that only the cap ends it. */
export const replay = ({
  accountId,
  analysisId,
  log,
  maxSpendMicroUsd,
  parallel,
  projectId,
  url
}: Run): Promise<Verdict> => {
  const caller = {
    projectId: ProjectId.make(projectId),
    accountId: AccountId.make(accountId),
    billingMode: "managed" as const
  }
  const cap = { analysisId, maxSpendMicroUsd, caller, rateLimit: null }
  const calls = GatewayCalls.layer(cap, () => Effect.succeed(true))
  const question = {
    analysisId,
    id: "math:mine/incumbent:mine/candidate",
    promptClass: "math" as const,
    incumbent: "mine/incumbent",
    candidate: "mine/candidate",
    samples,
    terms: { margin: 0.001, opened: 1 }
  }
  return Effect.runPromise(
    Effect.gen(function* () {
      yield* Effect.sync(() => process.stdout.write("running\n"))
      const verdict = yield* answer(question, { parallel })
      yield* (yield* Ledger).flushed
      return verdict
    }).pipe(
      Effect.provide(Layer.provideMerge(Layer.merge(Judge.layerOf("mine/judge"), ReplayItems.layer), calls)),
      Effect.provide(stack(url, log))
    )
  )
}
