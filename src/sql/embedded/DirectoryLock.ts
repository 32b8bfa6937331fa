import { createHash, randomBytes } from "node:crypto"
import { mkdir, readdir, realpath, rm } from "node:fs/promises"
import { connect, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { DatabaseFailed, DirectoryInUse } from "../DatabaseError.ts"

/** Addresses of sockets are limited to about 104 bytes. */
const mostPathBytes = 100
/** Two processes that start together both step back; this lets one of them through, and an ending one finish. */
const again = Schedule.exponential(Duration.millis(40)).pipe(Schedule.jittered, Schedule.intersect(Schedule.recurs(4)))

/**
 * Holds the data directory for as long as the scope is open. Each opener listens on a socket of its own name and then looks
 * for others that answer: the operating system ends a listener with its process, so no lock outlives a crash, and as names
 * are never used twice, removing a dead one can never remove a living one.
 */
export const acquire = (directory: string): Effect.Effect<void, DirectoryInUse | DatabaseFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => attempt(directory),
      catch: (cause) => new DatabaseFailed({ database: directory, cause })
    }).pipe(
      Effect.filterOrFail(
        (server) => server !== null,
        () => new DirectoryInUse({ directory })
      ),
      Effect.retry({ schedule: again, while: (error) => error._tag === "DirectoryInUse" })
    ),
    (server) => Effect.promise(() => close(server))
  ).pipe(Effect.asVoid)

const attempt = async (directory: string): Promise<Server | null> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const resolved = await realpath(directory)
  const hash = createHash("sha256").update(resolved).digest("hex").slice(0, 24)
  // A named pipe has one owner and goes with it.
  if (process.platform === "win32") return listen(`\\\\.\\pipe\\model-routing-gateway-${hash}`)
  const inside = join(resolved, "lock")
  const folder =
    Buffer.byteLength(inside) + 13 <= mostPathBytes
      ? inside
      : join(await realpath(tmpdir()), `model-routing-gateway-${hash}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const own = randomBytes(6).toString("hex")
  const server = await listen(join(folder, own))
  if (server === null) return null
  for (const name of await readdir(folder)) {
    if (name === own) continue
    const path = join(folder, name)
    if (await answers(path)) {
      await close(server)
      return null
    }
    await rm(path, { force: true })
  }
  return server
}

const listen = (path: string): Promise<Server | null> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" || error.code === "EACCES" ? resolve(null) : reject(error)
    )
    server.listen(path, () => {
      server.unref()
      resolve(server)
    })
  })

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    // Anything but "nobody listens here" may be a living process that we are not allowed to reach.
    socket.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT" && error.code !== "ENOTSOCK")
    )
  })

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
