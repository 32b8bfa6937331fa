import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** What uses no database is the same on every one. */
const withoutDatabase = ["wire", "provider", "catalog", "domain", "routing", "config", "observe", "testing"]
const onlyPostgres = process.env["TEST_DATABASES"] === "postgres"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: onlyPostgres ? withoutDatabase.map((folder) => `test/${folder}/**`) : [],
    // beside them run the services that they start
    maxWorkers: Math.max(2, availableParallelism() - 1),
    minWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
