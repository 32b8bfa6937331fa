import { existsSync } from "node:fs"
import { Worker } from "node:worker_threads"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { AnalysedCall, CapturedConversation } from "../../domain/CapturedCall.ts"
import type { PromptCache } from "../../domain/Model.ts"
import type { FromEngine, ToEngine } from "../EngineSession.ts"
import type { Reported, ReportInput } from "../Report.ts"

/** The engine has ended or failed; the message has no text of calls. */
export class EngineFailed extends Data.TaggedError("EngineFailed")<{ readonly reason: string }> {}

export interface EngineRun {
  readonly add: (
    conversation: Pick<CapturedConversation, "conversation" | "inclusion">,
    calls: ReadonlyArray<AnalysedCall>
  ) => Effect.Effect<void, EngineFailed>
  readonly report: (input: ReportInput) => Effect.Effect<Reported, EngineFailed>
}

export interface AnalysisEngineShape {
  /** One analysis; its thread ends with the scope. */
  readonly open: (caches: Readonly<Record<string, PromptCache>>) => Effect.Effect<EngineRun, EngineFailed, Scope.Scope>
}

/** Runs the engine of analyses beside the calls. */
export class AnalysisEngine extends Context.Tag("gateway/analysis/AnalysisEngine")<
  AnalysisEngine,
  AnalysisEngineShape
>() {
  /** In a thread of its own. */
  static readonly layerThread = (script: URL): Layer.Layer<AnalysisEngine> =>
    Layer.succeed(this, { open: (caches) => inThread(script, caches) })

  /** On the thread that asks for it. */
  static readonly layerInline: Layer.Layer<AnalysisEngine> = Layer.succeed(this, { open: (caches) => inline(caches) })

  /** The build puts the thread's script beside its own files; sources that run without a build have none. */
  static readonly layer: Layer.Layer<AnalysisEngine> = Layer.suspend(() => {
    const script = new URL("./analysisWorker.js", import.meta.url)
    return existsSync(script) ? this.layerThread(script) : this.layerInline
  })
}

/** The slowest step is the report: seconds for a thousand conversations. */
const maxStepMillis = 300_000

/** With listeners for as long as it lives: an error that nobody listens to would end the process. */
const started = (script: URL, ended: (reason: string) => void): Worker =>
  new Worker(script).on("error", (error) => ended(error.message)).on("exit", () => ended("the thread has ended"))

const inThread = (script: URL, caches: Readonly<Record<string, PromptCache>>) =>
  Effect.gen(function* () {
    const ended = yield* Deferred.make<never, EngineFailed>()
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => started(script, (reason) => Deferred.unsafeDone(ended, new EngineFailed({ reason })))),
      (own) => Effect.promise(() => own.terminate())
    )
    const ask = (message: ToEngine) =>
      Effect.async<FromEngine>((resume) => {
        const onMessage = (reply: FromEngine) => resume(Effect.succeed(reply))
        worker.once("message", onMessage)
        worker.postMessage(message)
        return Effect.sync(() => worker.off("message", onMessage))
      }).pipe(
        // a thread that has ended answers nothing
        Effect.raceFirst(Deferred.await(ended)),
        Effect.timeoutFail({
          duration: maxStepMillis,
          onTimeout: () => new EngineFailed({ reason: "no answer of the thread in time" })
        }),
        Effect.flatMap((reply) =>
          reply.ok ? Effect.succeed(reply) : Effect.fail(new EngineFailed({ reason: reply.error }))
        )
      )
    yield* ask({ type: "open", caches })
    return {
      add: (conversation, calls) => Effect.asVoid(ask({ type: "add", conversation, calls })),
      report: (input) =>
        Effect.flatMap(ask({ type: "report", input }), ({ reported }) =>
          reported === undefined ? Effect.fail(new EngineFailed({ reason: "no report" })) : Effect.succeed(reported)
        )
    } satisfies EngineRun
  })

const inline = (caches: Readonly<Record<string, PromptCache>>) =>
  Effect.map(
    // its table of tokens is loaded by the first analysis only
    Effect.promise(() => import("../EngineSession.ts")),
    ({ EngineSession }): EngineRun => {
      const session = new EngineSession(caches)
      const attempt = <A>(run: () => A) =>
        Effect.try({
          try: run,
          catch: (error) => new EngineFailed({ reason: error instanceof Error ? error.message : String(error) })
        })
      return {
        add: (conversation, calls) => attempt(() => session.add(conversation, calls)),
        report: (input) => attempt(() => session.report(input))
      }
    }
  )
