import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { testsWithoutDatabase } from "./scripts/lib/databaseTests.mjs"
import { testFiles } from "./scripts/lib/isolatedTests.mjs"

/** Pages see the database through the account API only, which is tested on both. */
const pages = ["test/browser/**", "test/dashboard/**"]
const onlyPostgres = process.env["TEST_DATABASES"] === "postgres"
const ofOtherDatabase = onlyPostgres ? [...pages, ...testsWithoutDatabase()] : []

/** `npm test` runs both parts; without the variable each file has a process of its own. */
const part = process.env["TEST_PROCESSES"]
const { isolated, shared } = testFiles()
const ofOtherPart = part === "isolated" ? shared : part === "shared" ? isolated : []

// they wait for services that they start as much as they compute
const workers = availableParallelism() + 1

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/globalSetup.ts"],
    setupFiles: ["test/setup.ts"],
    exclude: [...ofOtherDatabase, ...ofOtherPart],
    isolate: part !== "shared",
    // what a test prints explains its failure; the figures of `npm run promises` are printed
    silent: process.env["PROMISES"] === "long" ? false : "passed-only",
    // most embedded databases of the tests live for seconds, in which to optimise their code costs more than it saves
    poolOptions: { forks: { execArgv: ["--liftoff-only"] } },
    maxWorkers: workers,
    // a process that is ended because it is idle can have been given the next file
    minWorkers: workers,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // the second that Vitest waits is less than a page may take on a busy machine
    expect: { poll: { timeout: 15_000 } }
  }
})
