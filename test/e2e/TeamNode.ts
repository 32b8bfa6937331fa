import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { type AccountNode, type databaseKinds, openDatabase, startNode } from "../support/AccountService.ts"
import { answer, start as startUpstream, type Upstream } from "../support/Upstream.ts"

export const operatorSecret = "sk-of-the-operator-0001"
export const ownSecret = "sk-of-the-team-itself-02"
/** Of a key, in micro-USD: enough for some calls. */
export const keyLimit = 10_000
/** More than such a key can pay. */
export const maxCalls = 50
export const model = {
  id: "acme/small",
  inputPriceMicroUsdPerMillion: 100_000_000,
  outputPriceMicroUsdPerMillion: 400_000_000,
  contextTokens: 100_000,
  outputTokens: 4_096
}

/** A service with one provider of its own and the local checkout, for what a team does in its first hour. */
export interface TeamNode {
  readonly node: AccountNode
  readonly upstream: Upstream
  /** Waits until all that has ended is settled. */
  readonly flushed: () => Promise<void>
  /** What of the ledger does not add up. */
  readonly violations: () => Promise<ReadonlyArray<unknown>>
  readonly stop: () => Promise<void>
}

export const startTeamNode = async (kind: (typeof databaseKinds)[number]): Promise<TeamNode> => {
  const database = await openDatabase(kind)
  const upstream = await startUpstream((received, response) => answer(received, response, ["Hello"]))
  const directory = await mkdtemp(join(tmpdir(), "team-"))
  const config = join(directory, "config.json")
  const provider = { id: "acme", protocol: "openai-chat", baseUrl: upstream.baseUrl, apiKeyEnv: "PROVIDER_KEY" }
  await writeFile(config, JSON.stringify({ providers: [{ ...provider, models: [model] }] }))
  const node = await startNode({
    ...database.env,
    GATEWAY_CONFIG: config,
    PROVIDER_KEY: operatorSecret,
    SIMULATED_PROVIDERS: "on",
    LOCAL_CHECKOUT: "on"
  })
  return {
    node,
    upstream,
    flushed: () => node.run(Effect.flatMap(Ledger, (ledger) => ledger.flushed)),
    violations: () => node.run(Effect.flatMap(Ledger, (ledger) => ledger.checkInvariants)),
    stop: async () => {
      await node.stop()
      await upstream.stop()
      await database.close()
      await rm(directory, { recursive: true })
    }
  }
}
