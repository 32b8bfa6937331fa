// @ts-check
// `npm run acceptance:generators`: common generators make clients from the OpenAPI document, and the smallest call of each
// type-checks; a linter reads it without an error. The tools come from the registry into a temporary folder, at exact versions that
// run on Node 20; nothing is written into this repository.
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { importSources } from "../lib/sources.mjs"

const tools = {
  "@hey-api/openapi-ts": "0.80.2",
  "@redocly/cli": "2.0.5",
  "@zodios/core": "10.9.6",
  axios: "1.7.9",
  "openapi-fetch": "0.13.8",
  "openapi-typescript": "7.8.0",
  "openapi-zod-client": "1.18.3",
  typescript: "5.9.3",
  zod: "3.25.76"
}

const maxMillis = 300_000

const openApiFetch = `
import createClient from "openapi-fetch"
import type { paths, components } from "./openapi-typescript.js"
const client = createClient<paths>({ baseUrl: "http://127.0.0.1:8080" })
export const say = async (): Promise<string | null> => {
  const { data, error } = await client.POST("/v1/chat/completions", {
    body: { model: "auto", messages: [{ role: "user", content: "hi" }] }
  })
  if (error !== undefined) throw new Error(error.error.message)
  const response = await client.POST("/v1/responses", { body: { model: "auto", input: "hi" } })
  const status: string | undefined = response.data?.status
  const message = await client.POST("/v1/messages", {
    body: { model: "auto", max_tokens: 100, messages: [{ role: "user", content: "hi" }] }
  })
  if (message.error !== undefined) throw new Error(message.error.error.message)
  const [block] = message.data.content
  const first = data.choices[0]
  if (first !== undefined) return first.message.content
  return block?.type === "text" ? block.text : (status ?? null)
}
export const frame = (chunk: components["schemas"]["ChatCompletionChunk"]) => chunk.choices[0]?.delta.content
`

const heyApi = `
import { inferenceCreateChatCompletion, extensionCreateMessage } from "./hey-api/index.js"
export const say = async (): Promise<string | null | undefined> => {
  const { data } = await inferenceCreateChatCompletion({
    baseUrl: "http://127.0.0.1:8080",
    body: { model: "auto", messages: [{ role: "user", content: "hi" }] }
  })
  const message = await extensionCreateMessage({
    baseUrl: "http://127.0.0.1:8080",
    body: { model: "auto", max_tokens: 100, messages: [{ role: "user", content: "hi" }] }
  })
  const block = message.data?.content[0]
  return block?.type === "text" ? block.text : data?.choices[0]?.message.content
}
`

const zodClient = `
import { createApiClient } from "./zod-client.js"
const client = createApiClient("http://127.0.0.1:8080")
export const say = async () => {
  const completion = await client.post("/v1/chat/completions", { model: "auto", messages: [{ role: "user", content: "hi" }] })
  const { content } = await client.post("/v1/messages", {
    model: "auto",
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }]
  })
  return content[0]?.type ?? completion.choices[0]?.message.content
}
`

/** @type {typeof import("../../src/http/operations/OpenApiDocument.ts")} */
const { openApiDocument } = await importSources(
  new URL("../../src/http/operations/OpenApiDocument.ts", import.meta.url)
)

const folder = mkdtempSync(join(tmpdir(), "gateway-generators-"))
/** @type {Array<string>} */
const failed = []

/** @param {string} name @param {string} command @param {ReadonlyArray<string>} args */
const step = (name, command, args) => {
  const { status, stderr, stdout } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: maxMillis,
    env: { ...process.env, NO_COLOR: "1", REDOCLY_TELEMETRY: "off" }
  })
  console.log(`${status === 0 ? "ok    " : "failed"} ${name}`)
  if (status === 0) return
  failed.push(name)
  console.log(`${stdout}${stderr}`.slice(-4_000))
}

/** @param {string} name @param {string} file @param {string} text */
const typed = (name, file, text) => {
  writeFileSync(join(folder, `src/${file}.ts`), text)
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"]
  step(name, "npx", [
    "tsc",
    ...options,
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2023,dom,dom.iterable",
    `src/${file}.ts`
  ])
}

try {
  mkdirSync(join(folder, "src"))
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(openApiDocument()))
  // zodios types all operations at once, and the compiler gives up on those of the account API
  const { paths, ...rest } = openApiDocument()
  const ofKeys = Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith("/v1/")))
  writeFileSync(join(folder, "openapi-v1.json"), JSON.stringify({ ...rest, paths: ofKeys }))
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "generators", private: true, type: "module", dependencies: tools })
  )
  step("install", "npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"])
  step("redocly lint", "npx", ["redocly", "lint", "openapi.json", "--format=stylish"])
  step("openapi-typescript", "npx", ["openapi-typescript", "openapi.json", "-o", "src/openapi-typescript.d.ts"])
  typed("openapi-fetch: the smallest call", "fetch", openApiFetch)
  step("@hey-api/openapi-ts", "npx", [
    "openapi-ts",
    "-i",
    "openapi.json",
    "-o",
    "src/hey-api",
    "-c",
    "@hey-api/client-fetch"
  ])
  typed("@hey-api/openapi-ts: the smallest call", "hey", heyApi)
  step("openapi-zod-client", "npx", [
    "openapi-zod-client",
    "openapi-v1.json",
    "-o",
    "src/zod-client.ts",
    "--export-schemas"
  ])
  typed("openapi-zod-client: the smallest call", "zod", zodClient)
} finally {
  if (process.env["KEEP"] === undefined) rmSync(folder, { recursive: true, force: true })
  else console.log(folder)
}
if (failed.length > 0) process.exit(1)
