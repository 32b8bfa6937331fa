import { once } from "node:events"
import { readFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { describe, expect, it } from "vitest"
import { type Service, startService, testKey } from "../support/Service.ts"
import { complaintsOf, samplesOf } from "../support/TextFormat.ts"

const databaseUrl = process.env["TEST_DATABASE_URL"]

describe.skipIf(databaseUrl === undefined)("several workers", () => {
  it("share one port, serve, and stop together", async () => {
    const service = await startService({ env: { WORKERS: "2" } })
    try {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          service.client.chat.completions.create({
            model: "sim/fast",
            messages: [{ role: "user", content: `Say ${index}.` }]
          })
        )
      )
      expect(answers.every((answer) => (answer.choices[0]?.message.content ?? "") !== "")).toBe(true)
      const scraped = async () => (await service.fetch("/metrics", { headers: { connection: "close" } })).text()
      // the port is open when the first of them listens
      await expect.poll(scraped).toContain('process_resident_memory_bytes{worker="2"}')
      // whichever worker a scrape reaches, it sees the calls of both
      for (let scrape = 0; scrape < 6; scrape++) {
        const page = await scraped()
        expect(complaintsOf(page)).toEqual([])
        const samples = samplesOf(page)
        expect(samples.get('gateway_calls_total{endpoint="chat",status="success"}')).toBe(8)
        for (const worker of ["1", "2"]) {
          expect(samples.get(`process_resident_memory_bytes{worker="${worker}"}`)).toBeGreaterThan(1_000_000)
        }
      }
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })
})

describe.skipIf(databaseUrl === undefined)("a call that one worker has answered", () => {
  it("is known to the others at once", async () => {
    const service = await startService({ env: { WORKERS: "2" } })
    try {
      await started(service, 2)
      const headers = { authorization: `Bearer ${testKey}`, connection: "close" }
      const messages = [{ role: "user", content: "Say hello." }]
      const statuses: Array<number> = []
      for (let call = 0; call < 8; call++) {
        const answered = await service.post("/v1/chat/completions", { model: "auto", messages }, headers)
        const id = answered.headers.get("x-request-id")
        const found =
          call % 2 === 0
            ? service.fetch(`/v1/generation?id=${id}`, { headers })
            : service.post("/v1/feedback", { request_id: id, score: 1 }, headers)
        statuses.push((await found).status)
      }
      expect(statuses).toEqual(statuses.map(() => 200))
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })
})

/** The process ids of the workers of a service. */
const workersOf = ({ process }: Service): ReadonlyArray<number> =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ").map(Number)

const lineOf = (service: Service, message: string): string =>
  service
    .output()
    .split("\n")
    .find((line) => line.includes(message)) ?? ""

describe.skipIf(databaseUrl === undefined || process.platform !== "linux")("a worker that is killed", () => {
  it("leaves no connection open that it was given and did not take, is named in the log, and is replaced", async () => {
    const service = await startService({ env: { WORKERS: "2" } })
    try {
      await started(service, 2)
      const [frozen = 0] = workersOf(service)
      process.kill(frozen, "SIGSTOP")
      // it is given one of them; the other worker takes all others
      let answered = 0
      const asked = Array.from({ length: 8 }, async () => {
        const answer = await service.fetch("/livez", { headers: { connection: "close" } })
        answered++
        return answer.status
      })
      await expect.poll(() => answered).toBe(asked.length - 1)
      process.kill(frozen, "SIGKILL")
      const ended = await Promise.allSettled(asked)
      expect(ended.filter(({ status }) => status === "rejected")).toHaveLength(1)
      const message = "a worker process exited unexpectedly and is restarted"
      await expect.poll(() => lineOf(service, message)).not.toBe("")
      expect(JSON.parse(lineOf(service, message))).toMatchObject({
        annotations: { worker: expect.stringMatching(/^[12]$/), pid: frozen, exitCode: null, signal: "SIGKILL" }
      })
      await started(service, 3)
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })
})

/** How often this was printed. */
const timesOf = (service: Service, text: string): number => service.output().split(text).length - 1

const started = (service: Service, times: number) =>
  expect.poll(() => timesOf(service, '"started"'), { timeout: 30_000 }).toBe(times)

describe.skipIf(databaseUrl === undefined || process.platform !== "linux")("what a start says", () => {
  it("is said once by all workers, not again by one that replaces another, and is right at a later start", async () => {
    const first = await startService({ env: { WORKERS: "2" } })
    const url = first.env["DATABASE_URL"] ?? ""
    let later: Service | undefined
    try {
      await started(first, 2)
      process.kill(workersOf(first)[0] ?? 0, "SIGKILL")
      await started(first, 3)
      for (const text of ["Model routing gateway at", "Dashboard http", "Try it:"]) {
        expect([text, timesOf(first, text)]).toEqual([text, 1])
      }
      expect(first.output()).not.toContain("were ignored")

      later = await startService({ env: { WORKERS: "2", DATABASE_URL: url } })
      await started(later, 2)
      for (const text of ["Model routing gateway at", "Dashboard http", "GATEWAY_BOOTSTRAP_* were ignored"]) {
        expect([text, timesOf(later, text)]).toEqual([text, 1])
      }
    } finally {
      await later?.stop()
      expect(await first.stop()).toBe(0)
    }
  })
})

describe.skipIf(databaseUrl === undefined)("several workers of which none can listen", () => {
  it("end the service, as one does, and the first key is printed once", async () => {
    const occupied = createServer().listen(0, "127.0.0.1")
    await once(occupied, "listening")
    const env = { WORKERS: "2", GATEWAY_BOOTSTRAP_KEY: "", PORT: String((occupied.address() as AddressInfo).port) }
    const failed = await startService({ env }).then(
      async (service) => `it listens: ${await service.stop()}`,
      (error: unknown) => String(error)
    )
    occupied.close()
    expect(failed).toContain("ended with 1:")
    expect(failed).toContain("is in use by another process")
    expect(failed.match(/API key/g)).toHaveLength(1)
  })
})

describe.skipIf(databaseUrl !== undefined)("several workers on the embedded database", () => {
  it("are a configuration fault", async () => {
    const refused = await startService({ env: { WORKERS: "2" } }).then(
      async (service) => {
        await service.stop()
        return "started"
      },
      (error: unknown) => String(error)
    )
    expect(refused).toContain("ended with 78")
    expect(refused).toContain("DATABASE_URL")
  })
})
