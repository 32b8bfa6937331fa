import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freshDatabase } from "../ledger/databases.ts"
import { databaseVariables } from "../support/PostgresServer.ts"
import { flags, masterKey, startService } from "../support/Service.ts"

const postgres = process.env["TEST_DATABASE_URL"]
const bundle = fileURLToPath(new URL("../../dist/main.js", import.meta.url))
const other = Buffer.alloc(32, 9).toString("base64")

describe("a database that is opened with another master key than it was sealed under", () => {
  let folder: string
  let scope: Scope.CloseableScope
  /** Of the database, without any key. */
  let variables: Readonly<Record<string, string>>

  const started = (env: Readonly<Record<string, string>>) =>
    startService({ dataDir: join(folder, "data"), env: { ...variables, ...env } })
  const saidAtStart = async (env: Readonly<Record<string, string>>) => {
    const service = await started(env)
    await service.stop()
    return service.output()
  }
  const checked = (env: Readonly<Record<string, string>>, ...options: ReadonlyArray<string>) =>
    new Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }>((resolve) => {
      const given = { PATH: process.env["PATH"] ?? "", DATA_DIR: join(folder, "data"), ...variables, ...env }
      const args = [...flags, bundle, "check", ...options]
      execFile(process.execPath, args, { cwd: folder, env: given }, (failure, stdout, stderr) =>
        resolve({ code: failure?.code ?? 0, stdout, stderr })
      )
    })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-keys-"))
    scope = await Effect.runPromise(Scope.make())
    variables =
      postgres === undefined
        ? {}
        : databaseVariables(await Effect.runPromise(Scope.extend(freshDatabase(postgres), scope)))
    const service = await started({ GATEWAY_MASTER_KEY: masterKey })
    const [, code = ""] = /sign-in#code=(\S+)/.exec(service.output()) ?? []
    const send = async (path: string, body: unknown, token?: string) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const response = await service.fetch(path, {
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json", ...authorization },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      expect(response.status).toBeLessThan(300)
      return (await response.json()) as Record<string, string>
    }
    const { token } = await send("/api/session", { code, transport: "bearer" })
    const { default_project_id } = await send("/api/me", undefined, token)
    const credential = { provider: "openai", label: "ours", secret: "sk-of-a-project" }
    await send(`/api/projects/${default_project_id}/credentials`, credential, token)
    await service.stop()
  }, 120_000)
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await rm(folder, { recursive: true, force: true })
  })

  const issue =
    "GATEWAY_MASTER_KEY is not the key that this database was sealed under: of what was tried it opens 0 of 1 credentials of projects, and"

  it("is named by the start, which does not fail for it, and by check, which does", async () => {
    const { code, stderr } = await checked({ GATEWAY_MASTER_KEY: other })
    expect(stderr).toContain(issue)
    expect(code).toBe(1)
    const { stdout } = await checked({ GATEWAY_MASTER_KEY: other }, "--json")
    expect(JSON.parse(stdout)).toMatchObject({ warnings: [], problems: [{ path: "GATEWAY_MASTER_KEY" }] })
    expect(await saidAtStart({ GATEWAY_MASTER_KEY: other })).toContain(issue)
  })

  it("is nothing to name while the key before is known too", async () => {
    const both = { GATEWAY_MASTER_KEY: other, GATEWAY_MASTER_KEY_PREVIOUS: masterKey }
    for (const env of [both, { GATEWAY_MASTER_KEY: masterKey }]) {
      expect(await checked(env)).toMatchObject({ code: 0, stderr: "" })
      expect(await saidAtStart(env)).not.toContain("is not the key")
    }
  })

  it.skipIf(postgres !== undefined)("is named where its file was not restored, and check makes none", async () => {
    for (let time = 0; time < 2; time++) {
      const { code, stderr } = await checked({})
      expect(stderr).toContain(`${join(folder, "data", "master.key")} is not the key`)
      expect(code).toBe(1)
    }
    expect(await saidAtStart({})).toContain("master.key is not the key")
  })
})
