#!/usr/bin/env node
// Runs the fault suite and writes its results between the scorecard markers of the README. The same results give the same text.
import { readFile, writeFile } from "node:fs/promises"
import { runTests } from "./promises/tests.mjs"

const readme = new URL("../README.md", import.meta.url)
const [start, end] = ["<!-- scorecard -->", "<!-- /scorecard -->"]
const columns = ["chat, stream", "chat, plain", "responses, stream", "responses, plain"]

const suites = ["test/faults/Faults.test.ts", "test/faults/ReusedSocket.test.ts"]
const ran = await Promise.all(suites.map((file) => runTests(file)))
const rows = new Map()
for (const { title, status } of ran[0].tests) {
  const [, name, column] = /^(\d+ .*): ((?:chat|responses), (?:stream|plain))$/.exec(title) ?? []
  if (name === undefined) continue
  const row = rows.get(name) ?? new Map()
  rows.set(name, row.set(column, status))
}
const reused = new Map(
  ran[1].tests.map(({ status, title }) => {
    const [, endpoint, stream] = /^(chat|responses), stream (true|false)/.exec(title) ?? []
    return [`${endpoint}, ${stream === "true" ? "stream" : "plain"}`, status]
  })
)
rows.set("5 reset of a connection that was used before", reused)

const mark = (status) => (status === undefined ? "–" : status === "passed" ? "pass" : "FAIL")
const sorted = [...rows].sort(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1))
const cells = sorted.flatMap(([, row]) => [...row.values()])
const passed = cells.filter((status) => status === "passed").length
const table = [
  `| # | provider fault | ${columns.join(" | ")} |`,
  `|---|---|${columns.map(() => "---").join("|")}|`,
  ...sorted.map(([name, row]) => {
    const [number, ...words] = name.split(" ")
    return `| ${number} | ${words.join(" ")} | ${columns.map((column) => mark(row.get(column))).join(" | ")} |`
  })
].join("\n")
const summary = `${passed} of ${cells.length} pass: the official OpenAI client sees the whole answer or an error, never half an answer as a whole one; a failed attempt costs nothing; and the next call avoids what was at fault.`

const text = await readFile(readme, "utf8")
const from = text.indexOf(start)
const to = text.indexOf(end)
if (from < 0 || to < from) {
  console.log(`${summary}\n\n${table}`)
  console.error(`README.md has no ${start} … ${end}; nothing was written`)
  process.exitCode = 1
} else {
  await writeFile(readme, `${text.slice(0, from + start.length)}\n${summary}\n\n${table}\n${text.slice(to)}`)
  console.log(summary)
  process.exitCode = passed === cells.length ? 0 : 1
}
