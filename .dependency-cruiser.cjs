// What each folder may import; the floors are described in src/README.md.
const table = {
  domain: [],
  wire: ["domain"],
  config: ["domain", "egress"],
  observe: ["domain"],
  sql: ["domain", "observe"],
  catalog: ["domain", "sql"],
  credentials: ["domain", "sql"],
  capture: ["domain", "observe", "sql", "credentials"],
  egress: [],
  audit: ["domain", "sql"],
  identity: ["domain", "sql", "credentials", "audit", "egress"],
  calls: ["domain", "sql", "ledger"],
  policy: ["domain", "sql", "catalog"],
  ledger: ["domain", "sql", "observe"],
  account: ["domain", "wire", "observe", "sql", "catalog", "credentials", "capture", "egress", "audit", "identity", "calls", "policy", "ledger", "provider", "routing"],
  routing: ["domain", "observe", "sql", "catalog", "policy"],
  provider: ["domain", "wire", "observe", "catalog", "egress", "routing"],
  gateway: ["domain", "wire", "config", "observe", "sql", "catalog", "credentials", "identity", "calls", "policy", "ledger", "routing", "provider"],
  analysis: ["domain", "wire", "observe", "sql", "catalog", "credentials", "audit", "identity", "policy", "ledger", "capture", "routing", "provider", "gateway", "account"],
  chat: ["domain", "wire", "observe", "sql", "catalog", "credentials", "audit", "identity", "ledger", "account", "provider", "gateway"],
  http: ["analysis", "domain", "wire", "config", "observe", "catalog", "credentials", "audit", "identity", "calls", "capture", "policy", "ledger", "account", "routing", "gateway", "chat"],
  library: ["domain", "sql", "catalog", "credentials", "capture", "audit", "identity", "calls", "policy", "ledger", "observe", "account", "routing", "provider", "gateway"],
  app: ["analysis", "domain", "wire", "config", "observe", "sql", "catalog", "credentials", "capture", "egress", "audit", "identity", "calls", "policy", "ledger", "account", "routing", "provider", "gateway", "chat", "http"],
  effectAi: ["domain", "wire", "gateway"],
  testing: ["domain", "wire", "sql", "catalog", "identity", "calls", "policy", "ledger", "routing", "provider", "gateway"]
}

module.exports = {
  forbidden: [
    { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
    ...Object.entries(table).map(([folder, may]) => ({
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
