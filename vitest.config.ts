import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { testsWithoutDatabase } from "./scripts/lib/databaseTests.mjs"

/** Pages see the database through the account API only, which is tested on both. */
const pages = ["test/browser/**", "test/dashboard/**"]
const onlyPostgres = process.env["TEST_DATABASES"] === "postgres"
const exclude = onlyPostgres ? [...pages, ...testsWithoutDatabase()] : []

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude,
    // they wait for services that they start as much as they compute
    maxWorkers: Math.max(2, availableParallelism()),
    minWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
