// @ts-check
// `npm run mutation`: breaks the code in one small way after the other, and says which breaks no test notices.
//   --only <text>  mutants whose area, file or description has the text; given several times, any of the texts
//   --list         shows the mutants and runs nothing
//   --fit          says only which mutants do not fit the sources
//   --jobs <n>     so many at once, each in a copy of its own; default 1
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { makeCopy, misfit } from "./copy.mjs"
import { mutants } from "./mutants.mjs"
import { killAll, makeTestRunner } from "./vitest.mjs"

/** @typedef {import("./mutants.mjs").PlacedMutant} PlacedMutant */

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")
const baselineLimitMillis = 600_000
/** Several times what the tests of any one mutant take; whatever takes longer waits for what never comes. */
const mutantLimitMillis = 120_000

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    list: { type: "boolean", default: false },
    fit: { type: "boolean", default: false },
    jobs: { type: "string", default: "1" }
  }
})

const nameOf = (/** @type {PlacedMutant} */ { area, breaks, file }) => `${area}: ${file}: ${breaks}`
const chosen = mutants.filter((mutant) => options.only.some((text) => nameOf(mutant).includes(text)))

const main = async () => {
  if (chosen.length === 0) {
    console.error(`no mutant has '${options.only.join("' or '")}' in its area, file or description`)
    return 1
  }
  const misfits = chosen.flatMap((mutant) => {
    const reason = misfit(root, mutant)
    return reason === undefined ? [] : [`${nameOf(mutant)}: ${reason}`]
  })
  for (const line of misfits) console.error(`cannot be applied: ${line}`)
  if (options.list) {
    for (const mutant of chosen) {
      console.log(`${nameOf(mutant)}${mutant.equivalent === undefined ? "" : ` (equivalent: ${mutant.equivalent})`}`)
    }
    console.log(`${chosen.length} mutants`)
  }
  if (misfits.length > 0) return 1
  return options.list || options.fit ? 0 : check()
}

/** @typedef {Record<"killed" | "survived" | "equivalent" | "wrong", number>} Tally */

/** @type {ReadonlyArray<keyof Tally>} */
const counters = ["killed", "survived", "equivalent", "wrong"]

const summaryOf = (/** @type {Tally} */ { equivalent, killed, survived, wrong }) =>
  `${killed} killed, ${survived} survived, ${equivalent} equivalent, ${wrong} not as declared`

/** @type {Record<ReturnType<typeof resultOf>, keyof Tally>} */
const counterOf = {
  killed: "killed",
  SURVIVED: "survived",
  equivalent: "equivalent",
  "NOT EQUIVALENT": "wrong",
  UNLOADABLE: "wrong"
}

/** A mutant that is declared equivalent must survive: a test that kills it disproves the reason. */
const resultOf = (
  /** @type {PlacedMutant} */ { equivalent },
  /** @type {import("./vitest.mjs").TestRun["status"]} */ status
) => {
  if (status === "unloadable") return "UNLOADABLE"
  if (status === "passed") return equivalent === undefined ? "SURVIVED" : "equivalent"
  return equivalent === undefined ? "killed" : "NOT EQUIVALENT"
}

const check = async () => {
  const copies = Array.from({ length: Math.max(1, Number(options.jobs)) }, () => {
    const copy = makeCopy(root)
    return { ...copy, tests: makeTestRunner(copy.folder) }
  })
  const removeAll = () => {
    for (const copy of copies) {
      copy.tests.stop()
      copy.remove()
    }
  }
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      killAll()
      removeAll()
      process.exit(1)
    })
  }
  try {
    const files = [...new Set(chosen.flatMap((mutant) => mutant.tests))]
    const [first] = copies
    const baseline = first === undefined ? undefined : await first.tests.run(files, [], baselineLimitMillis)
    if (baseline?.status !== "passed") {
      console.error(`the tests fail without any mutant: ${baseline?.detail}`)
      return 1
    }
    const waiting = [...chosen]
    const tallies = new Map(chosen.map(({ area }) => [area, { killed: 0, survived: 0, equivalent: 0, wrong: 0 }]))
    const worker = async (/** @type {(typeof copies)[number]} */ copy) => {
      /** @type {ReadonlyArray<string>} */
      let undone = []
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const undo = copy.apply(mutant)
        const changed = [...undone, join(copy.folder, mutant.file)]
        const { detail, status } = await copy.tests.run(mutant.tests, changed, mutantLimitMillis)
        undo()
        undone = [join(copy.folder, mutant.file)]
        const result = resultOf(mutant, status)
        const tally = tallies.get(mutant.area)
        if (tally !== undefined) tally[counterOf[result]] += 1
        const reason = result === "equivalent" ? mutant.equivalent : detail
        console.log(`${result.padEnd(14)} ${nameOf(mutant)}${reason === "" ? "" : `\n               ${reason}`}`)
      }
    }
    await Promise.all(copies.map(worker))
    const total = { killed: 0, survived: 0, equivalent: 0, wrong: 0 }
    for (const [area, tally] of tallies) {
      console.log(`${area.padEnd(10)} ${summaryOf(tally)}`)
      for (const counter of counters) total[counter] += tally[counter]
    }
    console.log(`${chosen.length} mutants: ${summaryOf(total)}`)
    return total.survived + total.wrong === 0 ? 0 : 1
  } finally {
    removeAll()
  }
}

process.exitCode = await main()
