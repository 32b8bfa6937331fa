import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import OpenAI from "openai"
import { createDatabase, databaseVariables, dropDatabase, urlOf } from "./PostgresServer.ts"

const bundle = fileURLToPath(new URL("../../dist/main.js", import.meta.url))

/** A key that is valid everywhere and secret nowhere. */
export const testKey = "mrg_sk_TESTKEYTESTKEYTESTKEYTESTKEYTEST36moGh"

/** Seals what a service on PostgreSQL, which makes no key of its own, has to read again. */
export const masterKey = Buffer.alloc(32, 7).toString("base64")

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Written to a file that GATEWAY_CONFIG names. */
  readonly config?: unknown
  /** The embedded database in this folder, kept by the caller; else a fresh database of the kind the suite runs on. */
  readonly dataDir?: string
  /** In place of the built one of the repository. */
  readonly bundle?: string
  /** The working directory, where `.env` is read; else an empty one. */
  readonly cwd?: string
}

/** The built service as a process of its own, on a port of its own. */
export interface Service {
  readonly url: string
  readonly process: ChildProcess
  /** Its variables. */
  readonly env: Readonly<Record<string, string>>
  /** What it has printed so far. */
  readonly output: () => string
  readonly client: OpenAI
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** POST of a JSON body with the test key. */
  readonly post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>
  /** Resolves with the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

const startMillis = 60_000
/** Half of the CPU of a start is optimised code of the embedded database, which pays after the seconds that most tests last. */
export const flags: ReadonlyArray<string> = ["--liftoff-only", "--wasm-lazy-compilation", "--wasm-lazy-validation"]

/** A PostgreSQL database of its own when the suite runs on PostgreSQL. */
const makeDatabase = async (): Promise<{ readonly url: string; readonly drop: () => Promise<void> } | undefined> => {
  const server = process.env["TEST_DATABASE_URL"]
  if (server === undefined) return undefined
  const name = `service_${randomUUID().replaceAll("-", "")}`
  await createDatabase(server, name)
  return { url: urlOf(server, name), drop: () => dropDatabase(server, name) }
}

export const startService = async (options: ServiceOptions = {}): Promise<Service> => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-service-"))
  const database = options.dataDir === undefined ? await makeDatabase() : undefined
  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    PORT: "0",
    DATA_DIR: options.dataDir ?? join(folder, "data"),
    GATEWAY_BOOTSTRAP_KEY: testKey,
    ...(database === undefined ? {} : databaseVariables(database.url)),
    ...options.env
  }
  if (options.config !== undefined) {
    env["GATEWAY_CONFIG"] = join(folder, "gateway.json")
    await writeFile(env["GATEWAY_CONFIG"], JSON.stringify(options.config))
  }
  const child = spawn(process.execPath, [...flags, options.bundle ?? bundle], {
    env,
    cwd: options.cwd ?? folder,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const cleanUp = async () => {
    await rm(folder, { recursive: true, force: true })
    await database?.drop()
  }
  let output = ""
  const started = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the service did not start:\n${output}`)), startMillis)
    const read = (chunk: Buffer) => {
      output += chunk.toString("utf8")
      const found = /Model routing gateway at (http:\/\/[^\s]+)\/v1/.exec(output)?.[1]
      if (found !== undefined) {
        clearTimeout(timer)
        resolve(found)
      }
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    // after all that it has printed
    child.once("close", (code) => {
      clearTimeout(timer)
      reject(new Error(`the service ended with ${code}:\n${output}`))
    })
  })
  const url = await started.catch(async (error) => {
    child.kill("SIGKILL")
    await cleanUp()
    throw error
  })
  const call = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init)
  return {
    url,
    process: child,
    env,
    output: () => output,
    client: new OpenAI({ apiKey: testKey, baseURL: `${url}/v1`, maxRetries: 0 }),
    fetch: call,
    post: (path, body, headers = {}) =>
      call(path, {
        method: "POST",
        headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body)
      }),
    stop: async (signal = "SIGTERM") => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await once(child, "exit")
      }
      await cleanUp()
      return child.exitCode
    }
  }
}
