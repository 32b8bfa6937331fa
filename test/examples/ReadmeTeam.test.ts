import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type AccountNode, codeAtStart, startNode } from "../support/AccountService.ts"
import { testKey } from "../support/Service.ts"

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
const shell = promisify(execFile)

/** The first block of shell commands below a heading that has `text`. */
const blockWith = (heading: string, text: string): string => {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? ""
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block)
  return blocks.find((block) => block.includes(text)) ?? ""
}

/** Prints the body also of an error, and ends with 22 after one. */
const strictCurl = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }'

let node: AccountNode
beforeAll(async () => {
  node = await startNode({ DATA_DIR: ":memory:" })
}, 120_000)
afterAll(() => node.stop())

/** The lines of the README as they stand, but for the address and what the reader has to fill in. */
const run = async (lines: string, env: Readonly<Record<string, string>>): Promise<Record<string, unknown>> => {
  const filled = lines.replaceAll("http://127.0.0.1:8080", node.url).replace("sk-…", "sk-of-a-reader-0001")
  const { stdout } = await shell("bash", ["--norc", "-c", `${strictCurl}\n${filled}`], {
    env: { PATH: process.env["PATH"] ?? "", ...env }
  })
  return JSON.parse(stdout)
}

it("the first call of the README is answered", async () => {
  const answer = await run(blockWith("Start", "chat/completions"), { KEY: testKey })
  expect(answer).toMatchObject({ object: "chat.completion", router_metadata: { requested_model: "auto" } })
})

it("every line of the README for a team works on a service as it starts", async () => {
  const [variables = "", signIn = "", ...lines] = blockWith("Run it for a team", "/me/projects").trim().split("\n")
  const code = await codeAtStart(node)
  const session = await run(`${variables}\n${signIn.replace("mrg_sc_…", code)}`, {})
  const env = { TOKEN: String(session["token"]), PROJECT: "" }
  const answers: Array<Record<string, unknown>> = []
  for (const line of lines) {
    const answer = await run(`${variables}\n${line}`, env)
    if (line.includes("/me/projects")) env.PROJECT = String(answer["id"])
    answers.push(answer)
  }
  expect(answers).toMatchObject([
    { name: "search" },
    { name: "backend", api_key: expect.stringMatching(/^mrg_sk_/) },
    { allowed_models: ["openai/*"] },
    { summary: { requests_24h: 0 } },
    { checkout_url: expect.stringContaining("/checkout/test") },
    { provider: "openai", label: "ours" },
    { billing_mode: "byok" }
  ])
})
