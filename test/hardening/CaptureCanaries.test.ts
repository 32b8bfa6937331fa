// Promise: No text of a call is in log, tables or files without opt-in and a collection that is on from its admission to its end.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { exportDatabase } from "../../src/app/TransferCommand.ts"
import { databaseKinds, openDatabase, sendTo } from "../support/AccountService.ts"
import { figure } from "../support/Figures.ts"
import { type Service, startService } from "../support/Service.ts"

const canaries = {
  beforeTheWindow: "canary-before-the-window-1111",
  withoutOptIn: "canary-without-opt-in-2222",
  notToBeStored: "canary-not-to-be-stored-3333",
  slow: "canary-of-a-slow-call-4444",
  afterTheWindow: "canary-after-the-window-5555",
  // what is kept is sealed
  kept: "canary-that-is-kept-6666"
}

describe.each(databaseKinds)("no text of a call is kept that should not be, on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let folder: string
  let service: Service
  beforeEach(async () => {
    database = await openDatabase(kind)
    folder = await mkdtemp(join(tmpdir(), "gateway-capture-"))
    service = await startService({
      env: {
        ...(kind === "embedded" ? {} : database.env),
        SIMULATED_PROVIDERS: "on",
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
        LOG_LEVEL: "all"
      },
      dataDir: join(folder, "data")
    })
  }, 60_000)
  afterEach(async () => {
    await service.stop()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })

  const call = async (canary: string, more: object = {}): Promise<Response> => {
    const response = await service.post("/v1/chat/completions", {
      model: "sim/fast",
      max_tokens: 12,
      token_doctor: true,
      user: `user of ${canary}`,
      messages: [{ role: "user", content: `Repeat: ${canary}` }],
      ...more
    })
    expect(response.status).toBe(200)
    return response
  }

  const memberOf = async () => {
    const code = /#code=(\S+)/.exec(service.output())?.[1] ?? ""
    const session = await sendTo(service.url, {})("POST", "/api/session", { code, transport: "bearer" })
    const { token } = (await session.json()) as { readonly token: string }
    const send = sendTo(service.url, { authorization: `Bearer ${token}` })
    return async <A>(method: string, path: string, body?: unknown): Promise<A> => {
      const response = await send(method, path, body)
      expect([method, path, response.ok]).toEqual([method, path, true])
      return (await response.json()) as A
    }
  }

  /** The service has ended: its tables as they are exported, and its folder as it lies on the disk, write-ahead log and all. */
  const stored = async (): Promise<Readonly<Record<string, string>> & { readonly dump: string }> => {
    const file = join(folder, "dump.ndjson")
    const url = "DATABASE_URL" in database.env ? Redacted.make(database.env.DATABASE_URL ?? "") : null
    await Effect.runPromise(
      exportDatabase({ databaseUrl: url, dataDirectory: join(folder, "data") }, file).pipe(
        Effect.provide(NodeFileSystem.layer)
      )
    )
    const entries = await readdir(join(folder, "data"), { recursive: true, withFileTypes: true }).catch(() => [])
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const contents = files.map(async (path) => [path, await readFile(path, "latin1")] as const)
    return { dump: await readFile(file, "utf8"), ...Object.fromEntries(await Promise.all(contents)) }
  }

  it("before, beside and after an open window, and where it closes in the middle of a call", async () => {
    const ask = await memberOf()
    const { default_project_id } = await ask<{ readonly default_project_id: string }>("GET", "/api/me")
    const capture = `/api/projects/${default_project_id}/capture`
    const set = async (enabled: boolean) => {
      const { config_version } = await ask<{ readonly config_version: number }>("GET", capture)
      await ask("PUT", capture, { enabled, sampling_rate: 1, config_version })
    }
    await (await call(canaries.beforeTheWindow)).text()
    await set(true)
    await (await call(canaries.withoutOptIn, { token_doctor: false })).text()
    await (await call(canaries.notToBeStored, { store: false })).text()
    const kept = await call(canaries.kept)
    const id = kept.headers.get("x-request-id")
    await kept.text()
    const samples = async () =>
      (await ask<{ readonly items: ReadonlyArray<{ readonly id: string }> }>("GET", `${capture}/samples`)).items
    await expect.poll(samples).toMatchObject([{ id }])
    expect(JSON.stringify(await ask("GET", `/api/capture/samples/${id}`))).toContain(canaries.kept)
    // its answer has begun, and goes on for seconds
    const reader = (await call(canaries.slow, { model: "sim/slow", stream: true })).body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await set(false)
    let text = ""
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      text += Buffer.from(part.value).toString("utf8")
    }
    expect(text).toContain("[DONE]")
    await (await call(canaries.afterTheWindow)).text()
    // its end writes what waits
    await service.stop()

    const places = { log: service.output(), ...(await stored()) }
    // what may be there is found
    expect(places.log).toContain('"logLevel":"DEBUG"')
    for (const model of ["sim/fast", "sim/slow"]) expect(places.dump).toContain(model)
    expect(places.dump).toContain(id)
    expect(Object.keys(places).some((name) => name.includes("pg_wal"))).toBe(kind === "embedded")
    const found = Object.entries(places).flatMap(([place, content]) =>
      Object.values(canaries).flatMap((canary) => {
        const forms = [canary, ...(["hex", "base64"] as const).map((form) => Buffer.from(canary).toString(form))]
        return forms.some((form) => content.includes(form.replace(/=+$/, ""))) ? [`${canary} in ${place}`] : []
      })
    )
    expect(found).toEqual([])
    figure(
      `bytes searched for ${Object.keys(canaries).length} texts, ${kind}`,
      Object.values(places).reduce((sum, content) => sum + content.length, 0)
    )
  }, 120_000)
})
