import * as Layer from "effect/Layer"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { AdmissionQueue, type QueueEntry } from "../../src/http/overload/AdmissionQueue.ts"
import { LoadShedding } from "../../src/http/overload/LoadShedding.ts"
import { warmUpCalls } from "../../src/http/overload/OverloadDetector.ts"
import { RejectionPace } from "../../src/http/overload/RejectionPace.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { model } from "../provider/protocols/calls.ts"
import { caller, type InProcess, startInProcess } from "../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess
const timers = VirtualTimers.make()
const pace = new RejectionPace(timers)
const queue: AdmissionQueue = new AdmissionQueue({
  timers,
  onAdmitted: pace.admitted,
  onTurnNeeded: () => void setImmediate(() => queue.turn(0)),
  onOverload: () => {},
  onWaited: () => {},
  onRejected: () => {},
  onChanged: () => {}
})
let entered: Array<QueueEntry> = []
/** How often it was asked whether a call is refused: a call that is let in counts until it has entered. */
let asked = 0

beforeAll(async () => {
  for (let call = 0; call < warmUpCalls; call++) {
    queue.enter("warm up").leave()
    queue.turn(0)
  }
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })],
    loadShedding: Layer.succeed(LoadShedding, {
      isOverloaded: () => queue.isOverloaded,
      rejects: (account) => {
        asked += 1
        return queue.rejects(account)
      },
      reject: (connection, refuse) => pace.add(connection, refuse),
      turn: (fibersMillis) => queue.turn(fibersMillis),
      enter: (account) => {
        const entry = queue.enter(account)
        entered.push(entry)
        return entry
      }
    })
  })
})
beforeEach(() => {
  entered = []
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const body = { model: "one/ok", messages: [{ role: "user", content: "hi" }] }
const ask = (init: RequestInit = {}) => gateway.post("/v1/chat/completions", body, init)

/** Calls of an account that hold and wait for slots, until the node is overloaded. */
const overload = (account: string = caller.accountId): (() => void) => {
  const entries = Array.from({ length: 500 }, () => queue.enter(account))
  for (let tick = 0; tick < 10 && !queue.isOverloaded; tick++) {
    entries.push(queue.enter(account))
    timers.advance(50)
  }
  expect(queue.isOverloaded).toBe(true)
  return () => {
    for (const entry of entries) entry.leave()
    timers.advance(2_000)
    expect(queue.isOverloaded).toBe(false)
  }
}

it("an overloaded node refuses calls before their bodies, says when to come back, keeps the connection, and recovers", async () => {
  expect((await ask()).status).toBe(200)
  const end = overload()
  const before = upstream.requests.length
  for (const refused of [await ask(), await gateway.post("/v1/responses", { model: "one/ok", input: "hi" })]) {
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"])
    expect(refused.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
    expect(refused.headers.get("connection")).toBe("keep-alive")
    expect(await refused.json()).toMatchObject({ error: { type: "server_error", code: "overloaded", param: null } })
  }
  const list = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: "Bearer a-key-of-this-test" } })
  expect(list.status).toBe(503)
  expect((await ask({ headers: { authorization: "Bearer nobody" } })).status).toBe(401)
  expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
  expect([upstream.requests.length, entered.length - 1]).toEqual([before, 0])
  end()
  expect((await ask()).status).toBe(200)
})

it("an overloaded node lets calls of another account in, and counts each of them once", async () => {
  expect((await ask()).status).toBe(200)
  const end = overload("another account")
  asked = 0
  const answer = ask()
  while (entered.length < 2) await new Promise(setImmediate)
  expect(asked).toBe(1)
  end()
  expect((await answer).status).toBe(200)
})

it("a call leaves its slot once its money is held, or however it ends before", async () => {
  expect((await ask()).status).toBe(200)
  expect((await gateway.post("/v1/chat/completions", { ...body, n: 2 })).status).toBe(400)
  expect((await gateway.post("/v1/chat/completions", { ...body, model: "one/none" })).status).toBe(404)
  expect(entered.map((entry) => entry.state)).toEqual(["left", "left", "left"])
})

it("a call that waits for a slot is served in its turn, and one whose client leaves gives its place back", async () => {
  const others = Array.from({ length: 60 }, () => queue.enter(caller.accountId))
  const controller = new AbortController()
  const waiting = () => entered.filter((entry) => entry.state === "waiting").length
  const served = ask()
  while (waiting() < 1) await new Promise(setImmediate)
  const left = ask({ signal: controller.signal }).catch((error: Error) => error.name)
  while (waiting() < 2) await new Promise(setImmediate)
  controller.abort()
  expect(await left).toBe("AbortError")
  while (waiting() > 1) await new Promise(setImmediate)
  for (const entry of others) entry.leave()
  expect((await served).status).toBe(200)
  expect(entered.map((entry) => entry.state)).toEqual(["left", "left"])
})
