import { hkdfSync, randomBytes } from "node:crypto"
import { open, readFile } from "node:fs/promises"
import { join } from "node:path"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { SealingUnavailable } from "../domain/AccountError.ts"

/** Where the master key comes from. */
export interface MasterKeyOptions {
  /** 32 bytes in base64; `null`: none. The `GATEWAY_MASTER_KEY` of a service that shares the database. */
  readonly current: Redacted.Redacted | null
  /** In the same form: opens what was sealed before the key was changed. */
  readonly previous: Redacted.Redacted | null
  /** Where a key is kept, and made at the first start, while none is set; `null`: nowhere. */
  readonly directory: string | null
}

export interface MasterKeyShape {
  readonly isSet: boolean
  /** A key of 32 bytes for one purpose, from the current master key. */
  readonly derived: (purpose: string) => Effect.Effect<Buffer, SealingUnavailable>
  /** The same from the current and the previous master key, in this order. */
  readonly accepted: (purpose: string) => Effect.Effect<ReadonlyArray<Buffer>, SealingUnavailable>
}

/** A master key, or its file, cannot be used. */
export class MasterKeyFailed extends Data.TaggedError("MasterKeyFailed")<{
  /** The file, or the option that the key was given by. */
  readonly path: string
  /** What is wrong with it, for the message. */
  readonly reason: string
}> {
  override get message(): string {
    return `the master key in ${this.path} ${this.reason}`
  }
}

/** What must be readable again, such as credentials of providers, is sealed with keys that are derived from this one. */
export class MasterKey extends Context.Tag("gateway/credentials/MasterKey")<MasterKey, MasterKeyShape>() {
  static readonly layer = (options: MasterKeyOptions): Layer.Layer<MasterKey, MasterKeyFailed> =>
    Layer.effect(this, Effect.map(keysOf(options), shapeOf))

  /** Makes no file where there is none. */
  static readonly layerExisting = (options: MasterKeyOptions): Layer.Layer<MasterKey, MasterKeyFailed> =>
    Layer.effect(this, Effect.map(existing(options), shapeOf))
}

const keyBytes = 32
/** In the data directory. */
export const fileName = "master.key"
const wrongForm = "is not 32 bytes in base64."

/** A key of 32 bytes in base64, padded or not. */
export const isMasterKey = (text: string): boolean =>
  /^[A-Za-z0-9+/]{43}=?$/.test(text) && Buffer.from(text, "base64").length === keyBytes

/** The configured keys, the current one first; empty where there is none. Makes no file. */
export const existing = (options: MasterKeyOptions): Effect.Effect<ReadonlyArray<Buffer>, MasterKeyFailed> =>
  Effect.map(
    Effect.all([
      options.current === null ? readFrom(options.directory) : bytesOf("current", options.current),
      options.previous === null ? Effect.succeed(undefined) : bytesOf("previous", options.previous)
    ]),
    (keys) => keys.filter((key) => key !== undefined)
  )

export const derive = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", key, "", purpose, keyBytes))

const keysOf = (options: MasterKeyOptions): Effect.Effect<ReadonlyArray<Buffer>, MasterKeyFailed> =>
  Effect.gen(function* () {
    const found = yield* existing(options)
    if (options.current !== null || options.directory === null) return found
    const hasFile = found.length > (options.previous === null ? 0 : 1)
    return hasFile ? found : [yield* made(options.directory), ...found]
  })

const shapeOf = (keys: ReadonlyArray<Buffer>): MasterKeyShape => {
  const [current] = keys
  if (current === undefined) {
    return { isSet: false, derived: () => unavailable, accepted: () => unavailable }
  }
  return {
    isSet: true,
    derived: (purpose) => Effect.sync(() => derive(current, purpose)),
    accepted: (purpose) => Effect.sync(() => keys.map((key) => derive(key, purpose)))
  }
}

const unavailable = new SealingUnavailable({
  message: "Nothing can be sealed: GATEWAY_MASTER_KEY is not set (32 bytes in base64)."
})

/** Of a shorter text, or one in another form, less than a key would be left. */
const bytesOf = (
  option: "current" | "previous",
  key: Redacted.Redacted
): Effect.Effect<Buffer | undefined, MasterKeyFailed> =>
  isMasterKey(Redacted.value(key))
    ? Effect.succeed(Buffer.from(Redacted.value(key), "base64"))
    : Effect.fail(new MasterKeyFailed({ path: `masterKey.${option}`, reason: wrongForm }))

const readFrom = (directory: string | null): Effect.Effect<Buffer | undefined, MasterKeyFailed> => {
  if (directory === null) return Effect.succeed(undefined)
  const path = join(directory, fileName)
  return Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: codeOf }).pipe(
    Effect.flatMap((text) =>
      isMasterKey(text.trim())
        ? Effect.succeed(Buffer.from(text.trim(), "base64"))
        : Effect.fail(new MasterKeyFailed({ path, reason: wrongForm }))
    ),
    Effect.catchIf(
      (error) => error === "ENOENT",
      () => Effect.succeed(undefined)
    ),
    Effect.mapError((error) =>
      error instanceof MasterKeyFailed ? error : new MasterKeyFailed({ path, reason: `cannot be read (${error}).` })
    )
  )
}

/** Only for the process that has the directory open. */
const made = (directory: string): Effect.Effect<Buffer, MasterKeyFailed> => {
  const path = join(directory, fileName)
  return Effect.tryPromise({
    try: async () => {
      const key = randomBytes(keyBytes)
      const file = await open(path, "wx", 0o600)
      await file.writeFile(`${key.toString("base64")}\n`)
      await file.sync()
      await file.close()
      return key
    },
    catch: (cause) => new MasterKeyFailed({ path, reason: `cannot be written (${codeOf(cause)}).` })
  })
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : String(cause)
