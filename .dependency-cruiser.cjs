const folders = require("./scripts/lib/folders.cjs")

module.exports = {
  forbidden: [
    { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
    ...Object.entries(folders).map(([folder, may]) => ({
      name: `${folder}-imports-only-down`,
      severity: "error",
      from: { path: `^src/${folder}/` },
      to: { path: "^src/", pathNot: [`^src/${folder}/`, ...may.map((other) => `^src/${other}/`)] }
    })),
    {
      name: "sql-only-in-stores",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/sql/", "Store\\.ts$"] },
      to: { path: "node_modules/@effect/sql" }
    },
    { name: "pg-only-in-sql", severity: "error", from: { path: "^src/", pathNot: "^src/sql/" }, to: { path: "node_modules/(pg|@electric-sql)/" } },
    { name: "undici-only-in-provider-and-egress", severity: "error", from: { path: "^src/", pathNot: "^src/(provider|egress)/" }, to: { path: "node_modules/undici/" } },
    { name: "testing-is-for-users", severity: "error", from: { path: "^src/", pathNot: "^src/testing/" }, to: { path: "^src/testing/" } },
    { name: "dashboard-imports-nothing-of-src", severity: "error", from: { path: "^src/dashboard/" }, to: { path: "^src/", pathNot: "^src/dashboard/" } },
    { name: "nobody-imports-dashboard", severity: "error", from: { path: "^src/", pathNot: "^src/dashboard/" }, to: { path: "^src/dashboard/" } },
    { name: "nobody-imports-main", severity: "error", from: {}, to: { path: "^src/main\\.ts$" } },
    { name: "only-main-imports-app", severity: "error", from: { path: "^src/", pathNot: ["^src/app/", "^src/main\\.ts$"] }, to: { path: "^src/app/" } },
    { name: "nobody-imports-index", severity: "error", from: { path: "^src/" }, to: { path: "^src/index\\.ts$" } }
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] }
  }
}
