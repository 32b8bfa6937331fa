import * as HttpApi from "@effect/platform/HttpApi"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import { AccountApi } from "../../../src/http/account/AccountApi.ts"
import { logCalls } from "../../account/calls.ts"
import {
  type AccountNode,
  codeAtStart,
  databaseKinds,
  newPerson,
  openDatabase,
  operatorOf,
  type Person,
  sendTo,
  startNode
} from "../../support/AccountService.ts"
import { testKey } from "../../support/Service.ts"

interface DeclaredRoute {
  readonly name: string
  readonly method: string
  readonly path: string
  /** Whether the declaration asks for an identity. */
  readonly isGuarded: boolean
}

const routes: Array<DeclaredRoute> = []
HttpApi.reflect(AccountApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint: { method, name, path }, middleware }) => {
    routes.push({ name, method, path, isGuarded: middleware.size > 0 })
  }
})

/** What belongs to the first tenant, by the kind of thing that an id in a path stands for. */
interface Things {
  readonly project: string
  readonly session: string
  readonly request: string
}

interface Case {
  /** The path with ids of the things; a route without ids has none. */
  readonly path?: (things: Things) => string
  /** A valid body, so that nothing but the id is wrong. */
  readonly body?: unknown
  /** Why a route needs no identity. */
  readonly open?: string
}

/** One for every route: a route without a case fails the suite. */
const cases: Readonly<Record<string, Case>> = {
  createSession: { open: "signs in by a code", body: { code: "x", transport: "bearer" } },
  getSession: {},
  deleteSession: {},
  listSessions: {},
  revokeSession: { path: ({ session }) => `/api/sessions/${session}` },
  createSessionLink: {},
  getMe: {},
  listMyProjects: {},
  createMyProject: { body: { name: "mine" } },
  getProject: { path: ({ project }) => `/api/projects/${project}` },
  updateProject: { path: ({ project }) => `/api/projects/${project}`, body: { name: "taken over" } },
  getActivity: { path: ({ project }) => `/api/projects/${project}/activity` },
  listRequests: { path: ({ project }) => `/api/projects/${project}/requests` },
  getRequest: { path: ({ request }) => `/api/requests/${request}` },
  listRefusals: { path: ({ project }) => `/api/projects/${project}/refusals` },
  getAlerts: { path: ({ project }) => `/api/projects/${project}/alerts` },
  setAlerts: {
    path: ({ project }) => `/api/projects/${project}/alerts`,
    body: { webhook_url: "https://hooks.example.com/", thresholds: [] }
  },
  deleteProject: { path: ({ project }) => `/api/projects/${project}` }
}

const caseOf = ({ name }: DeclaredRoute): Case => cases[name] ?? {}
const hasId = ({ path }: DeclaredRoute): boolean => path.includes("/:")
const unknownId = "00000000-0000-7000-8000-00000000dead"

it("every route of the declaration has a case, and every case a route", () => {
  expect(Object.keys(cases).sort()).toEqual(routes.map(({ name }) => name).sort())
  for (const route of routes) expect([route.name, caseOf(route).path !== undefined]).toEqual([route.name, hasId(route)])
})

describe.each(databaseKinds)("tenants on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let node: AccountNode
  let things: Things
  let owner: Person
  let stranger: Person
  let wrongCredentials: ReadonlyArray<readonly [name: string, headers: Readonly<Record<string, string>>]>
  let revoked: string

  beforeAll(async () => {
    database = await openDatabase(kind)
    node = await startNode(database.env)
    owner = await newPerson(node)
    stranger = await operatorOf(node)
    const made = async (response: Response) => ((await response.json()) as { readonly id: string }).id
    const project = await made(await owner.send("POST", "/api/me/projects", { name: "theirs" }))
    const caller = {
      accountId: owner.accountId,
      projectId: ProjectId.make(project),
      keyId: KeyId.make(unknownId)
    }
    const [request = ""] = await node.run(logCalls([{ caller, agoSeconds: 0 }]))
    things = { project, request, session: await made(await owner.send("GET", "/api/session")) }
    revoked = (await newPerson(node)).token
    await sendTo(node.url, { authorization: `Bearer ${revoked}` })("DELETE", "/api/session")
    const signIn = await sendTo(node.url, {})("POST", "/api/session", {
      code: await codeAtStart(node),
      transport: "cookie"
    })
    const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? ""
    const { csrf_token } = (await signIn.json()) as { readonly csrf_token: string }
    wrongCredentials = [
      ["none", {}],
      ["a project key", { authorization: `Bearer ${testKey}` }],
      ["a revoked token", { authorization: `Bearer ${revoked}` }],
      ["an unknown token", { authorization: `Bearer mrg_st_${"x".repeat(43)}` }],
      ["a malformed header", { authorization: owner.token }],
      ["a cookie without its page token", { cookie }],
      ["a page token without its cookie", { "x-csrf-token": csrf_token }],
      ["a cookie's token as bearer", { authorization: `Bearer ${cookie.split("=")[1]}` }],
      ["a bearer token as cookie", { cookie: `${cookie.split("=")[0]}=${owner.token}`, "x-csrf-token": csrf_token }]
    ]
  }, 120_000)
  afterAll(async () => {
    await node.stop()
    await database.close()
  })

  const fill = (route: DeclaredRoute): string => caseOf(route).path?.(things) ?? route.path

  it.each(routes.filter(hasId).map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s: an id of another tenant is not found, like one that never was",
    async (_, route) => {
      const { body } = caseOf(route)
      const [foreign, unknown] = [fill(route), fill(route).replace(/[0-9a-f-]{36}/, unknownId)]
      const answers = await Promise.all([foreign, unknown].map((path) => stranger.send(route.method, path, body)))
      expect(answers.map(({ status }) => status)).toEqual([404, 404])
      const [one, other] = await Promise.all(answers.map((answer) => answer.text()))
      expect(one).toBe(other)
      expect(JSON.parse(one ?? "")).toMatchObject({ error: { type: "invalid_request_error", code: "not_found" } })
    }
  )

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s: every wrong kind of credential is the same 401",
    async (_, route) => {
      const { body, open } = caseOf(route)
      expect(route.isGuarded || open !== undefined || route.name === "createSessionLink").toBe(true)
      const bodies = await Promise.all(
        wrongCredentials.map(async ([name, headers]) => {
          const answer = await sendTo(node.url, headers)(route.method, fill(route), body)
          expect([name, answer.status]).toEqual([name, 401])
          return answer.text()
        })
      )
      expect(new Set(bodies).size).toBe(1)
    }
  )

  it("leaves everything of the first tenant as it was", async () => {
    expect(await (await owner.send("GET", `/api/projects/${things.project}`)).json()).toMatchObject({ name: "theirs" })
    expect((await owner.send("GET", "/api/session")).status).toBe(200)
  })
})
