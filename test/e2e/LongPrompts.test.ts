// Promise: the long texts of a request reach every provider as the client has written them, from every endpoint.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type FourProviders, type Route, routes, startFourProviders } from "../support/FourProviders.ts"
import { callerKey } from "../support/InProcess.ts"
import * as Native from "../support/Native.ts"

/** As it is written in the body: the gateway itself would write the slashes without escapes. */
const literal = JSON.stringify('A line with "quotes", 語 and 🙂, and a\\backslash.\n'.repeat(400)).replaceAll(
  "lin",
  "\\/lin"
)
const text: string = JSON.parse(literal)

const bodies = [
  {
    path: "/v1/chat/completions",
    rest: '"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":TEXT}]'
  },
  { path: "/v1/responses", rest: '"instructions":"Be brief.","input":TEXT' },
  { path: "/v1/messages", rest: '"max_tokens":500,"system":"Be brief.","messages":[{"role":"user","content":TEXT}]' }
]

let providers: FourProviders
beforeAll(async () => {
  providers = await startFourProviders()
})
afterAll(() => providers.stop())

const ask = async (route: Route, path: string, rest: string): Promise<number> => {
  const response = await fetch(`${providers.gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json" },
    body: `{"model":"${route.model}",${rest.replace("TEXT", () => literal)}}`
  })
  await response.arrayBuffer()
  return response.status
}

describe.each(bodies)("a long text for $path", ({ path, rest }) => {
  it.each(routes)("reaches $vendor as it was written", async (route) => {
    expect(await ask(route, path, rest)).toBe(200)
    const simulator = providers.simulatorOf(route)
    const said = route.native.said(Native.lastRequest(simulator))
    expect(said.instructions).toEqual(["Be brief."])
    expect(said.texts).toEqual([text])
    expect(simulator.requests.at(-1)?.text).toContain(literal)
  })
})

it("reaches the provider that is tried next, too", async () => {
  const [next, first] = routes
  providers.simulatorOf(first).failNext("overloaded", "overloaded", "overloaded")
  const models = JSON.stringify({ allow: [first.model, next.model] })
  const response = await fetch(`${providers.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${callerKey}`, "content-type": "application/json" },
    body: `{"model":"auto","alpha":1,"models":${models},"messages":[{"role":"user","content":${literal}}]}`
  })
  expect(await response.json()).toMatchObject({ router_metadata: { model: next.model, fallback: { used: true } } })
  expect(providers.simulatorOf(first).requests.at(-1)?.text).toContain(literal)
  expect(next.native.said(Native.lastRequest(providers.simulatorOf(next))).texts).toEqual([text])
})
