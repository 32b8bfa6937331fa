import cluster, { type Worker } from "node:cluster"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Settings from "../../config/Settings.ts"
import type { InvalidConfiguration } from "../../domain/InvalidConfiguration.ts"
import * as Configuration from "../Configuration.ts"

/**
 * The supervisor keeps what its workers have applied: one that replaces another must be able to start although what is on the disk
 * has been broken since, as a reload would leave the others what they have.
 */
const Sources = Schema.Struct({
  variables: Schema.Record({ key: Schema.String, value: Schema.String }),
  file: Schema.NullOr(Schema.String)
})
const Message = Schema.Union(
  /** A worker has applied this. */
  Schema.Struct({ configuration: Schema.Literal("applied"), sources: Sources }),
  /** A worker asks for what was applied last. */
  Schema.Struct({ configuration: Schema.Literal("ask") }),
  Schema.Struct({ configuration: Schema.Literal("last"), sources: Schema.NullOr(Sources) })
)
type Message = typeof Message.Type
const decode = Schema.decodeUnknownOption(Message)

const send = (message: Message): void => {
  if (cluster.isWorker) process.send?.(message)
}

/** Tells the supervisor, where there is one, what this process has applied. */
export const report = ({ file, variables }: Configuration.Sources): Effect.Effect<void> =>
  Effect.sync(() => send({ configuration: "applied", sources: { file, variables } }))

/** What is on the disk; in a worker, where that cannot be used, what was applied last. */
export const read: Effect.Effect<Configuration.Configuration, InvalidConfiguration, FileSystem.FileSystem> =
  Effect.suspend(() =>
    cluster.isWorker
      ? Effect.catchAll(
          Effect.tap(Configuration.read, ({ settings }) => Settings.requireProvider(settings)),
          (invalid) => Effect.flatMap(ask, (last) => (last === null ? invalid : startWith(last, invalid)))
        )
      : Configuration.read
  )

const startWith = (last: Configuration.Sources, invalid: InvalidConfiguration) =>
  Effect.tap(Configuration.ofSources(last), () =>
    Effect.annotateLogs(Effect.logError("the configuration is invalid: this worker starts with the last valid one"), {
      issues: invalid.message.split("\n")
    })
  )

const ask = Effect.async<Configuration.Sources | null>((resume) => {
  const receive = (received: unknown): void => {
    const message = Option.getOrUndefined(decode(received))
    if (message?.configuration !== "last") return
    process.off("message", receive)
    resume(Effect.succeed(message.sources))
  }
  process.on("message", receive)
  send({ configuration: "ask" })
})

/** The supervisor's part. */
export class LastValid {
  private sources: Configuration.Sources | null = null

  received(worker: Worker, raw: unknown): void {
    const message = Option.getOrUndefined(decode(raw))
    if (message?.configuration === "applied") this.sources = message.sources
    else if (message?.configuration === "ask" && worker.isConnected()) {
      worker.send({ configuration: "last", sources: this.sources } satisfies Message)
    }
  }
}
