import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** What uses no database is the same on every one; pages see it through the account API only, which is tested on both. */
const withoutDatabase = [
  "wire",
  "provider",
  "catalog",
  "domain",
  "config",
  "observe",
  "testing",
  "browser",
  "dashboard"
]
const onlyPostgres = process.env["TEST_DATABASES"] === "postgres"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: onlyPostgres ? withoutDatabase.map((folder) => `test/${folder}/**`) : [],
    // they wait for services that they start as much as they compute
    maxWorkers: Math.max(2, availableParallelism()),
    minWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
