import { describe, expect, it } from "vitest"
import { startFaultHarness } from "./FaultHarness.ts"
import { fullText } from "./FaultServer.ts"

const modes = (["chat", "responses", "messages"] as const).flatMap((endpoint) =>
  [true, false].map((stream) => [endpoint, stream] as const)
)
const placeOf = (endpoint: string, stream: boolean) => ({
  provider: `${endpoint}-${stream}`,
  fault: "reset-reused",
  atOrigin: false
})

describe("5 a reused connection that is reset before any byte", () => {
  it.each(modes)("%s, stream %s: the same route is asked again, and nobody notices", async (endpoint, stream) => {
    const asked = { endpoint, stream, more: {} }
    const place = placeOf(endpoint, stream)
    // a harness of its own: after a few such resets an origin's connections are not used again
    const harness = await startFaultHarness([place], false)
    await harness.alone(place, asked)
    const { seen, settled } = await harness.alone(place, asked)
    await harness.stop()
    expect([seen.ends, seen.text]).toEqual(["answered", fullText])
    expect(settled.record.attempts.map(({ error, status }) => [status, error?.code])).toEqual([
      ["error", "provider_unreachable"],
      ["success", undefined]
    ])
    expect([settled.record.status, settled.record.cost.amount_microusd]).toEqual(["success", 130])
  })
})
