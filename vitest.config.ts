import { defineConfig } from "vitest/config"

/** What uses no database is the same on every one. */
const withoutDatabase = ["wire", "provider", "catalog", "domain", "routing", "config", "observe", "testing"]
const onlyPostgres = process.env["TEST_DATABASES"] === "postgres"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: onlyPostgres ? withoutDatabase.map((folder) => `test/${folder}/**`) : [],
    // two cores: more workers only make the ones that measure time fight each other
    maxWorkers: 2,
    minWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
