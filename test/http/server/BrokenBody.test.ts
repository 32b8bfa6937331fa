import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { expect, it } from "vitest"
import { resetWhenBroken } from "../../../src/http/server/BrokenBody.ts"
import { logTo } from "../../support/LogLines.ts"

/** What a client receives of a body that goes on so after its first bytes, and what is logged. */
const received = async (rest: Stream.Stream<Uint8Array, unknown>) => {
  const lines: Array<string> = []
  const handler = await Effect.runPromise(
    NodeHttpServer.makeHandler(
      Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
        HttpServerResponse.stream(
          Stream.concat(Stream.make(new TextEncoder().encode("first\n")), rest).pipe(resetWhenBroken(request))
        )
      )
    ).pipe(Effect.provide(logTo(lines)))
  )
  const server = createServer(handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const text = await fetch(url)
      .then((response) => response.text())
      .catch(() => "broken off")
    return { text, lines }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

it("a streamed body that ends is left as it is", async () => {
  expect(await received(Stream.empty)).toEqual({ text: "first\n", lines: [] })
})

it("a streamed body that fails is broken off, and the reason is logged", async () => {
  const { lines, text } = await received(Stream.fail("the database is gone"))
  expect(text).toBe("broken off")
  expect(lines.filter((line) => line.includes("a streamed response was broken off"))).toHaveLength(1)
  expect(lines.join("\n")).toContain("the database is gone")
})

it("a streamed body that ends in a defect is broken off, and the defect is reported", async () => {
  const { lines, text } = await received(Stream.die("a bug"))
  expect(text).toBe("broken off")
  expect(lines.filter((line) => /level=ERROR .*a streamed response ended in a defect/.test(line))).toHaveLength(1)
})
