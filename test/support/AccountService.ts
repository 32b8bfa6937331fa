import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, expect } from "vitest"
import { bootstrap } from "../../src/app/FirstStart.ts"
import { loadOptions } from "../../src/app/LoadOptions.ts"
import { server } from "../../src/app/Service.ts"
import { serviceDatabase } from "../../src/app/ServiceDatabase.ts"
import { services } from "../../src/app/Services.ts"
import * as Settings from "../../src/config/Settings.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, RequestId, UserId } from "../../src/domain/Ids.ts"
import { Server } from "../../src/http/server/Server.ts"
import { AccountStore } from "../../src/identity/projects/AccountStore.ts"
import { Sessions } from "../../src/identity/sessions/Sessions.ts"
import { SignIn } from "../../src/identity/sessions/SignIn.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"
import { AccountTransactions } from "../../src/sql/AccountDatabase.ts"
import { freshDatabase, postgresServer, skipsEmbedded } from "../ledger/databases.ts"
import { databaseVariables } from "./PostgresServer.ts"
import { masterKey, testKey } from "./Service.ts"

type AllServices =
  | Layer.Layer.Success<ReturnType<typeof services>>
  | Layer.Layer.Success<ReturnType<typeof serviceDatabase>>
  | Server

/** A node of the complete service in this process, on a port of its own. */
export interface AccountNode {
  readonly url: string
  readonly run: <A, E>(effect: Effect.Effect<A, E, AllServices>) => Promise<A>
  readonly stop: () => Promise<void>
}

/** A request with an identity; the body is sent as JSON. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<Response>

/** A person with a bearer session. */
export interface Person {
  readonly userId: UserId
  readonly accountId: AccountId
  readonly token: string
  readonly send: Send
}

/** A database of its own for one test file, on PostgreSQL or embedded. */
export const openDatabase = async (kind: "embedded" | "PostgreSQL") => {
  if (kind === "embedded") return { env: { DATA_DIR: ":memory:" }, close: () => Promise.resolve() }
  if (postgresServer === undefined) throw new Error("there is no PostgreSQL server")
  const scope = await Effect.runPromise(Scope.make())
  const url = await Effect.runPromise(Scope.extend(freshDatabase(postgresServer), scope))
  return { env: databaseVariables(url), close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

export const databaseKinds: ReadonlyArray<"embedded" | "PostgreSQL"> =
  postgresServer === undefined ? ["embedded"] : skipsEmbedded ? ["PostgreSQL"] : ["embedded", "PostgreSQL"]

/** `stripeApi` is the URL of a stand-in for Stripe's API. */
export const startNode = async (
  env: Readonly<Record<string, string>>,
  stripeApi: string | null = null
): Promise<AccountNode> => {
  const loaded = await Effect.runPromise(
    Settings.load(loadOptions).pipe(
      Effect.withConfigProvider(
        ConfigProvider.fromMap(
          new Map(Object.entries({ PORT: "0", GATEWAY_BOOTSTRAP_KEY: testKey, GATEWAY_MASTER_KEY: masterKey, ...env }))
        )
      ),
      Effect.provide(NodeFileSystem.layer)
    )
  )
  const stripe = loaded.stripe === null ? null : { ...loaded.stripe, apiUrl: stripeApi }
  const settings = { ...loaded, stripe, dataDirectory: env["DATA_DIR"] ?? ":memory:" }
  const layer = server(settings).pipe(
    Layer.provideMerge(Layer.effectDiscard(bootstrap(settings.bootstrap))),
    Layer.provideMerge(services(settings)),
    Layer.provideMerge(serviceDatabase(settings)),
    Layer.provide(Logger.remove(Logger.defaultLogger))
  )
  const runtime = ManagedRuntime.make(layer)
  const started = await runtime.runPromiseExit(Server)
  // of the error of a runtime a test prints no cause
  if (Exit.isFailure(started)) throw new Error(Cause.pretty(started.cause, { renderErrorCause: true }))
  const { address } = started.value
  return {
    url: `http://127.0.0.1:${address.port}`,
    run: (effect) => runtime.runPromise(effect),
    stop: () => runtime.dispose()
  }
}

/** Variables of the environment. */
type Variables = Readonly<Record<string, string>>

/**
 * A node for the tests of the block in which this is called, on a database of its own. `more` stands beside the database's
 * variables; a function is called before the node starts.
 */
export const startsNode = (
  kind: "embedded" | "PostgreSQL",
  more: Variables | (() => Promise<Variables>) = {}
): AccountNode & { readonly env: Variables } => {
  let database: Awaited<ReturnType<typeof openDatabase>> | undefined
  let started: AccountNode | undefined
  beforeAll(async () => {
    const variables = typeof more === "function" ? await more() : more
    database = await openDatabase(kind)
    started = await startNode({ ...database.env, ...variables })
  }, 120_000)
  afterAll(async () => {
    await started?.stop()
    await database?.close()
  })
  const node = () => started ?? expect.fail("the node of these tests has not been started")
  return {
    get url() {
      return node().url
    },
    get env() {
      return database?.env ?? {}
    },
    run: (effect) => node().run(effect),
    stop: () => node().stop()
  }
}

export const sendTo =
  (url: string, identity: Readonly<Record<string, string>>): Send =>
  (method, path, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { ...identity, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })

const requestOfTest = {
  address: "127.0.0.1",
  requestId: RequestId.make("00000000-0000-7000-8000-000000000009"),
  userAgent: "a test"
}

/** The operator of the first start, signed in by the link that it prints. */
export const operatorOf = async (node: AccountNode): Promise<Person> => {
  const code = await codeAtStart(node)
  const response = await sendTo(node.url, {})("POST", "/api/session", { code, transport: "bearer" })
  const { token } = (await response.json()) as { readonly token: string }
  const send = sendTo(node.url, { authorization: `Bearer ${token}` })
  const me = (await (await send("GET", "/api/me")).json()) as {
    readonly user: { readonly id: string }
    readonly accounts: ReadonlyArray<{ readonly id: string }>
  }
  return { userId: UserId.make(me.user.id), accountId: AccountId.make(me.accounts[0]?.id ?? ""), token, send }
}

export const codeAtStart = (node: AccountNode): Promise<string> =>
  node.run(
    Effect.map(
      Effect.flatMap(SignIn, (signIn) => signIn.codeAtStart),
      (made) => made?.code ?? ""
    )
  )

/** Another tenant: a person with an account of their own, who is no operator. */
export const newPerson = (node: AccountNode, name = "another person"): Promise<Person> =>
  node.run(
    Effect.gen(function* () {
      const { uuid } = yield* IdGenerator
      const [userId, accountId] = [UserId.make(uuid()), AccountId.make(uuid())]
      const sessions = yield* Sessions
      const opened = yield* (yield* AccountTransactions).commit(() =>
        Effect.gen(function* () {
          yield* (yield* AccountStore).create({ userId, accountId, name })
          yield* (yield* Scopes).open("account", accountId, null)
          return yield* sessions.open({ userId, accountId }, { ...requestOfTest, transport: "bearer" })
        })
      )
      return {
        userId,
        accountId,
        token: opened.token,
        send: sendTo(node.url, { authorization: `Bearer ${opened.token}` })
      }
    })
  )
