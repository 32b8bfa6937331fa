import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { hasChromium, openPage } from "../../support/Chromium.ts"
import { journey } from "../Journey.ts"

/** A way to a service, on which a network can lose the connections of readers so that neither side learns of it. */
const openWay = async (service: string) => {
  const sockets = new Set<Socket>()
  const readers = new Set<() => void>()
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(service).port), "127.0.0.1")
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
    client.on("data", (data) => {
      if (!data.includes("/events")) return
      readers.add(() => {
        client.unpipe(upstream)
        upstream.unpipe(client)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const loseReaders = () => {
    for (const lose of readers) lose()
    readers.clear()
  }
  return { url: `http://127.0.0.1:${port}`, loseReaders }
}

describe.skipIf(!hasChromium)("an answer whose connection is lost without a word", () => {
  const at = journey()
  const ended = "Stopped. The text generated so far is charged."
  /** A page that shows an answer in progress, and learns no more of it; the answer is stopped meanwhile. */
  const lost = async () => {
    const { api, browser, projectId, service } = at()
    const way = await openWay(service.url)
    const { page } = await openPage(browser)
    onTestFinished(() => page.context().close())
    await page.clock.install()
    const { url } = await api<{ readonly url: string }>("POST", "/api/session/links")
    await page.goto(url.replace(service.url, way.url))
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    const asked = { content: "Write slowly", model: "sim/stall-mid", artifacts: false }
    await api("POST", `/api/chat/conversations/${id}/messages`, asked)
    await page.goto(`${way.url}/dashboard/chat/${id}`)
    await expect.poll(async () => (await page.getByTestId("answer-text").innerText()).length).toBeGreaterThan(0)
    way.loseReaders()
    await api("POST", `/api/chat/conversations/${id}/stop`)
    return page
  }

  it("goes on when nothing has come for longer than the service is ever silent", async () => {
    const page = await lost()
    await page.clock.fastForward(20_000)
    expect(await page.getByText(ended).count()).toBe(0)
    await page.clock.fastForward(25_000)
    await page.getByText(ended).waitFor()
    expect(await page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0)
  })

  it("goes on as soon as the browser has its network again", async () => {
    const page = await lost()
    await page.evaluate(`void dispatchEvent(new Event("online"))`)
    await page.getByText(ended).waitFor()
  })
})
