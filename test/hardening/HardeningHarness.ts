import { monitorEventLoopDelay } from "node:perf_hooks"
import { expect } from "vitest"
import { model } from "../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

/** A gateway to throw things at, and what has become of it. */
export interface HardeningHarness {
  readonly gateway: InProcess
  readonly upstream: Upstream
  readonly send: (path: string, body: string | Uint8Array) => Promise<Response>
  /** The answer is one of ours: a whole one, or an error of the documented form that blames the client. */
  readonly expectAnswer: (response: Response, about: unknown) => Promise<void>
  /** The same for an error. */
  readonly expectError: (response: Response, about: unknown) => Promise<void>
  /** Longest time that nothing else could run, in milliseconds. */
  readonly maxStallMillis: () => number
  /** Nothing has leaked, broken or stayed behind. */
  readonly stop: () => Promise<void>
}

export const paths = ["/v1/chat/completions", "/v1/responses"] as const

export const startHardeningHarness = async (): Promise<HardeningHarness> => {
  const upstream = await startUpstream()
  const gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })],
    creditMicroUsd: 1_000_000_000_000
  })
  const loop = monitorEventLoopDelay({ resolution: 5 })
  loop.enable()
  const defects = await defectsOf(gateway)
  return {
    gateway,
    upstream,
    send: (path, body) =>
      fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json" },
        body
      }),
    expectAnswer: async (response, about) => {
      if (response.status === 200) {
        const text = await response.text()
        const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
        expect(isStream ? text.endsWith("data: [DONE]\n\n") : JSON.parse(text), JSON.stringify(about)).toBeTruthy()
      } else await expectError(response, about)
    },
    expectError,
    maxStallMillis: () => loop.max / 1e6,
    stop: async () => {
      loop.disable()
      expect(Reflect.get({}, "polluted")).toBeUndefined()
      expect(await defectsOf(gateway)).toBe(defects)
      expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
      expect(await gateway.audit()).toEqual([])
      expect(await gateway.held()).toBe(0)
      await gateway.stop()
      await upstream.stop()
    }
  }
}

const expectError = async (response: Response, about: unknown): Promise<void> => {
  const said = JSON.stringify(about)?.slice(0, 300)
  expect([400, 404], said).toContain(response.status)
  const { error }: { readonly error: Readonly<Record<string, unknown>> } = JSON.parse(await response.text())
  expect(error, said).toMatchObject({
    type: "invalid_request_error",
    code: expect.stringMatching(/^[a-z0-9_]+$/),
    message: expect.stringMatching(/./)
  })
  expect(error["param"] === null || typeof error["param"] === "string", said).toBe(true)
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
}

const defectsOf = async ({ url }: InProcess): Promise<string> =>
  /gateway_defects_total\S* (\d+)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1] ?? "0"

/** Runs all of it, a few at a time. */
export const each = async <A>(items: Iterable<A>, use: (item: A) => Promise<void>, atOnce = 16): Promise<number> => {
  const left = items[Symbol.iterator]()
  let count = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = left.next(); next.done !== true; next = left.next()) {
        count++
        await use(next.value)
      }
    })
  )
  return count
}
