import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { createSecureContext, TLSSocket } from "node:tls"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import * as Database from "../../src/sql/Database.ts"
import { certificate, privateKey } from "../support/Certificate.ts"

const sslRequestBytes = 8
const secureContext = createSecureContext({ cert: certificate, key: privateKey })

/** A server that takes a TLS connection with its own certificate, or none at all, and ends each before any login. */
const listen = async (hasTls: boolean) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.once("data", (asked) => {
      // what comes without asking for encryption is the login
      if (asked.length !== sslRequestBytes) return socket.end(noEncryption)
      if (!hasTls) return socket.end("N")
      socket.write("S", () => {
        const secured = new TLSSocket(socket, { isServer: true, secureContext })
        secured.on("error", () => {})
      })
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}

const noEncryption = (() => {
  const fields = [
    "SFATAL",
    "C28000",
    'Mno pg_hba.conf entry for host "10.0.0.1", user "u", database "d", no encryption'
  ]
  const body = Buffer.from(`${fields.map((field) => `${field}\0`).join("")}\0`)
  const head = Buffer.from("E\0\0\0\0")
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
})()

const reasonAt = (port: number, query: string) =>
  Layer.build(
    Database.layerUnmigrated({
      url: Option.some(Redacted.make(`postgres://u@localhost:${port}/d${query}`)),
      dataDir: ":memory:"
    })
  ).pipe(
    Effect.flip,
    Effect.map(({ message }) => message),
    Effect.scoped,
    Effect.runPromise
  )

describe("a database whose connection cannot be encrypted as its URL asks", () => {
  let encrypted: Awaited<ReturnType<typeof listen>>
  let plain: Awaited<ReturnType<typeof listen>>
  beforeAll(async () => {
    encrypted = await listen(true)
    plain = await listen(false)
  })
  afterAll(() => {
    encrypted.close()
    plain.close()
  })

  it.each(["verify-full", "verify-ca", "require", "prefer"])(
    "with sslmode=%s needs a certificate that can be checked, or says how to go without",
    async (mode) => {
      const warned = vi.spyOn(process, "emitWarning")
      const reason = await reasonAt(encrypted.port, `?sslmode=${mode}`)
      expect(reason).toContain("self-signed certificate")
      expect(reason).toContain("sslrootcert")
      expect(reason).toContain("sslmode=no-verify")
      // the driver's warning about its next version is not for operators: the mode is passed on as what it means
      expect(warned).not.toHaveBeenCalled()
      warned.mockRestore()
    }
  )

  it("says that the server has no TLS", async () => {
    expect(await reasonAt(plain.port, "?sslmode=verify-full")).toContain("sslmode=disable")
  })

  it("says that the server takes encrypted connections only", async () => {
    expect(await reasonAt(plain.port, "")).toContain("sslmode=verify-full")
  })
})
