import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { start as startAnthropic } from "../../../src/testing/simulators/anthropic/AnthropicSimulator.ts"
import { start as startBedrock } from "../../../src/testing/simulators/bedrock/BedrockSimulator.ts"
import type { InjectedFault, Simulator } from "../../../src/testing/simulators/core/Simulator.ts"
import { start as startGemini } from "../../../src/testing/simulators/gemini/GeminiSimulator.ts"
import { start as startOpenAi } from "../../../src/testing/simulators/openai/OpenAiSimulator.ts"

interface Api {
  readonly start: () => Promise<Simulator>
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
  readonly overloaded: number
}

const hello = "Say exactly: hello"

const apis: Readonly<Record<string, Api>> = {
  openai: {
    start: startOpenAi,
    path: "/chat/completions",
    headers: { authorization: "Bearer k" },
    body: { model: "large", messages: [{ role: "user", content: hello }] },
    overloaded: 503
  },
  anthropic: {
    start: startAnthropic,
    path: "/messages",
    headers: { "x-api-key": "k", "anthropic-version": "2023-06-01" },
    body: { model: "claude-haiku-4-5", max_tokens: 100, messages: [{ role: "user", content: hello }] },
    overloaded: 529
  },
  gemini: {
    start: startGemini,
    path: "/models/gemini-2.5-flash:generateContent",
    headers: { "x-goog-api-key": "k" },
    body: { contents: [{ role: "user", parts: [{ text: hello }] }] },
    overloaded: 503
  },
  bedrock: {
    start: () => startBedrock(),
    path: "/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse",
    headers: { authorization: "Bearer k" },
    body: { messages: [{ role: "user", content: [{ text: hello }] }] },
    overloaded: 503
  }
}

describe.each(Object.entries(apis))(
  "the faults of the simulator of %s",
  (_, { start, path, headers, body, overloaded }) => {
    let simulator: Simulator
    beforeEach(async () => {
      simulator = await start()
    })
    afterEach(() => simulator.stop())

    const send = (init: RequestInit = {}, to = path) =>
      fetch(simulator.baseUrl + to, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        ...init
      })
    const broken = async (fault: InjectedFault) => {
      simulator.failNext(fault)
      return await send()
    }

    it("send an error in place of a non-streaming response", async () => {
      const response = await broken("error-mid")
      expect(response.status).toBe(overloaded)
      expect(JSON.parse(await response.text())).toBeInstanceOf(Object)
    })

    it("reset the connection within a non-streaming response", async () => {
      const response = await broken("cut-mid")
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow("terminated")
    })

    it.each(["end-mid", "malformed-mid"] as const)(
      "send a non-streaming response that is not JSON (%s)",
      async (fault) => {
        const response = await broken(fault)
        expect(response.status).toBe(200)
        const text = await response.text()
        expect(text.startsWith("{")).toBe(true)
        expect(() => JSON.parse(text)).toThrow(SyntaxError)
      }
    )

    it("send half of a non-streaming response and nothing more", async () => {
      const { body: stream } = await broken("hang-mid")
      const reader = stream?.getReader()
      const half = new TextDecoder().decode((await reader?.read())?.value)
      expect(() => JSON.parse(half)).toThrow(SyntaxError)
      await reader?.cancel()
      expect(await simulator.requests[0]?.closed).toBe("aborted")
    })

    it("wait for a request that is accepted", async () => {
      simulator.failNext("html", "overloaded")
      const rejected = [
        await send({ headers: { "content-type": "application/json" } }),
        await send({}, "/other"),
        await send({ method: "PUT" }),
        await send({ body: "{" })
      ]
      for (const response of rejected) {
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(response.headers.get("content-type")).toBe("application/json")
        await response.text()
      }
      expect(await (await send()).text()).toContain("<html>")
      expect([(await send()).status, (await send()).status]).toEqual([overloaded, 200])
    })
  }
)
