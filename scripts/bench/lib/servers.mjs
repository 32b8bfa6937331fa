// @ts-check
// What can be measured: nothing in between, the byte proxy, and the built gateway with everything on.
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { builtBundle } from "../../lib/built.mjs"
import { coreOfServers, coreOfUpstream, startServer, stopServer } from "../../lib/processes.mjs"
import { createDatabase } from "./database.mjs"

/** @import { Running } from "../../lib/processes.mjs" */

/** @param {string} file */
const beside = (file) => fileURLToPath(new URL(file, import.meta.url))

/** Databases and folders that are still there. */
/** @type {Set<() => Promise<void>>} */
const leftovers = new Set()

/** However a run ends: nothing of it stays behind. */
export const cleanUp = async () => {
  for (const remove of leftovers) await remove()
}

/** Valid everywhere and secret nowhere. */
const key = "mrg_sk_TESTKEYTESTKEYTESTKEYTESTKEYTEST36moGh"
const pinnedModel = "bench/model-1"
const modelCount = 100

export const startUpstream = () => startServer({ args: [beside("upstream.mjs")], core: coreOfUpstream, env: {} })

/**
 * Something that is measured: where it listens, how it is asked, and of the gateway what its start took.
 *
 * @typedef {{
 *   name: string
 *   port: number
 *   pid: number | undefined
 *   path: string
 *   headers: Readonly<Record<string, string>>
 *   model: string
 *   stop: () => Promise<void>
 *   startMillis?: number
 * }} Server
 */

/** @typedef {Server & { pid: number, startMillis: number, child: Running["child"] }} Gateway */

/** @param {string} name @param {Running} server @param {() => Promise<void>} stop */
const byteServer = (name, server, stop) => ({
  name,
  port: server.port,
  pid: server.pid,
  path: "/v1/chat/completions",
  headers: {},
  model: "mock",
  stop
})

/** @param {Running} upstream @returns {Server} */
export const direct = (upstream) => ({ ...byteServer("direct", upstream, async () => {}), pid: undefined })

/** @param {Running} upstream */
export const startProxy = async (upstream) => {
  const server = await startServer({
    args: [beside("proxy.mjs")],
    core: coreOfServers,
    env: { UPSTREAM: `http://127.0.0.1:${upstream.port}` }
  })
  return byteServer("proxy", server, () => stopServer(server))
}

/** Of `npm start`, and of what scripts/deploy starts. */
const flagsOfStart = ["--max-semi-space-size=64"]

/**
 * The gateway on a database of its own, started a second time so that `startMillis` is that of a database which is already
 * there; `prepare` may write to it before. `undefined` when there is no such database.
 *
 * @param {{
 *   bundle?: string | undefined
 *   database: string
 *   name: string
 *   nodeOptions?: ReadonlyArray<string>
 *   prepare?: (database: { url: string | undefined, dataDir: string }) => Promise<void>
 *   upstream: Running
 * }} options
 * @returns {Promise<Gateway | undefined>}
 */
export const startGateway = async ({
  bundle = builtBundle,
  database,
  name,
  nodeOptions = [],
  prepare = async () => {},
  upstream
}) => {
  if (!existsSync(bundle)) throw new Error(`${bundle} is not there: build first`)
  const postgres = database === "postgres" ? await createDatabase() : undefined
  if (database === "postgres" && postgres === undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), "gateway-bench-"))
  const remove = async () => {
    leftovers.delete(remove)
    await postgres?.drop()
    await rm(folder, { recursive: true, force: true })
  }
  leftovers.add(remove)
  const file = join(folder, "gateway.json")
  await writeFile(file, JSON.stringify(configuration(upstream)))
  const start = (/** @type {Array<string>} */ ...flags) =>
    startServer({
      args: [...flagsOfStart, ...flags, bundle],
      core: coreOfServers,
      env: {
        HOME: folder,
        PORT: "0",
        DATA_DIR: join(folder, "data"),
        GATEWAY_CONFIG: file,
        GATEWAY_BOOTSTRAP_KEY: key,
        GATEWAY_BOOTSTRAP_CREDIT_MICROUSD: "1000000000000",
        ...(postgres === undefined ? {} : { DATABASE_URL: postgres.url })
      }
    })
  await stopServer(await start())
  await prepare({ url: postgres?.url, dataDir: join(folder, "data") })
  const server = await start(...nodeOptions)
  return {
    name,
    port: server.port,
    pid: server.pid,
    child: server.child,
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${key}` },
    model: pinnedModel,
    startMillis: server.startMillis,
    stop: async () => {
      await stopServer(server)
      await remove()
    }
  }
}

/** The same running gateway, choosing among all of its models. @param {Gateway} gateway @returns {Gateway} */
export const choosing = (gateway) => ({ ...gateway, name: `${gateway.name} auto`, model: "auto", stop: async () => {} })

/** One provider with many models, so that routing has something to choose from; nothing times out while it is measured. @param {Running} upstream */
const configuration = (upstream) => ({
  providers: [
    {
      id: "bench",
      protocol: "openai-chat",
      baseUrl: `http://127.0.0.1:${upstream.port}/v1`,
      models: Array.from({ length: modelCount }, (_, index) => ({
        id: `bench/model-${index}`,
        upstreamModel: `model-${index}`,
        inputPriceMicroUsdPerMillion: 100_000 + ((index * 7_919) % 97) * 50_000,
        outputPriceMicroUsdPerMillion: 400_000 + ((index * 104_729) % 97) * 200_000,
        contextTokens: 200_000,
        outputTokens: 32_000,
        quality: 0.4 + ((index * 31) % 50) / 100
      }))
    }
  ],
  timeouts: { idleMillis: 600_000 }
})
