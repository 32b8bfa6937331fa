// Promise: a coding agent on Anthropic's client does its work over several steps, whatever the provider behind it.
import { execFileSync } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type FourProviders, routes, startFourProviders } from "../support/FourProviders.ts"
import { callerKey } from "../support/InProcess.ts"
import * as Native from "../support/Native.ts"

let providers: FourProviders
let client: Anthropic
let folder: string

beforeAll(async () => {
  providers = await startFourProviders()
  client = new Anthropic({ apiKey: callerKey, baseURL: providers.gateway.url, maxRetries: 0 })
})
afterAll(async () => {
  expect(await providers.gateway.held()).toBe(0)
  expect(await providers.gateway.audit()).toEqual([])
  await providers.stop()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-agent-"))
  await writeFile(join(folder, "greeting.txt"), "hello\n")
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const ephemeral = { type: "ephemeral" } as const
const file = { type: "string", enum: ["greeting.txt"] } as const

/** Tools as coding agents have them: each works on the folder, and its result says what the plan has next. */
const tools = () => {
  const used: Array<string> = []
  const done = (name: string, result: string): string => {
    used.push(name)
    return result
  }
  const plan = betaTool({
    name: "write_plan",
    description: "Writes down the steps.",
    inputSchema: { type: "object", properties: { task: { type: "string" } }, required: ["task"] },
    run: () => done("write_plan", 'The plan is saved. Continue with read_file: "greeting.txt"')
  })
  const read = betaTool({
    name: "read_file",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: file }, required: ["path"] },
    run: async ({ path }) =>
      done("read_file", `${await readFile(join(folder, path), "utf8")}\nContinue with edit_file: "good morning"`)
  })
  const edit = betaTool({
    name: "edit_file",
    description: "Replaces the text of a file.",
    inputSchema: {
      type: "object",
      properties: { path: file, text: { type: "string" } },
      required: ["path", "text"]
    },
    run: async ({ path, text }) => {
      await writeFile(join(folder, path), `${text}\n`)
      return [{ type: "text", text: done("edit_file", 'Edited. Continue with run_command: "cat greeting.txt"') }]
    }
  })
  const run = betaTool({
    name: "run_command",
    description: "Runs a program of the folder.",
    inputSchema: {
      type: "object",
      properties: { command: { type: "string", enum: ["cat greeting.txt"] } },
      required: ["command"]
    },
    run: ({ command }) => {
      const [program = "", ...args] = command.split(" ")
      return done("run_command", execFileSync(program, args, { cwd: folder, encoding: "utf8" }))
    },
    cache_control: ephemeral
  })
  return { used, list: [plan, read, edit, run] }
}

const steps = ["write_plan", "read_file", "edit_file", "run_command"]
const instructions = [
  { type: "text" as const, text: "You work on files. ".repeat(40) },
  { type: "text" as const, text: "Make a plan first.", cache_control: ephemeral }
]

describe.each(routes.map((route) => [route.vendor, route] as const))("a coding agent over %s", (_, route) => {
  it.each([false, true])("plans, reads, edits, runs and tells the outcome (stream: %s)", async (stream) => {
    const simulator = providers.simulatorOf(route)
    const before = simulator.requests.length
    const { list, used } = tools()
    const runner = client.beta.messages.toolRunner({
      model: route.model,
      max_tokens: 6_000,
      system: instructions,
      thinking: { type: "enabled", budget_tokens: 2_000 },
      messages: [{ role: "user", content: "Change the greeting of this folder: write the plan first." }],
      tools: list,
      max_iterations: 10,
      stream
    })
    const answers: Array<Anthropic.Beta.BetaMessage> = []
    for await (const turn of runner) answers.push("finalMessage" in turn ? await turn.finalMessage() : turn)

    expect(used).toEqual(steps)
    expect(await readFile(join(folder, "greeting.txt"), "utf8")).toBe("good morning\n")
    expect(answers.map(({ stop_reason }) => stop_reason)).toEqual([...steps.map(() => "tool_use"), "end_turn"])
    const last = answers
      .at(-1)
      ?.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
      .join("")
    expect(last?.trim()).toBe("The tools answered: good morning")
    expect(answers.every(({ model }) => model === route.model)).toBe(true)

    // the client's offer to leave the conversation on the server is refused once; every other turn was accepted by the rules of
    // the provider, and the last one has the whole work
    expect(simulator.rejections).toEqual([])
    expect(simulator.requests.length - before).toBe(steps.length + 1)
    const said = route.native.said(Native.lastRequest(simulator))
    expect(said.calls.map(({ name }) => name)).toEqual(steps)
    expect(Object.keys(said.results)).toHaveLength(steps.length)
    const reasoning = answers.flatMap(({ content }) => content).filter(({ type }) => /thinking$/.test(type))
    if (route.vendor !== "openai") {
      expect(reasoning.length).toBeGreaterThanOrEqual(steps.length)
      expect(said.signatures.length).toBeGreaterThanOrEqual(steps.length)
    }
    const marks = JSON.stringify(Native.lastRequest(simulator)).split(/"cache_control"|"cachePoint"/).length - 1
    expect(marks).toBe(route.vendor === "anthropic" || route.vendor === "amazon-bedrock" ? 2 : 0)
  })
})
