import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import * as Net from "node:net"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Timers } from "../../../src/domain/Timers.ts"
import { stopListening } from "../../../src/http/server/PortClosing.ts"

const backlog = 4_096

const listening = async (answer: RequestListener) => {
  const server = createServer(answer)
  server.listen({ port: 0, host: "127.0.0.1", backlog })
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no address")
  return { server, port: address.port }
}

const request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi"

/** How a client fares that sends a request as soon as it is connected, as balancers do. */
const call = (port: number): Promise<"answered" | "refused" | "lost"> =>
  new Promise((resolve) => {
    const socket = Net.connect({ port, host: "127.0.0.1" })
    let received = ""
    socket.on("connect", () => socket.write(request))
    socket.on("data", (part) => {
      received += part.toString()
      if (received.includes("ok")) socket.destroy()
    })
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve("refused")
    })
    socket.on("close", () => resolve(received.includes("ok") ? "answered" : "lost"))
  })

const closing = (server: Net.Server) =>
  Effect.runPromise(
    Effect.flatMap(Timers, (timers) => stopListening(server, timers)).pipe(Effect.provide(Timers.layer))
  )

it("a port that is closed while clients connect refuses them or answers them, and keeps their connections", async () => {
  const { port, server } = await listening((received, response) => {
    received.resume()
    received.on("end", () => response.end("ok"))
  })
  const idle = Net.connect({ port, host: "127.0.0.1" })
  await once(idle, "connect")
  const fares: Array<string> = []
  let isOver = false
  const clients = Array.from({ length: 10 }, async () => {
    while (!isOver) fares.push(await call(port))
  })
  await call(port)
  await closing(server)
  isOver = true
  await Promise.all(clients)
  expect(await call(port)).toBe("refused")
  expect(fares.filter((fare) => fare === "lost")).toEqual([])
  expect(fares).toContain("answered")

  // what was connected before is still served
  idle.write(request)
  const [answer] = await once(idle, "data")
  expect(String(answer)).toContain("ok")
  idle.destroy()
})

it("connections that wait to be accepted when the port is to be closed are served", async () => {
  const { port, server } = await listening((received, response) => {
    received.resume()
    received.on("end", () => response.end("ok"))
  })
  // made in one turn of the event loop, in which none is accepted
  const calls = Array.from({ length: 50 }, () => call(port))
  await new Promise((resolve) => setImmediate(resolve))
  await closing(server)
  expect(new Set(await Promise.all(calls))).toEqual(new Set(["answered"]))
})
