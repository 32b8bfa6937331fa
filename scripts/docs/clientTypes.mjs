// @ts-check
// `npm run client-types`: writes the types of the web app's HTTP client, made of the OpenAPI document. With --check it only
// compares, and fails when they are out of date.
import { readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import openapiTS, { astToString } from "openapi-typescript"
import { root } from "../lib/root.mjs"
import { importSources } from "../lib/sources.mjs"

const file = join(root, "src/dashboard/api/schema.d.ts")
const errorContent = { "application/json": { schema: { $ref: "#/components/schemas/ErrorResponse" } } }
const header = "// Made by `npm run client-types` of the OpenAPI document; do not edit.\n\n"

/** @type {typeof import("../../src/http/operations/OpenApiDocument.ts")} */
const { openApiDocument } = await importSources(
  new URL("../../src/http/operations/OpenApiDocument.ts", import.meta.url)
)
/** @type {any} */
const document = structuredClone(openApiDocument())
for (const path of Object.keys(document.paths)) if (!path.startsWith("/api/")) delete document.paths[path]
const { schemas } = document.components
// of calls the app reads few fields: all of them would be most of the file
for (const name of ["ChatCompletionRequest", "ChatCompletion", "ChatCompletionChunk"]) {
  schemas[name] = { type: "object", additionalProperties: true }
}

/** @type {Set<string>} */
const used = new Set()
/** @param {unknown} value */
const collect = (value) => {
  for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (used.has(name)) continue
    used.add(name)
    collect(schemas[name])
  }
}

// one error for all statuses, and no descriptions: the file then changes only when a shape does
for (const methods of Object.values(document.paths)) {
  for (const { responses } of Object.values(methods)) {
    for (const status of Object.keys(responses)) if (!status.startsWith("2")) delete responses[status]
    responses["default"] = { description: "", content: errorContent }
  }
}
collect(document.paths)
for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name]

/** @param {any} value */
const undescribed = (value) => {
  if (value === null || typeof value !== "object") return
  if (typeof value.description === "string" && !("content" in value)) delete value.description
  if (typeof value.summary === "string") delete value.summary
  for (const each of Object.values(value)) undescribed(each)
}
undescribed(document)

const types = header + astToString(await openapiTS(document, { alphabetize: true }))

if (!process.argv.includes("--check")) writeFileSync(file, types)
else if (readFileSync(file, "utf8") !== types) {
  console.error(`${relative(root, file)} is out of date: run \`npm run client-types\``)
  process.exit(1)
}
