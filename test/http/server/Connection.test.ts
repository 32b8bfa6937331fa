import { once } from "node:events"
import { request as send } from "node:http"
import { connect, type Socket } from "node:net"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { type InProcess, startInProcess } from "../../support/InProcess.ts"
import { rawPost } from "../../support/RawRequest.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess
const sockets = new Set<Socket>()

beforeEach(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: ["ok", "held-mid"].map((name) =>
      model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })
    )
  })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  await gateway.stop()
  await upstream.stop()
})

const port = () => Number(new URL(gateway.url).port)

const open = async (): Promise<Socket> => {
  const socket = connect(port(), "127.0.0.1")
  sockets.add(socket)
  socket.on("error", () => {})
  await once(socket, "connect")
  return socket
}

/** Reads until the server closes the connection, or `enough` has come. */
const read = (socket: Socket, enough: (text: string) => boolean = () => false): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    socket.setEncoding("latin1")
    socket.on("close", () => resolve(text))
    socket.on("data", (part: string) => {
      text += part
      if (enough(text)) resolve(text)
    })
  })

const post = (name: string, stream: boolean, content = "hi"): string =>
  rawPost(JSON.stringify({ model: `one/${name}`, stream, messages: [{ role: "user", content }] }))
const occurrences = (text: string, part: string): number => text.split(part).length - 1

describe("calls that are pipelined on one connection", () => {
  it("are made one after the other and answered in their order", async () => {
    const socket = await open()
    const answers = read(socket, (text) => occurrences(text, "HTTP/1.1 200") === 50 && text.endsWith("}"))
    socket.write(Array.from({ length: 50 }, (_, n) => post("ok", false, `number ${n}`)).join(""))
    expect(occurrences(await answers, '"chat.completion"')).toBe(50)
    expect(upstream.requests.map(({ body }) => JSON.stringify(body["messages"]))).toEqual(
      Array.from({ length: 50 }, (_, n) => expect.stringContaining(`"number ${n}"`))
    )
  })

  it("wait for the answer before them, and are never made when their connection ends", async () => {
    const socket = await open()
    socket.write(Array.from({ length: 41 }, () => post("held-mid", true)).join(""))
    const running = await upstream.received(1)
    socket.destroy()
    expect(await running.closed).toBe("aborted")
    expect((await gateway.settled(1)).state).toBe("cancelled")
    upstream.release()
    // a call of another connection comes after everything that this one could still have begun
    expect(
      (await gateway.post("/v1/chat/completions", JSON.parse(post("ok", false).split("\r\n\r\n")[1] ?? ""))).status
    ).toBe(200)
    expect(upstream.requests.map((received) => received.model)).toEqual(["held-mid", "ok"])
    expect(gateway.settlements.map(({ state }) => state)).toEqual(["cancelled", "settled"])
    expect(await gateway.held()).toBe(0)
  })

  it("are at most 64 behind the one that runs; with more the connection is closed", async () => {
    const [bounded, beyond] = [await open(), await open()]
    bounded.write(Array.from({ length: 65 }, () => post("held-mid", true)).join(""))
    await upstream.received(1)
    beyond.write(Array.from({ length: 66 }, () => post("held-mid", true)).join(""))
    await once(beyond, "close")
    expect(bounded.destroyed).toBe(false)
    upstream.release()
    const all = await read(bounded, (text) => occurrences(text, "[DONE]") === 64)
    expect(occurrences(all, "HTTP/1.1 200")).toBeGreaterThanOrEqual(64)
  })
})

describe("what node's parser refuses", () => {
  const refusal = (answer: string) => {
    const [head = "", body = ""] = answer.split("\r\n\r\n")
    return { status: head.split(" ")[1], head: head.toLowerCase(), error: JSON.parse(body).error }
  }

  it.each([
    ["a broken request line", "NONSENSE\r\n\r\n", "400", "invalid_value"],
    [
      "headers that are too large",
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(20_000)}\r\n\r\n`,
      "431",
      "request_too_large"
    ]
  ])("(%s) gets an error with a body and an id", async (_, bytes, status, code) => {
    const socket = await open()
    const answer = read(socket)
    socket.write(bytes)
    const told = refusal(await answer)
    expect(told).toMatchObject({ status, error: { type: "invalid_request_error", code, param: null } })
    expect(told.head).toMatch(/x-request-id: [0-9a-f-]{36}/)
    expect(told.head).toContain("connection: close")
    expect(told.head).toContain("content-type: application/json")
    expect(told.head).toContain("x-content-type-options: nosniff")
  })

  it("behind a stream that has begun ends the connection without another answer", async () => {
    const socket = await open()
    const answer = read(socket)
    socket.write(post("held-mid", true))
    await once(socket, "data")
    socket.write("NONSENSE\r\n\r\n")
    expect(occurrences(await answer, "HTTP/1.1")).toBe(1)
    expect(await (await upstream.received(1)).closed).toBe("aborted")
  })
})

describe("a refusal that comes before the body has been read", () => {
  const refused = (bytes: number, headers: Readonly<Record<string, string>>): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = send(
        {
          port: port(),
          method: "POST",
          path: "/v1/chat/completions",
          headers: { "content-type": "application/json", ...headers }
        },
        (response) => {
          response.resume()
          response.on("end", () => resolve(response.statusCode ?? 0))
          response.on("error", reject)
        }
      )
      request.on("error", reject)
      request.end(Buffer.alloc(bytes, 0x20))
    })

  it("reaches every client that sends 19 MB without a valid key", { timeout: 60_000 }, async () => {
    const statuses: Array<number> = []
    for (let round = 0; round < 10; round++) {
      statuses.push(...(await Promise.all(Array.from({ length: 6 }, () => refused(19_000_000, {})))))
    }
    expect(statuses).toEqual(Array.from({ length: 60 }, () => 401))
  })

  it("lets a connection with a small body go on", async () => {
    const socket = await open()
    const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n"
    const first = read(socket, (text) => text.endsWith("}}"))
    socket.write(head)
    expect(await first).toMatch(/^HTTP\/1\.1 401/)
    const second = read(socket, (text) => text.includes('"ok"'))
    socket.write("0123456789GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
    expect(await second).toMatch(/^HTTP\/1\.1 200/)
  })

  it.each(["GET /nowhere", "HEAD /v1/chat/completions", "OPTIONS /v1/responses"])(
    "lets a connection go on after %s, which has no body",
    async (line) => {
      const socket = await open()
      const answers = read(socket, (text) => text.includes('"ok"'))
      socket.write(`${line} HTTP/1.1\r\nhost: x\r\n\r\nGET /livez HTTP/1.1\r\nhost: x\r\n\r\n`)
      expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual([expect.stringMatching(/40[014]$/), "HTTP/1.1 200"])
    }
  )

  it("is read and dropped only up to a bound", async () => {
    const socket = await open()
    const closed = read(socket)
    socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
    const mebibyte = `100000\r\n${" ".repeat(1024 * 1024)}\r\n`
    const more = (): void => {
      while (!socket.destroyed && socket.write(mebibyte)) {}
    }
    socket.on("drain", more)
    more()
    await closed
    expect(socket.bytesWritten).toBeLessThan(64 * 1024 * 1024)
  })
})
