import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { emptyDatabase } from "../ledger/databases.ts"
import { flags, masterKey, type Service, startService, testKey } from "../support/Service.ts"

const databaseUrl = process.env["TEST_DATABASE_URL"]
const bundle = fileURLToPath(new URL("../../dist/main.js", import.meta.url))

/** Runs the program to its end. */
const runProgram = async (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  cwd: string
): Promise<{ readonly code: number; readonly out: string; readonly error: string }> => {
  const child = spawn(process.execPath, [...flags, bundle, ...words], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const said = { out: "", error: "" }
  child.stdout.on("data", (chunk: Buffer) => {
    said.out += chunk
  })
  child.stderr.on("data", (chunk: Buffer) => {
    said.error += chunk
  })
  const [code] = await once(child, "close")
  return { code: Number(code), ...said }
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-commands-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe("the command beside a running service", () => {
  let service: Service
  let env: Record<string, string>
  const json = async (...words: ReadonlyArray<string>) => {
    const { code, error, out } = await runProgram([...words, "--json"], env, folder)
    expect([code, error]).toEqual([0, ""])
    return JSON.parse(out)
  }

  beforeAll(async () => {
    const empty = { OIDC_ISSUER: "", OPENAI_API_KEY: "" }
    service = await startService({ env: empty, ...(databaseUrl === undefined && { dataDir: join(folder, "data") }) })
    env = { ...service.env, PORT: new URL(service.url).port }
  }, 60_000)
  afterAll(() => service.stop())

  it("makes, lists and revokes keys that work at once", async () => {
    const call = (key: string) =>
      service.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status)
    const created = await json("keys", "create", "--name", "backend", "--limit-usd", "1.50")
    expect(await call(created.api_key)).toBe(200)
    const listed = await json("keys", "list", "--project", "default")
    expect(listed).toMatchObject([
      { id: created.id, name: "backend", spend_limit_microusd: 1_500_000, is_active: true },
      { name: "default", is_active: true }
    ])
    expect(await json("keys", "revoke", created.id)).toMatchObject({ id: created.id, is_active: false })
    // on PostgreSQL the node hears of it
    while ((await call(created.api_key)) === 200) {}
    expect(await call(created.api_key)).toBe(401)
  }, 60_000)

  it("gives credit and shows balance and projects", async () => {
    expect(await json("credit", "add", "--usd", "0.5", "--note", "a test")).toMatchObject({
      credited_microusd: 25_500_000
    })
    expect(await json("balance")).toMatchObject({ available_microusd: 25_500_000, spent_microusd: 0 })
    expect(await json("projects")).toMatchObject([{ name: "default", spend_limit_microusd: null }])
  }, 60_000)

  it("says what it could not find, and ends with 1", async () => {
    expect(await runProgram(["keys", "list", "--project", "defualt"], env, folder)).toMatchObject({
      code: 1,
      error: "there is no project 'defualt'; did you mean 'default'?\n"
    })
    if (databaseUrl !== undefined) return
    const elsewhere = { ...env, PORT: "1" }
    expect((await runProgram(["balance"], elsewhere, folder)).error).toContain("none answers at http://127.0.0.1:1")
    const stranger = { ...env, GATEWAY_MASTER_KEY: Buffer.alloc(32, 9).toString("base64") }
    expect((await runProgram(["balance"], stranger, folder)).error).toContain("has another master key")
  }, 60_000)

  it.skipIf(databaseUrl !== undefined)(
    "works on the database itself once the service has stopped, and audits in the same way",
    async () => {
      await service.stop()
      expect(await json("balance")).toMatchObject({ credited_microusd: 25_500_000 })
      const created = await json("keys", "create")
      expect(await json("keys", "revoke", created.id)).toMatchObject({ is_active: false })
      const { code, out } = await runProgram(["audit:verify"], env, folder)
      // the sign-in link of the start, and six changes of commands
      expect([code, out]).toEqual([0, expect.stringContaining("6 rows of 1 accounts")])
    },
    60_000
  )
})

describe("the command by itself", () => {
  it("helps, tells its version and mints a key with a right checksum, without any settings", async () => {
    const wrong = { PORT: "seventy" }
    expect(await runProgram(["--version"], wrong, folder)).toMatchObject({ code: 0, out: "0.1.0\n" })
    expect((await runProgram(["--help"], wrong, folder)).out).toContain("keys create")
    const { code, out } = await runProgram(["keys", "mint"], wrong, folder)
    expect([code, out]).toEqual([0, expect.stringMatching(/^mrg_sk_[0-9A-Za-z]{38}\n$/)])
  }, 60_000)

  it.each<readonly [string, ReadonlyArray<string>, Readonly<Record<string, string>>, number, string]>([
    ["a wrong command line", ["keys", "lsit"], {}, 1, "did you mean 'keys list'?"],
    ["a wrong variable", ["check"], { PORT: "seventy" }, 78, "PORT must be"],
    ["no provider", ["check"], { SIMULATED_PROVIDERS: "off" }, 78, "SIMULATED_PROVIDERS is off"],
    ["no provider at a start", [], { SIMULATED_PROVIDERS: "off" }, 78, "OPENAI_API_KEY"],
    ["no database", ["balance"], { DATA_DIR: "nowhere" }, 1, "start the service once"]
  ])(
    "ends with the right code for %s",
    async (_, words, env, code, message) => {
      const ended = await runProgram(words, env, folder)
      expect([ended.code, ended.error]).toEqual([code, expect.stringContaining(message)])
    },
    60_000
  )

  it.each([["audit:verify"], ["reseal"], ["balance"]])(
    "makes no database, and says so, where %s finds none",
    async (word) => {
      const own = await mkdtemp(join(tmpdir(), "gateway-nothing-"))
      const ended = await runProgram([word], { DATA_DIR: own }, folder)
      const made = await readdir(own)
      await rm(own, { recursive: true, force: true })
      expect(ended).toEqual({ code: 1, out: "", error: `there is no database in ${own}: start the service once.\n` })
      expect(made).toEqual([])
    },
    60_000
  )

  it.skipIf(databaseUrl === undefined).each([["audit:verify"], ["reseal"], ["balance"]])(
    "does not migrate an empty database for %s",
    async (word) => {
      const twice = Effect.gen(function* () {
        const url = yield* emptyDatabase(databaseUrl ?? "")
        const env = { DATABASE_URL: url, GATEWAY_MASTER_KEY: Buffer.alloc(32, 1).toString("base64") }
        return yield* Effect.replicateEffect(
          Effect.promise(() => runProgram([word], env, folder)),
          2
        )
      })
      const ended = await Effect.runPromise(Effect.scoped(twice))
      const refused = { code: 1, out: "", error: "the database is empty: start the service once.\n" }
      expect(ended).toEqual([refused, refused])
    },
    60_000
  )

  it("says why a command failed, and nothing of the service", async () => {
    const { code, error } = await runProgram(["balance"], { DATABASE_URL: "postgres://root@127.0.0.1:1/none" }, folder)
    expect([code, error]).toEqual([1, expect.stringMatching(/^the PostgreSQL database of DATABASE_URL failed: /)])
  }, 60_000)

  it("reads .env, which says what is near and wrong", async () => {
    const own = await mkdtemp(join(tmpdir(), "gateway-dotenv-"))
    await writeFile(join(own, ".env"), "ANTHROPIC_KEY=x\nSIMULATED_PROVIDERS=on\n")
    const good = await runProgram(["check"], {}, own)
    expect([good.code, good.out]).toEqual([
      0,
      expect.stringContaining("warning: ANTHROPIC_KEY is not read; did you mean ANTHROPIC_API_KEY?")
    ])
    await writeFile(join(own, ".env"), "SIMULATED_PROVIDERS=on\nsk-live-1\n")
    const bad = await runProgram(["check"], {}, own)
    await rm(own, { recursive: true, force: true })
    expect([bad.code, bad.error]).toEqual([78, expect.stringContaining(".env line 2 is not of the form NAME=value")])
    expect(bad.error).not.toContain("sk-live-1")
  }, 60_000)

  it("fails a check where no start could open the database", async () => {
    const nowhere = { DATABASE_URL: "postgres://root@127.0.0.1:1/none", GATEWAY_MASTER_KEY: masterKey }
    const { code, error, out } = await runProgram(["check"], nowhere, folder)
    expect([code, error]).toEqual([1, expect.stringMatching(/^DATABASE_URL cannot be used now: connect ECONNREFUSED/)])
    expect(out).not.toContain("warning")
    const told = await runProgram(["check", "--json"], nowhere, folder)
    expect([told.code, JSON.parse(told.out)]).toMatchObject([1, { problems: [{ path: "DATABASE_URL" }], warnings: [] }])
  }, 60_000)

  it("tells in a check what is verified from what cannot be, and fails for neither", async () => {
    const listing = createServer((request, response) => {
      const isListed = request.url === "/listed/models"
      response.writeHead(isListed ? 200 : 404, { "content-type": "application/json" }).end("{}")
    }).listen(0, "127.0.0.1")
    await once(listing, "listening")
    const { port } = listing.address() as AddressInfo
    const model = {
      inputPriceMicroUsdPerMillion: 1,
      outputPriceMicroUsdPerMillion: 1,
      contextTokens: 1,
      outputTokens: 1
    }
    const provider = (id: string) => ({
      id,
      protocol: "openai-chat",
      baseUrl: `http://127.0.0.1:${port}/${id}`,
      models: [{ id: `${id}/one`, ...model }]
    })
    const file = join(folder, "check.json")
    await writeFile(file, JSON.stringify({ providers: [provider("listed"), provider("unlisted")] }))
    const own = { GATEWAY_CONFIG: file, DATA_DIR: join(folder, "none") }
    const { code, error, out } = await runProgram(["check"], own, folder)
    expect([code, error]).toEqual([0, ""])
    expect(out).toMatch(/^listed +none +verified +1 /m)
    expect(out).toMatch(/^unlisted +none +not verifiable: the provider has no list of models at its base URL +1 /m)
    expect(out).toContain("verified: 1, not usable: 0, not verifiable: 1")
    const { providers } = JSON.parse((await runProgram(["check", "--json"], own, folder)).out)
    listing.close()
    expect(providers).toMatchObject([
      { provider: "listed", status: "accepted", verdict: "verified" },
      { provider: "unlisted", status: "unknown", verdict: "not_verifiable" }
    ])
  }, 60_000)

  it("asks each provider in a check, and names the variable of one that refuses", async () => {
    const { code, error, out } = await runProgram(["check"], { OPENAI_API_KEY: testKey, GROQ_API_KEY: "" }, folder)
    expect([code, out]).toEqual([1, expect.stringMatching(/openai +OPENAI_API_KEY +not usable: /)])
    expect(error).toBe("not usable now: openai (OPENAI_API_KEY)\n")
    expect(out + error).not.toContain(testKey)
  }, 60_000)
})
