import { fork } from "node:child_process"
import { once } from "node:events"
import { statSync } from "node:fs"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as DirectoryLock from "../../src/sql/embedded/DirectoryLock.ts"

const temporaryDirectoryIn = (parent: string) =>
  Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(parent, "lock-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
const temporaryDirectory = temporaryDirectoryIn(tmpdir())

it.scopedLive("of many openers at once at most one holds the directory", () =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const outcomes = yield* Effect.forEach(
      Array.from({ length: 8 }),
      () => Effect.either(DirectoryLock.acquire(directory)),
      { concurrency: "unbounded" }
    )
    expect(outcomes.filter(Either.isRight).length).toBeLessThanOrEqual(1)
    const late = yield* Effect.either(DirectoryLock.acquire(directory))
    expect(outcomes.filter(Either.isRight).length + (Either.isRight(late) ? 1 : 0)).toBe(1)
  })
)

it.scopedLive("a directory whose path is too long for a socket is locked all the same", () =>
  Effect.gen(function* () {
    const directory = join(yield* temporaryDirectory, "long".repeat(30))
    yield* DirectoryLock.acquire(directory)
    const second = yield* Effect.either(DirectoryLock.acquire(directory))
    expect(Either.isLeft(second) && second.left._tag).toBe("DirectoryInUse")
  })
)

it.scopedLive("directories that are missing above it are made, for their owner only", () =>
  Effect.gen(function* () {
    const parent = join(yield* temporaryDirectory, "a")
    yield* DirectoryLock.acquire(join(parent, "b", "c"))
    expect(statSync(parent).mode & 0o777).toBe(0o700)
  })
)

it.skipIf(process.platform !== "linux")("a directory that cannot be made fails at once", async () => {
  for (const directory of ["/proc/gateway", "/proc/gateway/data", "/dev/null/data"]) {
    const made = await Effect.runPromise(Effect.either(Effect.scoped(DirectoryLock.acquire(directory))))
    expect([directory, Either.isLeft(made) && made.left._tag]).toEqual([directory, "DatabaseFailed"])
  }
})

/** Not root, whom no permission holds back. */
const asOrdinaryUser = Effect.acquireRelease(
  Effect.sync(() => process.geteuid?.() === 0 && process.seteuid?.(65_534)),
  (changed) => Effect.sync(() => changed !== false && process.seteuid?.(0))
)

it.skipIf(process.platform === "win32")("a directory that another user has used is not said to be in use", () =>
  Effect.gen(function* () {
    // the run's own may be hidden from other users
    const directory = yield* temporaryDirectoryIn("/tmp")
    yield* Effect.scoped(DirectoryLock.acquire(directory))
    yield* Effect.promise(() => chmod(directory, 0o755))
    yield* Effect.promise(() => chmod(join(directory, "lock"), 0o500))
    const refused = yield* Effect.either(Effect.zipRight(asOrdinaryUser, DirectoryLock.acquire(directory)))
    expect(Either.isLeft(refused) && refused.left._tag).toBe("DatabaseFailed")
    expect(Either.isLeft(refused) && refused.left.message).toContain("EACCES")
  }).pipe(Effect.scoped, Effect.runPromise)
)

it.scopedLive("the lock of a process that was killed is free at once", () =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const script = join(directory, "holder.mjs")
    yield* Effect.promise(async () => {
      const { mkdir } = await import("node:fs/promises")
      await mkdir(join(directory, "lock"))
      await writeFile(
        script,
        `import { createServer } from "node:net"
        createServer().listen(${JSON.stringify(join(directory, "lock", "held"))}, () => process.send("held"))`
      )
    })
    const holder = fork(script)
    yield* Effect.promise(() => once(holder, "message"))
    const refused = yield* Effect.either(DirectoryLock.acquire(directory))
    expect(Either.isLeft(refused) && refused.left._tag).toBe("DirectoryInUse")
    holder.kill("SIGKILL")
    yield* Effect.promise(() => once(holder, "exit"))
    yield* DirectoryLock.acquire(directory)
  })
)

it.scopedLive("a lock that was released can be taken again", () =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    yield* Effect.scoped(DirectoryLock.acquire(directory))
    yield* DirectoryLock.acquire(directory)
  })
)
