import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { readStream } from "../support/EventStream.ts"
import { type Service, type ServiceOptions, startService } from "../support/Service.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

const databaseUrl = process.env["TEST_DATABASE_URL"]

let upstream: Upstream
let service: Service | undefined
beforeEach(async () => {
  upstream = await startUpstream()
})
afterEach(async () => {
  // a test that has not got to its own stop
  if (service?.process.exitCode === null && service.process.signalCode === null) await service.stop("SIGKILL")
  service = undefined
  await upstream.stop()
})

const start = async (env: ServiceOptions["env"] = {}): Promise<Service> => {
  service = await startService({
    env,
    config: {
      providers: [
        {
          id: "one",
          protocol: "openai-chat",
          baseUrl: upstream.baseUrl,
          models: ["held-mid", "malformed"].map((name) => ({
            id: `one/${name}`,
            inputPriceMicroUsdPerMillion: 1_000_000,
            outputPriceMicroUsdPerMillion: 2_000_000,
            contextTokens: 100_000,
            outputTokens: 4_000
          }))
        }
      ]
    }
  })
  return service
}

const messages = [{ role: "user", content: "hi" }]
const stream = (on: Service) => on.post("/v1/chat/completions", { model: "one/held-mid", stream: true, messages })
const drains = async (on: Service): Promise<void> => {
  while ((await on.fetch("/readyz")).status !== 503) {}
}
/** Resolves when this has been printed. */
const printed = async (on: Service, text: string): Promise<void> => {
  while (!on.output().includes(text)) await once(on.process.stderr ?? on.process, "data")
}
const lines = (text: string, part: string): number => text.split("\n").filter((line) => line.includes(part)).length
const testMillis = 90_000

describe("a process whose log nobody reads any more", { timeout: testMillis }, () => {
  it.each(["stderr", "stdout"] as const)("(%s is closed) goes on, and finishes its streams", async (name) => {
    const running = await start()
    const begun = await stream(running)
    await upstream.received(1)
    running.process[name]?.destroy()
    // each of them is a line of the log
    for (let n = 0; n < 3; n++) running.process.kill("SIGUSR2")
    expect((await running.fetch("/readyz")).status).toBe(200)
    upstream.release()
    const { content, isDone } = await readStream(begun)
    expect([content, isDone]).toEqual(["first second", true])
    expect(await running.stop()).toBe(0)
  })
})

describe("signals", { timeout: testMillis }, () => {
  it.each(["SIGTERM", "SIGINT", "SIGQUIT"] as const)("%s lets what runs finish and ends with 0", async (signal) => {
    const running = await start()
    const begun = await stream(running)
    running.process.kill(signal)
    await drains(running)
    upstream.release()
    const { content, isDone } = await readStream(begun)
    expect([content, isDone]).toEqual(["first second", true])
    expect(await running.stop()).toBe(0)
  })

  it("that have no meaning here are ignored with a line in the log, and open no inspector", async () => {
    const running = await start()
    const begun = await stream(running)
    for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
      running.process.kill(signal)
      await printed(running, `${signal} was received and is ignored`)
      expect(lines(running.output(), signal)).toBe(1)
    }
    expect(running.output()).not.toContain("Debugger listening")
    upstream.release()
    expect((await readStream(begun)).isDone).toBe(true)
    expect(await running.stop()).toBe(0)
  })
})

describe.skipIf(databaseUrl === undefined)("signals with several workers", { timeout: testMillis }, () => {
  const workersOf = async (running: Service): Promise<ReadonlyArray<number>> => {
    const pid = running.process.pid ?? 0
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
    return children.trim().split(" ").map(Number)
  }
  it("a signal to all processes at once drains them, as a single one does", async () => {
    const running = await start({ WORKERS: "2" })
    const begun = await Promise.all(Array.from({ length: 4 }, () => stream(running)))
    await upstream.received(4)
    for (const pid of [running.process.pid ?? 0, ...(await workersOf(running))]) process.kill(pid, "SIGTERM")
    await drains(running)
    upstream.release()
    for (const each of begun) {
      const { content, isDone } = await readStream(each)
      expect([content, isDone]).toEqual(["first second", true])
    }
    expect(await running.stop()).toBe(0)
  })

  it("a second signal to the supervisor ends the streams with an error frame", async () => {
    const running = await start({ WORKERS: "2" })
    const begun = await Promise.all(Array.from({ length: 4 }, () => stream(running)))
    await upstream.received(4)
    running.process.kill("SIGUSR2")
    await printed(running, "SIGUSR2 was received and is ignored")
    running.process.kill("SIGTERM")
    await drains(running)
    running.process.kill("SIGTERM")
    for (const each of begun) {
      const { errors, isDone } = await readStream(each)
      expect([errors[0], isDone]).toMatchObject([{ code: "server_shutdown" }, false])
    }
    expect(await running.stop()).toBe(0)
  })
})
