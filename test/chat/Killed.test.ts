import { once } from "node:events"
import Pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { balanceOf } from "../dashboard/Journey.ts"
import { type Api, operatorApi } from "../dashboard/Seeded.ts"
import { postgresServer } from "../ledger/databases.ts"
import { configOf, type Detail, startTalker, type Talker } from "../support/Chat.ts"
import { masterKey, type Service, startService } from "../support/Service.ts"

const swept = { timeout: 60_000, interval: 250 }

/** As if the node that is gone had been silent for two minutes, and the other one, which is heard again at once, had not. */
const ageNodes = async (connectionString: string): Promise<void> => {
  const client = new Pg.Client({ connectionString })
  await client.connect()
  await client.query(`update node set heard_since = heard_since - interval '2 minutes',
    seen_at = case when id = (select node_id from conversation where turn_id is not null)
      then seen_at - interval '2 minutes' else seen_at end`)
  await client.end()
}

describe.skipIf(postgresServer === undefined)("an answer whose node is killed", () => {
  let talker: Talker
  let nodes: ReadonlyArray<Service> = []
  beforeAll(async () => {
    talker = await startTalker()
    const config = configOf(talker)
    const first = await startService({ config, env: { PROVIDER_KEY: "sk-upstream", GATEWAY_MASTER_KEY: masterKey } })
    const { DATABASE_URL = "", GATEWAY_MASTER_KEY = "", PROVIDER_KEY = "" } = first.env
    nodes = [first, await startService({ config, env: { DATABASE_URL, GATEWAY_MASTER_KEY, PROVIDER_KEY } })]
  }, 120_000)
  afterAll(async () => {
    for (const node of nodes.toReversed()) await node.stop()
    await talker.stop()
  })

  it("is ended as interrupted by the other node, with its text, and nothing is charged", {
    timeout: 120_000
  }, async () => {
    const [killed, other] = nodes
    if (killed === undefined || other === undefined) throw new Error("there are two nodes")
    const [atKilled, atOther]: ReadonlyArray<Api> = [await operatorApi(killed), await operatorApi(other)]
    if (atKilled === undefined || atOther === undefined) throw new Error("there are two nodes")
    const me = await atKilled<{ readonly default_project_id: string }>("GET", "/api/me")
    const { id } = await atKilled<{ readonly id: string }>("POST", "/api/chat/conversations", {
      project_id: me.default_project_id
    })
    const path = `/api/chat/conversations/${id}`
    await atKilled("POST", `${path}/messages`, { content: "Write", model: "acme/large", artifacts: false })
    const text = "die erste Hälfte, 漢字, 👩‍🚀 und 🇫🇷"
    ;(await talker.talk(0)).say(text)
    const answer = async () => (await atOther<Detail>("GET", path)).messages[1]
    await expect.poll(answer).toMatchObject({ status: "streaming", content: text })
    expect((await balanceOf(atOther)).held_microusd).toBeGreaterThan(0)

    killed.process.kill("SIGKILL")
    await once(killed.process, "exit")
    await ageNodes(killed.env["DATABASE_URL"] ?? "")
    await expect
      .poll(answer, swept)
      .toMatchObject({ status: "interrupted", content: text, cost: { amount_microusd: 0 } })
    // the hold expires after a minute of silence that the ledger itself has seen: `test/e2e/ChatCrash.test.ts`
    expect((await balanceOf(atOther)).spent_microusd).toBe(0)
  })
})
