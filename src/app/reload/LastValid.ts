import cluster, { type Worker } from "node:cluster"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Settings from "../../config/Settings.ts"
import type { InvalidConfiguration } from "../../domain/InvalidConfiguration.ts"
import * as Configuration from "../Configuration.ts"
import { reloadable, warnOfStart } from "./Reloadable.ts"

/**
 * The supervisor keeps what the service has started with and what its workers have applied: one that replaces another must have the
 * others' database, keys and port whatever is on the disk since, and be able to start although that is broken.
 */
const Sources = Schema.Struct({
  variables: Schema.Record({ key: Schema.String, value: Schema.String }),
  file: Schema.NullOr(Schema.String)
})
const Message = Schema.Union(
  /** A worker has applied this. */
  Schema.Struct({ configuration: Schema.Literal("applied"), sources: Sources }),
  /** A worker asks for what it has to start with. */
  Schema.Struct({ configuration: Schema.Literal("ask") }),
  Schema.Struct({ configuration: Schema.Literal("kept"), started: Sources, applied: Sources })
)
type Message = typeof Message.Type
type Kept = Extract<Message, { readonly configuration: "kept" }>
const decode = Schema.decodeUnknownOption(Message)

const send = (message: Message): void => {
  if (cluster.isWorker) process.send?.(message)
}

/** Tells the supervisor, where there is one, what this process has applied. */
export const report = ({ file, variables }: Configuration.Sources): Effect.Effect<void> =>
  Effect.sync(() => send({ configuration: "applied", sources: { file, variables } }))

/**
 * What is on the disk; in a worker, where that cannot be used, what was applied last, and of what only a start can change what the
 * service has started with.
 */
export const read: Effect.Effect<Configuration.Configuration, InvalidConfiguration, FileSystem.FileSystem> =
  Effect.suspend(() => (cluster.isWorker ? Effect.flatMap(ask, ofWorker) : Configuration.read))

const ofWorker = Effect.fnUntraced(function* ({ applied, started }: Kept) {
  const current = (yield* Configuration.ofSources(started)).settings
  const active = (loaded: Configuration.Configuration) => {
    const { needStart, next } = reloadable(current, loaded.settings)
    return Effect.as(Settings.requireProvider(next), { configuration: { ...loaded, settings: next }, needStart })
  }
  const { configuration, needStart } = yield* Effect.catchAll(Effect.flatMap(Configuration.read, active), (invalid) =>
    Effect.tap(Effect.flatMap(Configuration.ofSources(applied), active), () =>
      Effect.annotateLogs(Effect.logError("the configuration is invalid: this worker starts with the last valid one"), {
        issues: invalid.message.split("\n")
      })
    )
  )
  yield* Logger.withMinimumLogLevel(warnOfStart(needStart), configuration.settings.logLevel)
  return configuration
})

const ask = Effect.async<Kept>((resume) => {
  const receive = (received: unknown): void => {
    const message = Option.getOrUndefined(decode(received))
    if (message?.configuration !== "kept") return
    process.off("message", receive)
    resume(Effect.succeed(message))
  }
  process.on("message", receive)
  send({ configuration: "ask" })
})

/** The supervisor's part. */
export class LastValid {
  private readonly started: Configuration.Sources
  private applied: Configuration.Sources

  constructor({ file, variables }: Configuration.Sources) {
    this.started = { file, variables }
    this.applied = this.started
  }

  received(worker: Worker, raw: unknown): void {
    const message = Option.getOrUndefined(decode(raw))
    if (message?.configuration === "applied") this.applied = message.sources
    else if (message?.configuration === "ask" && worker.isConnected()) {
      worker.send({ configuration: "kept", started: this.started, applied: this.applied } satisfies Message)
    }
  }
}
