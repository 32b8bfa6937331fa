import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const bundle = fileURLToPath(new URL("../../dist/main.js", import.meta.url))

/** Starts the service where it cannot start; what it says, and its exit code. */
const fail = async (env: Readonly<Record<string, string>>, config?: unknown) => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-fails-"))
  const file = join(folder, "gateway.json")
  if (config !== undefined) await writeFile(file, typeof config === "string" ? config : JSON.stringify(config))
  const child = spawn(process.execPath, [bundle], {
    env: {
      PATH: process.env["PATH"] ?? "",
      DATA_DIR: join(folder, "data"),
      ...(config === undefined ? {} : { GATEWAY_CONFIG: file }),
      ...env
    },
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk
  })
  child.stderr.on("data", (chunk: Buffer) => {
    output += chunk
  })
  const [code] = await once(child, "close")
  await rm(folder, { recursive: true, force: true })
  return { code: Number(code), output }
}

describe("a service that cannot start", () => {
  it("lists every fault of environment and file at once, prints no secret, and ends with 78", async () => {
    const secrets = ["sk-live-0123456789abcdef", "mrg_sk_not-a-key-at-all"]
    const { code, output } = await fail(
      {
        PORT: "seventy",
        LOG_LEVEL: "loud",
        SIMULATED_PROVIDERS: "maybe",
        OPENAI_API_KEY: secrets[0] ?? "",
        GATEWAY_BOOTSTRAP_KEY: secrets[1] ?? ""
      },
      {
        providers: [
          {
            id: "openai",
            protocol: "smoke-signals",
            baseUrl: "ftp://nowhere",
            apiKeyEnv: "NOT_SET",
            models: [{ id: "x/y" }]
          }
        ],
        timeouts: { idleMillis: -1 },
        surprise: true
      }
    )
    expect(code).toBe(78)
    for (const name of [
      "PORT",
      "LOG_LEVEL",
      "SIMULATED_PROVIDERS",
      "GATEWAY_BOOTSTRAP_KEY",
      "providers[0].id",
      "providers[0].protocol",
      "providers[0].baseUrl",
      "providers[0].apiKeyEnv",
      "timeouts.idleMillis",
      "surprise"
    ]) {
      expect(output).toContain(name)
    }
    for (const secret of secrets) expect(output).not.toContain(secret)
    expect(output).not.toMatch(/\n\s+at /)
  })

  it.each([
    ["a file that is not there", { GATEWAY_CONFIG: "/nowhere/gateway.json" }, undefined],
    ["a file that is no JSON", {}, "{"]
  ])("for %s ends with 78 as well", async (_, env, config) => {
    const { code, output } = await fail(env, config)
    expect([code, output.includes("GATEWAY_CONFIG") || output.includes("JSON")]).toEqual([78, true])
  })

  it("because its port is taken says so, and ends with another code", async () => {
    const other = createServer()
    other.listen(0, "127.0.0.1")
    await once(other, "listening")
    const address = other.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const { code, output } = await fail({ PORT: String(port) })
    other.close()
    expect(code).toBe(1)
    expect(output).toContain(String(port))
    expect(output).toMatch(/in use/)
    expect(output).not.toMatch(/\n\s+at /)
  })
})
