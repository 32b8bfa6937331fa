import { randomBytes } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { ensureBuilt } from "../scripts/lib/built.mjs"
import * as Database from "../src/sql/Database.ts"
import { chromiumPath, noChromium } from "./support/ChromiumPath.ts"
import { copyFrom, createDatabase, dropDatabase, urlOf } from "./support/PostgresServer.ts"

/**
 * Tests begin with databases that have the schema of this version: the embedded one from the build's template, which would otherwise
 * have the migrations of another time, and on PostgreSQL as a copy of one that is migrated here.
 */
export const setup = async () => {
  if (chromiumPath === undefined) console.log(noChromium)
  await ensureBuilt(["template"])
  const server = process.env["TEST_DATABASE_URL"]
  if (server === undefined) return
  const name = `template_${randomBytes(6).toString("hex")}`
  await createDatabase(server, name)
  const url = Option.some(Redacted.make(urlOf(server, name)))
  await Effect.runPromise(Effect.scoped(Layer.build(Database.layer({ url, dataDir: ":memory:" }))))
  copyFrom(name)
  return () => dropDatabase(server, name)
}
