import { createHash, randomBytes } from "node:crypto"
import { readdir, realpath, rm } from "node:fs/promises"
import { connect, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { DatabaseFailed, DirectoryInUse } from "../DatabaseError.ts"
import { makeDirectory } from "./MakeDirectory.ts"

/** Paths of sockets are limited to about 104 bytes. */
const maxPathBytes = 100
/** Two processes that start together both back off; retries let one of them succeed, and give a stopping process time to finish. */
const retries = Schedule.exponential(Duration.millis(40)).pipe(
  Schedule.jittered,
  Schedule.intersect(Schedule.recurs(4))
)

/**
 * Locks the data directory for as long as the scope is open. Each process listens on a socket with a name of its own and then
 * connects to all others: the operating system closes a listener with its process, so no lock outlives a crash, and since
 * names are never reused, removing a dead socket can never remove a live one.
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
      Effect.retry({ schedule: retries, while: (error) => error._tag === "DirectoryInUse" })
    ),
    (server) => Effect.promise(() => close(server))
  ).pipe(Effect.asVoid)

const attempt = async (directory: string): Promise<Server | null> => {
  await makeDirectory(directory)
  const { folder, pipe } = await placeOf(directory)
  if (pipe !== undefined) return listen(pipe)
  await makeDirectory(folder)
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

/** Whether a process has the directory locked; nothing is made, and a directory that does not exist is free. */
export const isHeld = (directory: string): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    try {
      const { folder, pipe } = await placeOf(directory)
      if (pipe !== undefined) return await answers(pipe)
      const alive = await Promise.all((await readdir(folder)).map((name) => answers(join(folder, name))))
      return alive.includes(true)
    } catch {
      return false
    }
  })

/** Where the sockets of a directory's processes are. */
const placeOf = async (directory: string): Promise<{ readonly folder: string; readonly pipe: string | undefined }> => {
  const resolved = await realpath(directory)
  const hash = createHash("sha256").update(resolved).digest("hex").slice(0, 24)
  const inside = join(resolved, "lock")
  return {
    // A named pipe has one owner and is removed with it.
    pipe: process.platform === "win32" ? `\\\\.\\pipe\\model-routing-gateway-${hash}` : undefined,
    folder:
      Buffer.byteLength(inside) + 13 <= maxPathBytes
        ? inside
        : join(await realpath(tmpdir()), `model-routing-gateway-${hash}`)
  }
}

const listen = (path: string): Promise<Server | null> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    // of a named pipe EACCES says that it has an owner; of a socket, that the folder is another user's
    const isTaken = (code: string | undefined) =>
      code === "EADDRINUSE" || (code === "EACCES" && process.platform === "win32")
    server.once("error", (error: NodeJS.ErrnoException) => (isTaken(error.code) ? resolve(null) : reject(error)))
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
    // Any other error may be a live process that must not be reached from here.
    socket.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT" && error.code !== "ENOTSOCK")
    )
  })

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
