import { SqlClient } from "@effect/sql/SqlClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Activity } from "../../../src/account/activity/Activity.ts"
import { ActivityStore } from "../../../src/account/activity/ActivityStore.ts"
import { RequestLog } from "../../../src/account/requests/RequestLog.ts"
import { type RequestFilter, RequestLogStore } from "../../../src/account/requests/RequestLogStore.ts"
import * as Retention from "../../../src/account/retention/Retention.ts"
import { RetentionStore } from "../../../src/account/retention/RetentionStore.ts"
import { KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import * as Database from "../../../src/sql/Database.ts"

/** The programs behind the account API, on a database that is migrated when it is opened; embedded without a URL. */
export const open = async (url: string | undefined, dataDir: string) => {
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      Activity.layer.pipe(Layer.provideMerge(ActivityStore.layer())),
      RequestLog.layer.pipe(Layer.provide(RequestLogStore.layer())),
      RetentionStore.layer
    ).pipe(
      Layer.provideMerge(
        Database.layer({
          url: Option.map(Option.fromNullable(url), Redacted.make),
          dataDir,
          statementTimeoutMillis: 600_000
        })
      )
    )
  )
  await runtime.runPromise(Effect.void)
  type Services = Activity | ActivityStore | RequestLog | RetentionStore | SqlClient
  const run = <A, E>(effect: Effect.Effect<A, E, Services>) => runtime.runPromise(effect)
  return {
    query: (text: string, values: ReadonlyArray<unknown> = []) =>
      run(Effect.flatMap(SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(text, values))),
    close: () => runtime.dispose(),
    sumUp: () =>
      run(
        Effect.repeat(
          Effect.flatMap(ActivityStore, (store) => store.sumUp),
          { while: (more) => more }
        )
      ),
    activity: (project: string, days: number, granularity: "day" | "hour") =>
      run(Effect.flatMap(Activity, (activity) => activity.of({ project: ProjectId.make(project), days, granularity }))),
    requests: (
      project: string,
      { key, ...filter }: Omit<RequestFilter, "key"> & { readonly key?: string | undefined }
    ) =>
      run(
        Effect.flatMap(RequestLog, (log) =>
          log.page(
            ProjectId.make(project),
            { ...filter, key: key === undefined ? undefined : KeyId.make(key) },
            null,
            20
          )
        )
      ),
    exported: (project: string) =>
      run(
        Effect.flatMap(RequestLog, (log) =>
          Stream.runFold(
            Stream.chunks(log.all(ProjectId.make(project), {})),
            0,
            (rows, chunk) => rows + Chunk.size(chunk)
          )
        )
      ),
    retain: (callDays: number) => run(Effect.flatMap(RetentionStore, (store) => Retention.deleteAll(store, callDays)))
  }
}
