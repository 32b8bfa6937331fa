import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import Pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Service, startService } from "../support/Service.ts"
import { whenSeen } from "../support/WhenSeen.ts"

const server = process.env["TEST_DATABASE_URL"]
const password = "hunter2-hunter2"
const testMillis = 60_000

/** What the process prints when it does not start, and its exit code. */
const refused = async (databaseUrl: string): Promise<{ readonly code: number; readonly said: string }> => {
  const outcome = await startService({ env: { DATABASE_URL: databaseUrl } }).then(
    async (service) => {
      await service.stop()
      return "it started"
    },
    (error: unknown) => String(error)
  )
  const [, code, said] = /the service ended with (\d+):\n(.*)$/s.exec(outcome) ?? []
  expect(outcome).not.toContain(password)
  expect(outcome).not.toMatch(/\n\s+at /)
  return { code: Number(code), said: said ?? outcome }
}

describe("a DATABASE_URL that is no URL", () => {
  it("is a fault of the configuration", { timeout: testMillis }, async () => {
    const { code, said } = await refused(`postgres://user:${password}@host:port/database`)
    expect(code).toBe(78)
    expect(said).toContain("DATABASE_URL must be a URL")
  })
})

describe("a server that is older than the gateway can use", () => {
  const message = (type: string, body: Buffer): Buffer => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length + 4)
    return Buffer.concat([Buffer.from(type), length, body])
  }
  const row = Buffer.concat([Buffer.from([0, 1, 0, 0, 0, 6]), Buffer.from("9.2.24")])
  const column = Buffer.concat([Buffer.from([0, 1]), Buffer.from("version\0"), Buffer.alloc(18)])
  const ready = message("Z", Buffer.from("I"))

  it("is named with its version", { timeout: testMillis }, async () => {
    const old = createServer((socket) => {
      let started = false
      socket.on("error", () => {})
      socket.on("data", (data) => {
        if (!started) {
          started = true
          socket.write(Buffer.concat([message("R", Buffer.alloc(4)), ready]))
        } else if (data[0] === 0x51) {
          socket.write(
            Buffer.concat([message("T", column), message("D", row), message("C", Buffer.from("SELECT 1\0")), ready])
          )
        }
      })
    }).listen(0, "127.0.0.1")
    await once(old, "listening")
    const { code, said } = await refused(
      `postgres://user:${password}@127.0.0.1:${(old.address() as AddressInfo).port}/old?sslmode=disable`
    )
    old.close()
    expect(code).toBe(1)
    expect(said).toContain("its server is PostgreSQL 9.2.24; the gateway needs 14 or newer")
  })
})

describe.skipIf(server === undefined)("a database that cannot be used is named with the reason", () => {
  const suffix = randomBytes(6).toString("hex")
  const [database, role] = [`fault_${suffix}`, `fault_role_${suffix}`]
  let admin: Pg.Client
  let inside: Pg.Client
  const urlOf = (over: Partial<Record<"pathname" | "username" | "password" | "port", string>>): string =>
    Object.assign(new URL(server ?? ""), { pathname: `/${database}`, ...over }).href

  beforeAll(async () => {
    admin = new Pg.Client({ connectionString: server })
    await admin.connect()
    await admin.query(`create database ${database}`)
    await admin.query(`create role ${role} login password '${password}'`)
    inside = new Pg.Client({ connectionString: urlOf({}) })
    await inside.connect()
  })
  afterAll(async () => {
    await inside.end()
    await admin.query(`drop database ${database} with (force)`)
    await admin.query(`drop role ${role}`)
    await admin.end()
  })

  it("missing privileges", { timeout: testMillis }, async () => {
    await inside.query("revoke create on schema public from public")
    const { code, said } = await refused(urlOf({ username: role, password }))
    expect(code).toBe(1)
    expect(said).toContain("permission denied for schema public (SQLSTATE 42501): the role has to own")
  })

  it("read-only", { timeout: testMillis }, async () => {
    await admin.query(`alter database ${database} set default_transaction_read_only = on`)
    const { said } = await refused(urlOf({}))
    await admin.query(`alter database ${database} reset default_transaction_read_only`)
    expect(said).toContain("read-only transaction (SQLSTATE 25006): it is read-only")
  })

  it("no connection left", { timeout: testMillis }, async () => {
    await admin.query(`alter role ${role} connection limit 0`)
    const { said } = await refused(urlOf({ username: role, password }))
    await admin.query(`alter role ${role} connection limit -1`)
    expect(said).toContain("(SQLSTATE 53300): all processes together open more connections than it allows")
    expect(said).toContain("DATABASE_POOL_SIZE")
  })

  it.each([
    [
      "a table of the same name",
      "create table scope (nothing int)",
      "drop table scope",
      "already exists (SQLSTATE 42P07)"
    ],
    ["a foreign migration table", "create table migration (version int)", "drop table migration", "(SQLSTATE 42703)"]
  ])("%s", { timeout: testMillis }, async (_, before, after, reason) => {
    await inside.query(before)
    const { said } = await refused(urlOf({}))
    await inside.query(after)
    expect(said).toContain(reason)
    expect(said).toContain("give the gateway a database of its own")
  })

  it("no such database, no such role, nobody there", { timeout: testMillis }, async () => {
    expect((await refused(urlOf({ pathname: "/no_such_database" }))).said).toContain(
      'database "no_such_database" does not exist (SQLSTATE 3D000): create it; the gateway makes its tables only'
    )
    expect((await refused(urlOf({ username: "no_such_role", password }))).said).toContain("no_such_role")
    expect((await refused(urlOf({ port: "1" }))).said).toContain("ECONNREFUSED")
  })
})

describe.skipIf(server === undefined)("a running service whose database turns read-only", () => {
  it("is not ready and says why, and is ready again by itself", { timeout: testMillis }, async () => {
    const url = new URL(server ?? "")
    const name = `readonly_${randomBytes(6).toString("hex")}`
    const admin = new Pg.Client({ connectionString: url.href })
    await admin.connect()
    await admin.query(`create database ${name}`)
    /** For new sessions, which is why the old ones are ended. */
    const turn = async (mode: "on" | "off"): Promise<void> => {
      await admin.query(`alter database ${name} set default_transaction_read_only = ${mode}`)
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name])
    }
    const readyIs = async (service: Service, status: number): Promise<void> => {
      const is = await whenSeen(
        async () => (await service.fetch("/readyz")).status,
        (seen) => seen === status
      )
      expect(is).toBe(status)
    }
    const call = async (service: Service): Promise<number> =>
      (await service.post("/v1/chat/completions", { model: "sim/fast", messages: [{ role: "user", content: "hi" }] }))
        .status

    const service = await startService({
      env: { DATABASE_URL: Object.assign(new URL(url), { pathname: `/${name}` }).href }
    })
    expect(await call(service)).toBe(200)
    await turn("on")
    await readyIs(service, 503)
    expect(
      await whenSeen(
        () => call(service),
        (status) => status === 503
      )
    ).toBe(503)
    expect(await (await service.fetch("/readyz")).json()).toEqual({ status: "store_unavailable", reason: "read_only" })
    await turn("off")
    await readyIs(service, 200)
    expect(
      await whenSeen(
        () => call(service),
        (status) => status === 200
      )
    ).toBe(200)
    expect(await service.stop()).toBe(0)
    const lines = service.output().split("\n")
    expect(lines.filter((line) => line.includes("the database takes no writes")).length).toBeGreaterThanOrEqual(1)
    expect(lines.some((line) => line.includes("SQLSTATE 25006"))).toBe(true)
    expect(lines.some((line) => line.includes("the database takes writes again"))).toBe(true)
    expect(service.output()).not.toContain(url.href)
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
})

describe.skipIf(server === undefined)("a running service whose database refuses connections", () => {
  it("says why it hears nothing of other nodes", { timeout: testMillis }, async () => {
    const url = new URL(server ?? "")
    const name = `closed_${randomBytes(6).toString("hex")}`
    const admin = new Pg.Client({ connectionString: url.href })
    await admin.connect()
    await admin.query(`create database ${name}`)
    const service = await startService({
      env: { DATABASE_URL: Object.assign(new URL(url), { pathname: `/${name}` }).href }
    })
    await admin.query(`alter database ${name} allow_connections false`)
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name])
    const said = /no change notifications from other nodes: database .* is not currently accepting connections/
    await expect.poll(() => service.output()).toMatch(said)
    await admin.query(`alter database ${name} allow_connections true`)
    expect(await service.stop()).toBe(0)
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
})
