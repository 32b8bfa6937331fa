// @ts-check
// The two gateways between the official client and the fault server, each with a faulty route and a healthy one after it.
import { apiKey, startGateway } from "../../acceptance/gateway.mjs"
import * as Portkey from "./peer/portkey.mjs"

/** @import { Target } from "./verdict.mjs" */
/** @import { FaultRow } from "./rows.mjs" */

/**
 * One fault in one mode; `at` is the number of its row here.
 *
 * @typedef {Omit<FaultRow, "modes"> & FaultRow["modes"][number] & { at: number, baseUrl: string }} Cell
 */

/**
 * A gateway under test.
 *
 * @typedef {{
 *   name: string
 *   asking: (cell: Cell) => Promise<Target>
 *   after: (call: { endsItself: boolean }) => Promise<void>
 *   stop: () => Promise<void>
 * }} Side
 */

/** A twentieth of what our gateway grants by default, as in the suite; the peer has the same for the head of an answer. */
const firstContentMillis = 750
const plainAnswerMillis = 1_500
const timing = {
  timeouts: { connectMillis: 250, firstContentMillis, plainAnswerMillis, idleMillis: 1_000, totalMillis: 30_000 },
  headHoldMillis: 500
}

/** Every cell has a provider of its own, so that no fault is held against another. @param {Pick<Cell, "at" | "stream">} cell */
const providerOf = ({ at, stream }) => `p${at}-${stream ? "stream" : "plain"}`
const spare = "spare/ok"

/** @param {string} id @param {string} upstreamModel @param {number} quality @param {number} contextTokens */
const model = (id, upstreamModel, quality, contextTokens) => ({
  id,
  upstreamModel,
  quality,
  contextTokens,
  inputPriceMicroUsdPerMillion: 1_000_000,
  outputPriceMicroUsdPerMillion: 2_000_000,
  outputTokens: 8_000
})

/** @param {string} id @param {string} baseUrl @param {ReadonlyArray<ReturnType<typeof model>>} models */
const provider = (id, baseUrl, models) => ({ id, protocol: "openai-chat", baseUrl, models })

/** @param {{ bundle: string, cells: ReadonlyArray<Cell>, healthy: string }} options @returns {Promise<Side>} */
export const startOurs = async ({ bundle, cells, healthy }) => {
  const gateway = await startGateway({
    bundle,
    env: { SIMULATED_PROVIDERS: "off" },
    config: {
      ...timing,
      policy: { default_alpha: 1 },
      providers: [
        provider("spare", healthy, [model(spare, "ok", 0.5, 200_000)]),
        ...cells.map((cell) =>
          provider(providerOf(cell), cell.baseUrl, [model(`${providerOf(cell)}/faulty`, cell.fault, 0.9, 50_000)])
        )
      ]
    }
  })
  return {
    name: "ours",
    /** What the judge has to know to ask for this cell. */
    asking: async (cell) => ({
      apiKey,
      baseURL: gateway.access.baseURL,
      headers: {},
      model: "auto",
      more: { models: { allow: [`${providerOf(cell)}/faulty`, spare] } },
      pid: gateway.pid
    }),
    after: async () => {},
    stop: gateway.stop
  }
}

/** @param {{ cells: ReadonlyArray<Cell>, healthy: string }} options @returns {Promise<Side>} */
export const startPeer = async ({ cells, healthy }) => {
  const hosts = ["localhost", ...new Set(cells.map(({ baseUrl }) => new URL(baseUrl).hostname))]
  let running = await Portkey.start(hosts)
  return {
    name: `${Portkey.name} ${Portkey.version}`,
    asking: async ({ baseUrl, fault, stream }) => {
      const targets = [
        { baseUrl, model: fault },
        { baseUrl: healthy, model: "ok" }
      ]
      return {
        apiKey: "none",
        baseURL: `${running.origin}/v1`,
        headers: { "x-portkey-config": Portkey.fallback(targets, stream ? firstContentMillis : plainAnswerMillis) },
        model: "ok",
        more: {},
        pid: running.pid
      }
    },
    /** What it still does for a call that nobody waits for must not slow the next one down. */
    after: async ({ endsItself }) => {
      if (endsItself && running.isRunning()) return
      await running.stop()
      running = await Portkey.start(hosts)
    },
    stop: () => running.stop()
  }
}
