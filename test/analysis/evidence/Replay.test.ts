import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ProjectAnalysesStore } from "../../../src/account/projects/ProjectAnalysesStore.ts"
import { Judge } from "../../../src/analysis/evidence/Judge.ts"
import { CapReached, ModelCalls, ModelFailed, type Question } from "../../../src/analysis/evidence/ModelCalls.ts"
import { answer, type ReplayQuestion, type ReplaySample } from "../../../src/analysis/evidence/Replay.ts"
import { ReplayItems } from "../../../src/analysis/evidence/ReplayItemStore.ts"
import { plantsPerClass } from "../../../src/analysis/evidence/Verdict.ts"
import type { StoreUnavailable } from "../../../src/domain/GatewayError.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import { AccountSql } from "../../../src/sql/AccountDatabase.ts"
import { databases } from "../../ledger/databases.ts"

const samples: ReadonlyArray<ReplaySample> = Array.from({ length: 120 }, (_, at) => ({
  id: randomUUID(),
  request: {
    messages: [{ role: "user", content: `Question ${at}: what is the sum?` }],
    tools: []
  },
  answer: { role: "assistant", content: `The sum is ${at}.` }
}))

/** Of an analysis of its own. */
const question = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [user, account, project, analysisId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  yield* sql`insert into app_user (id, name) values (${user}, 'u')`
  yield* sql`insert into account (id, user_id) values (${account}, ${user})`
  yield* sql`insert into project (id, account_id, name) values (${project}, ${account}, 'p')`
  yield* sql`insert into analysis (id, project_id, status, range_start, range_end, requested_count, seed)
    values (${analysisId}, ${project}, 'running', now() - interval '1 day', now(), 1, 1)`
  return { projectId: ProjectId.make(project), ...asking(analysisId) }
})

const asking = (analysisId: string): ReplayQuestion => ({
  analysisId,
  id: "math:sim/best:sim/small",
  promptClass: "math",
  incumbent: "sim/best",
  candidate: "sim/small",
  samples,
  terms: { margin: 0.2, opened: 1 }
})

/** What a model says to the request of a sample. */
type Says = (model: string, at: number) => string

const textIn = ({ messages }: Question): string => messages.map(({ content }) => String(content)).join("\n")

/** Every question is written down; a judge prefers the answer with the true sum. */
const world = (
  says: Says,
  asked: Array<string>,
  beforeAnswer: (model: string, at: number) => Effect.Effect<void, CapReached | ModelFailed> = () => Effect.void
) => {
  const calls = Layer.succeed(ModelCalls, {
    ask: (asking) =>
      Effect.gen(function* () {
        const text = textIn(asking)
        const at = Number(/Question (\d+)/.exec(text)?.[1])
        asked.push(`${asking.model} ${text}`)
        yield* beforeAnswer(asking.model, at)
        const content = asking.model === "sim/judge" ? judgeSays(text, at) : says(asking.model, at)
        return { message: { role: "assistant" as const, content }, costMicroUsd: 1 }
      })
  })
  return Layer.provideMerge(Judge.layerOf("sim/judge"), calls)
}

const judgeSays = (text: string, at: number): string => {
  const shown = [...text.matchAll(/<answer label="(.)">\n([\s\S]*?)\n<\/answer>/g)]
  const right = shown.filter(([, , said]) => said?.includes(`The sum is ${at}.`))
  return right.length === 1 ? `VERDICT: ${right[0]?.[1]}` : "VERDICT: TIE"
}

const outage = new ModelFailed({ code: "provider_error", isModelsFault: false })
const rejection = new ModelFailed({ code: "content_policy_violation", isModelsFault: true })

const equal: Says = (_, at) => `The sum is ${at}.`
/** As good, in other words on every fifth prompt, so that the judge is asked. */
const reworded: Says = (model, at) => (at % 5 === 0 ? `Added up by ${model}: The sum is ${at}.` : `The sum is ${at}.`)
const wrong: Says = (model, at) => (model === "sim/small" && at % 2 === 0 ? "The sum is unknown." : `The sum is ${at}.`)

const run = (asking: ReplayQuestion, says: Says, asked: Array<string> = [], parallel = 4) =>
  answer(asking, { parallel }).pipe(Effect.provide(world(says, asked)))

for (const [name, database] of databases) {
  const stores = Layer.merge(ReplayItems.layer, ProjectAnalysesStore.layer)
  layer(stores.pipe(Layer.provideMerge(database)), { timeout: 120_000 })(`replays, ${name}`, (it) => {
    it.effect("find a candidate that is wrong on half of the prompts worse, before the samples end", () =>
      Effect.gen(function* () {
        const verdict = yield* run(yield* question, wrong)
        expect(verdict).toMatchObject({ outcome: "worse", wins: 0 })
        expect(verdict.pairs).toBeLessThan(samples.length)
      })
    )

    it.effect("find a candidate that says the same in other words not worse", () =>
      Effect.gen(function* () {
        const verdict = yield* run(yield* question, reworded)
        expect(verdict).toMatchObject({ outcome: "not_worse", wins: 0, losses: 0, placeboMean: 0 })
        expect(verdict.sensitivityLow).toBeGreaterThan(0.9)
      })
    )

    it.effect("claim nothing where no answer was ever judged, since nothing is known of the judge", () =>
      Effect.gen(function* () {
        expect(yield* run(yield* question, equal)).toMatchObject({ outcome: "insufficient_data", placeboMean: null })
      })
    )

    it.effect("ask nothing of models where the judge finds too few planted degradations", () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const blind = Layer.succeed(Judge, {
          model: "sim/judge",
          compare: () => Effect.succeed({ difference: 0, unreadable: 0 })
        })
        const verdict = yield* answer(yield* question, { parallel: 4 }).pipe(
          Effect.provide(Layer.provideMerge(blind, world(equal, asked)))
        )
        expect(verdict.outcome).toBe("judge_unfit")
        expect(asked).toEqual([])
      })
    )

    it.effect("do not take a judge's silence for a planted degradation that was found", () =>
      Effect.gen(function* () {
        const silent = Layer.succeed(Judge, {
          model: "sim/judge",
          compare: () => Effect.succeed({ difference: -0.5, unreadable: 2 })
        })
        const verdict = yield* answer(yield* question, { parallel: 4 }).pipe(
          Effect.provide(Layer.provideMerge(silent, world(equal, [])))
        )
        expect(verdict.outcome).toBe("judge_unfit")
      })
    )

    it.effect("test the judge once for all questions of a class", () =>
      Effect.gen(function* () {
        const first = yield* question
        yield* run(first, reworded)
        const asked: Array<string> = []
        yield* run({ ...first, id: "math:sim/best:sim/mini", candidate: "sim/mini" }, reworded, asked)
        const plants = asked.filter((text) => text.startsWith("sim/judge") && !text.includes("Added up"))
        expect(plants).toEqual([])
      })
    )

    it.effect("read what an earlier run has written: the same verdict, and no model is asked", () =>
      Effect.gen(function* () {
        const asking = yield* question
        const verdict = yield* run(asking, reworded)
        const asked: Array<string> = []
        expect(yield* run(asking, reworded, asked)).toEqual(verdict)
        expect(asked).toEqual([])
      })
    )

    it.effect("pay for no item twice, wherever the process dies", () =>
      Effect.gen(function* () {
        const asking = yield* question
        const asked: Array<string> = []
        // it dies at the 7th call of a model, then at the 7th of the next run, and so on
        for (let crash = 0; crash < 50; crash++) {
          let left = 7
          const died = yield* Deferred.make<void>()
          const dying = Effect.suspend(() =>
            --left > 0 ? Effect.void : Effect.zipRight(Deferred.succeed(died, undefined), Effect.never)
          )
          const running = yield* Effect.fork(
            answer(asking, { parallel: 3 }).pipe(Effect.provide(world(reworded, asked, () => dying)))
          )
          yield* Effect.race(Deferred.await(died), Effect.exit(Fiber.join(running)))
          yield* Fiber.interrupt(running)
        }
        const verdict = yield* run(asking, reworded, asked)
        expect(["not_worse", "insufficient_data"]).toContain(verdict.outcome)
        expect(asked.length).toBeGreaterThan(plantsPerClass)
        // a judge is asked once in each order; the incumbent and the candidate once for each sample
        expect(new Set(asked).size).toBe(asked.length)
      })
    )

    it.effect("are taken by one of two processes that run at the same time", () =>
      Effect.gen(function* () {
        const asking = yield* question
        const asked: Array<string> = []
        yield* Effect.all([run(asking, reworded, asked), run(asking, reworded, asked)], { concurrency: 2 })
        expect(new Set(asked).size).toBe(asked.length)
      })
    )

    it.effect("stop at the spend cap, and ask nothing more", () =>
      Effect.gen(function* () {
        const asking = yield* question
        const asked: Array<string> = []
        let left = 120
        const capped = Effect.suspend(() =>
          --left >= 0 ? Effect.void : Effect.fail(new CapReached({ availableMicroUsd: 3 }))
        )
        const verdict = yield* answer(asking, { parallel: 4 }).pipe(
          Effect.provide(world(reworded, asked, () => capped))
        )
        expect(verdict).toMatchObject({ outcome: "stopped_by_cap", isFinal: true })
        expect(verdict.pairs).toBeGreaterThan(0)
        // those that ran beside the first that was refused
        expect(asked.length).toBeLessThanOrEqual(120 + 4)
      })
    )

    it.effect("leave out pairs of which a model gave no answer", () =>
      Effect.gen(function* () {
        const asking = yield* question
        let calls = 0
        const failing = Effect.suspend(() => (calls++ % 10 === 9 ? Effect.fail(outage) : Effect.void))
        const verdict = yield* answer(asking, { parallel: 1 }).pipe(Effect.provide(world(reworded, [], () => failing)))
        const items = yield* (yield* ReplayItems).list(asking.analysisId)
        expect(items.filter(({ result }) => result?.outcome === "failed").length).toBeGreaterThan(0)
        expect(verdict.losses).toBe(0)
      })
    )

    it.effect("count prompts that the candidate rejects as lost, and ask nobody else about them", () =>
      Effect.gen(function* () {
        const asking = yield* question
        const rejecting = world(reworded, [], (model, at) =>
          model === "sim/small" && at % 2 === 0 ? rejection : Effect.void
        )
        const asked: Array<string> = []
        const verdict = yield* answer(asking, { parallel: 4 }).pipe(Effect.provide(rejecting))
        expect(verdict).toMatchObject({ outcome: "worse", leftOut: 0, stopped: null })
        expect(verdict.failed).toBe(verdict.losses)
        expect(verdict.failed).toBe(verdict.pairs / 2)
        const items = yield* (yield* ReplayItems).list(asking.analysisId)
        const rejected = items.filter(({ result }) => result?.outcome === "unanswered").map(({ sample }) => sample)
        expect(rejected).toHaveLength(verdict.failed)
        expect(items.filter(({ arm, sample }) => arm === "placebo" && rejected.includes(sample))).toEqual([])
        // as an earlier run has written it
        expect(yield* run(asking, reworded, asked)).toEqual(verdict)
        expect(asked).toEqual([])
      })
    )

    it.effect("stop where the candidate cannot be reached, and say why; the incumbent is not asked", () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const away = world(reworded, asked, (model) => (model === "sim/small" ? outage : Effect.void))
        const verdict = yield* answer(yield* question, { parallel: 4 }).pipe(Effect.provide(away))
        expect(verdict).toMatchObject({
          outcome: "insufficient_data",
          pairs: 0,
          failed: 0,
          leftOut: 12,
          pairsNeeded: null,
          stopped: { arm: "candidate", code: "provider_error" }
        })
        expect(asked.filter((text) => text.startsWith("sim/small"))).toHaveLength(12)
        expect(asked.filter((text) => text.startsWith("sim/best"))).toEqual([])
      })
    )

    it.effect("ask no model where the judge cannot be reached, and take its failures for nobody's", () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const away = world(reworded, asked, (model) => (model === "sim/judge" ? rejection : Effect.void))
        const verdict = yield* answer(yield* question, { parallel: 4 }).pipe(Effect.provide(away))
        expect(verdict).toMatchObject({ outcome: "insufficient_data", pairs: 0, failed: 0 })
        expect(asked).toHaveLength(12)
      })
    )

    it.effect("start nothing of an analysis that was deleted", () =>
      Effect.gen(function* () {
        const [asking, items] = [yield* question, yield* ReplayItems]
        const key = { analysisId: asking.analysisId, question: asking.id, sample: randomUUID(), arm: "plant" } as const
        expect(yield* items.start(key)).toBe(true)
        const store = yield* ProjectAnalysesStore
        expect(yield* store.removeAll(asking.projectId)).toEqual([asking.analysisId])
        expect(yield* items.start({ ...key, arm: "candidate" })).toBe(false)
        expect(yield* items.list(asking.analysisId)).toEqual([])
      })
    )

    it.effect.skipIf(name === "embedded")("leave nothing where one starts while its analysis is deleted", () =>
      Effect.gen(function* () {
        const [asking, items] = [yield* question, yield* ReplayItems]
        const [sql, observer] = [yield* AccountSql, yield* SqlClient]
        const key = { analysisId: asking.analysisId, question: asking.id, sample: randomUUID(), arm: "plant" } as const
        const [started, ends] = [yield* Deferred.make<boolean, StoreUnavailable>(), yield* Deferred.make<void>()]
        const start = Effect.intoDeferred(items.start(key), started)
        const starting = yield* Effect.fork(sql.withTransaction(Effect.zipRight(start, Deferred.await(ends))))
        expect(yield* Deferred.await(started)).toBe(true)
        const store = yield* ProjectAnalysesStore
        const removing = yield* Effect.fork(store.removeAll(asking.projectId))
        // the deletion waits for what has started, or is over
        const waiting = observer<{ readonly n: number }>`select count(*)::int as n from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`
        while ((yield* waiting)[0]?.n === 0 && Option.isNone(yield* Fiber.poll(removing))) yield* Effect.yieldNow()
        yield* Deferred.succeed(ends, undefined)
        yield* Fiber.join(starting)
        yield* Fiber.join(removing)
        expect(yield* items.list(asking.analysisId)).toEqual([])
      })
    )
  })
}
