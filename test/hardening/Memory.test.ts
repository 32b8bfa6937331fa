// Promise: Slow and rude clients cost little.
import { readFile } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { expect, it } from "vitest"
import { figure, isLong } from "../support/Figures.ts"
import { type Service, startService, testKey } from "../support/Service.ts"
import { start as startUpstream } from "../support/Upstream.ts"

const rssMiB = async ({ process: child }: Service): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024

const streams = 200

it.runIf(isLong && process.platform === "linux")(
  "200 streams that nobody reads cost a node little memory",
  async () => {
    const upstream = await startUpstream()
    const service = await startService({
      config: {
        providers: [
          {
            id: "one",
            protocol: "openai-chat",
            baseUrl: upstream.baseUrl,
            models: ["ok", "endless"].map((name) => ({
              id: `one/${name}`,
              inputPriceMicroUsdPerMillion: 1,
              outputPriceMicroUsdPerMillion: 1,
              contextTokens: 100_000,
              outputTokens: 4_000
            }))
          }
        ]
      }
    })
    const body = (model: string) => ({ model, stream: true, messages: [{ role: "user", content: "hi" }] })
    for (let n = 0; n < 500; n++) await (await service.post("/v1/chat/completions", body("one/ok"))).text()
    const before = await rssMiB(service)
    const text = JSON.stringify(body("one/endless"))
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`
    const sockets = Array.from({ length: streams }, (): Socket => {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1")
      socket.on("connect", () => {
        socket.pause()
        socket.write(head + text)
      })
      socket.on("error", () => {})
      return socket
    })
    await upstream.received(500 + streams)
    // five seconds in which producers that were not held back would make gigabytes
    for (let n = 0; n < 10; n++) await new Promise((resolve) => setTimeout(resolve, 500))
    const grown = (await rssMiB(service)) - before
    figure(`MiB that a node grows by for ${streams} streams that are not read`, grown.toFixed(0))
    expect(grown).toBeLessThan(100)
    for (const socket of sockets) socket.destroy()
    await service.stop()
    await upstream.stop()
  },
  300_000
)
