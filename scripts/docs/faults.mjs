// @ts-check
// `npm run scorecard`: runs the fault suite and writes its results to test/faults/README.md. The same results give the same
// text.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/root.mjs"
import { runTests } from "../lib/tests.mjs"

const file = join(root, "test/faults/README.md")
const columns = ["chat", "responses", "messages"].flatMap((endpoint) => [`${endpoint}, stream`, `${endpoint}, plain`])

/** By fault and column: how its test ended. @type {Map<string, Map<string, string>>} */
const rows = new Map()
const [faults, reused] = await Promise.all([
  runTests("test/faults/Faults.test.ts"),
  runTests("test/faults/ReusedSocket.test.ts")
])
for (const { status, title } of faults.tests) {
  const [, name, column] = /^(\d+ .*): ((?:chat|responses|messages), (?:stream|plain))$/.exec(title) ?? []
  if (name !== undefined && column !== undefined) {
    rows.set(name, (rows.get(name) ?? new Map()).set(column, status))
  }
}
rows.set(
  "5 reset of a connection that was used before",
  new Map(
    reused.tests.map(({ status, title }) => {
      const [, endpoint, stream] = /^(chat|responses|messages), stream (true|false)/.exec(title) ?? []
      return [`${endpoint}, ${stream === "true" ? "stream" : "plain"}`, status]
    })
  )
)

/** @param {string | undefined} status */
const mark = (status) => (status === undefined ? "–" : status === "passed" ? "pass" : "FAIL")
const sorted = [...rows].sort(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1))
const cells = sorted.flatMap(([, row]) => [...row.values()])
const passed = cells.filter((status) => status === "passed").length
const summary = `${passed} of ${cells.length} pass: the official clients see the complete response or an error, never a part of a response as a complete one; a failed attempt costs nothing; and the next call avoids what was at fault.`

writeFileSync(
  file,
  `<!-- Written by \`npm run scorecard\` from the results of this folder's tests. -->
# Provider faults

Each row is a fault that a server on loopback produces on the wire, once for each endpoint, streamed and plain.

${summary}

| # | provider fault | ${columns.join(" | ")} |
|---|---|${columns.map(() => "---").join("|")}|
${sorted
  .map(([name, row]) => {
    const [number, ...words] = name.split(" ")
    return `| ${number} | ${words.join(" ")} | ${columns.map((column) => mark(row.get(column))).join(" | ")} |`
  })
  .join("\n")}
`
)
console.log(summary)
process.exitCode = passed === cells.length ? 0 : 1
