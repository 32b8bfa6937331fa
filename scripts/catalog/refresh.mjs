#!/usr/bin/env node
// @ts-check
// Regenerates the catalog's data file: node scripts/catalog/refresh.mjs <facts.json> [--check]
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { catalogOf } from "./derive.mjs"

const target = fileURLToPath(new URL("../../src/catalog/data/models.data.json", import.meta.url))
const [factsFile, option] = process.argv.slice(2)
if (factsFile === undefined || (option !== undefined && option !== "--check")) {
  console.error("usage: node scripts/catalog/refresh.mjs <facts.json> [--check]")
  process.exit(64)
}

const fresh = catalogOf(JSON.parse(readFileSync(factsFile, "utf8")))
const before = entriesOf(readOrEmpty())
const after = entriesOf(fresh)

for (const [id] of before) if (!after.has(id)) console.log(`- ${id}`)
for (const [id, entry] of after) {
  const old = before.get(id)
  if (old === undefined) console.log(`+ ${id}`)
  else for (const line of changes(old, entry)) console.log(`~ ${id} ${line}`)
}
console.log(`${after.size} models, ${fresh.providers.length} providers`)
if (option === undefined) writeFileSync(target, `${textOf(fresh)}\n`)

/** One line per model keeps a refresh readable as a diff. @param {ReturnType<typeof catalogOf>} catalog */
function textOf(catalog) {
  const lines = (/** @type {ReadonlyArray<unknown>} */ rows) =>
    rows.map((row) => `    ${JSON.stringify(row)}`).join(",\n")
  return `{
  "version": ${catalog.version},
  "source": ${JSON.stringify(catalog.source)},
  "providers": [\n${lines(catalog.providers)}\n  ],
  "models": [\n${lines(catalog.models)}\n  ]
}`
}

/** @param {{ models: ReadonlyArray<Record<string, unknown>> }} catalog @returns {Map<string, Record<string, unknown>>} */
function entriesOf(catalog) {
  return new Map(catalog.models.map((entry) => [String(entry["id"]), entry]))
}

/** @returns {{ models: ReadonlyArray<Record<string, unknown>> }} */
function readOrEmpty() {
  try {
    return JSON.parse(readFileSync(target, "utf8"))
  } catch {
    return { models: [] }
  }
}

/** @param {Record<string, unknown>} old @param {Record<string, unknown>} entry */
function changes(old, entry) {
  return [...new Set([...Object.keys(old), ...Object.keys(entry)])].flatMap((key) => {
    const [from, to] = [JSON.stringify(old[key]), JSON.stringify(entry[key])]
    return from === to ? [] : [`${key}: ${from} -> ${to}`]
  })
}
