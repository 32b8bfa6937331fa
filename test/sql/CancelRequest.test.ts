import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { afterEach, describe, expect, it } from "vitest"
import { requestCancel } from "../../src/sql/CancelRequest.ts"

const [processId, secretKey] = [4711, -815]
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const cancelRequest = Buffer.alloc(16)
;[16, 80_877_102, processId, secretKey].forEach((word, at) => {
  cancelRequest.writeInt32BE(word, 4 * at)
})

/** Encrypted by a key that both sides have, in place of a certificate. */
const key = { psk: Buffer.alloc(16, 1), identity: "gateway" }
const shared = { ciphers: "PSK-AES128-GCM-SHA256", maxVersion: "TLSv1.2" } as const
const ssl = { ...shared, pskCallback: () => key, checkServerIdentity: () => undefined }

const open = new Set<Socket>()
afterEach(() => {
  for (const socket of open) socket.destroy()
  open.clear()
})

/** A server that closes a connection once it has been asked to cancel, and what it was asked. */
const server = async (accept: (socket: Socket) => Promise<Socket>) => {
  const asked: Array<Buffer> = []
  const listening = createServer(async (socket) => {
    open.add(socket)
    const secured = await accept(socket)
    secured.once("data", (data) => {
      asked.push(data)
      secured.end()
    })
  }).listen(0, "127.0.0.1")
  await once(listening, "listening")
  const { port } = listening.address() as AddressInfo
  return { port, asked, close: () => listening.close() }
}

const secured = (socket: Socket) =>
  new TLSSocket(socket, { ...shared, isServer: true, pskCallback: () => key.psk } as ConstructorParameters<
    typeof TLSSocket
  >[1])

const kinds = [
  ["without encryption", false, "postgres", async (socket: Socket) => socket],
  [
    "after the server has agreed to encryption",
    ssl,
    "postgres",
    async (socket: Socket) => {
      const [data] = (await once(socket, "data")) as [Buffer]
      expect(data).toEqual(sslRequest)
      socket.write("S")
      return secured(socket)
    }
  ],
  ["encrypted from the start", ssl, "direct", async (socket: Socket) => secured(socket)]
] as const

describe("a request to cancel", () => {
  it.each(kinds)(
    "names the process and its key, %s, and is over when the server closes",
    async (...[, ssl, sslNegotiation, accept]) => {
      const { asked, close, port } = await server(accept)
      await new Promise<void>((resolve) => {
        requestCancel({ host: "127.0.0.1", port, ssl, sslNegotiation, processId, secretKey }, resolve)
      })
      expect(asked).toEqual([cancelRequest])
      close()
    }
  )

  it("is over where nothing listens, and when it is given up", async () => {
    const { asked, close, port } = await server(() => new Promise<Socket>(() => {}))
    const backend = { host: "127.0.0.1", ssl: false, sslNegotiation: "postgres", processId, secretKey }
    await new Promise<void>((resolve) => {
      const giveUp = requestCancel({ ...backend, port }, resolve)
      giveUp()
    })
    close()
    await new Promise<void>((resolve) => requestCancel({ ...backend, port: 1 }, resolve))
    expect(asked).toEqual([])
  })
})
