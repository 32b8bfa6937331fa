import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { StoreUnavailable } from "../domain/GatewayError.ts"

export interface ObjectsShape {
  readonly put: (id: string, bytes: Uint8Array) => Effect.Effect<void, StoreUnavailable>
  /** `undefined` where there is none. */
  readonly get: (id: string) => Effect.Effect<Uint8Array | undefined, StoreUnavailable>
  /** Also where there is none. */
  readonly remove: (id: string) => Effect.Effect<void, StoreUnavailable>
}

/** The bytes of images, which the database does not have. Ids are UUIDs. */
export class Objects extends Context.Tag("gateway/chat/Objects")<Objects, ObjectsShape>() {
  /** Files below this directory; several nodes need a directory that they share. With `:memory:` nothing is stored. */
  static readonly layer = (dataDirectory: string): Layer.Layer<Objects> =>
    Layer.sync(this, () => (dataDirectory === ":memory:" ? inMemory() : inDirectory(join(dataDirectory, "objects"))))
}

const inMemory = (): ObjectsShape => {
  const objects = new Map<string, Uint8Array>()
  return {
    put: (id, bytes) => Effect.sync(() => void objects.set(id, bytes)),
    get: (id) => Effect.sync(() => objects.get(id)),
    remove: (id) => Effect.sync(() => void objects.delete(id))
  }
}

const inDirectory = (directory: string): ObjectsShape => {
  const pathOf = (id: string) => join(directory, id.slice(-2), id)
  return {
    put: (id, bytes) =>
      attempted(async () => {
        const path = pathOf(id)
        await mkdir(join(directory, id.slice(-2)), { recursive: true, mode: 0o700 })
        // a reader never finds half of it
        await writeFile(`${path}.new`, bytes, { mode: 0o600 })
        await rename(`${path}.new`, path)
      }),
    get: (id) =>
      attempted(() =>
        readFile(pathOf(id)).catch((error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return undefined
          throw error
        })
      ),
    remove: (id) => attempted(() => rm(pathOf(id), { force: true }))
  }
}

const attempted = <A>(run: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreUnavailable({ cause, store: "images" }) })
