import * as HttpApi from "@effect/platform/HttpApi"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { Capture } from "../../../src/capture/Capture.ts"
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

const question = { content: "hello", model: "auto" }
const unknownId = "00000000-0000-7000-8000-00000000dead"

/** What belongs to the first tenant, by the kind of thing that an id in a path stands for. */
interface Things {
  readonly analysis: string
  readonly checkout: string
  readonly credential: string
  readonly account: string
  readonly project: string
  readonly session: string
  readonly key: string
  /** A user of no project, as the one to be added or removed. */
  readonly person: string
  readonly request: string
  /** A captured call. */
  readonly sample: string
  readonly conversation: string
  /** The last answer of the conversation. */
  readonly message: string
}

interface Case {
  /** The path with ids of the things; a route without ids has none. */
  readonly path?: (things: Things) => string
  /** A valid body, so that nothing but the id is wrong. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Why a change below `/api/projects/:id` is allowed to viewers too. */
  readonly forViewers?: string
  /** Why a route needs no identity. */
  readonly open?: string
  /** What an open route answers to who brings nothing, where it is not the 401. */
  readonly openStatus?: number
}

/** One for every route: a route without a case fails the suite. */
const cases: Readonly<Record<string, Case>> = {
  createSession: { open: "signs in by a code", body: { code: "x", transport: "bearer" } },
  startOidc: { open: "begins to sign in at the identity provider", openStatus: 404 },
  finishOidc: { open: "signs in by what the identity provider sends" },
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
  deleteProject: { path: ({ project }) => `/api/projects/${project}` },
  listMembers: { path: ({ project }) => `/api/projects/${project}/members` },
  addMember: {
    path: ({ project }) => `/api/projects/${project}/members`,
    body: { user_id: unknownId, role: "owner" }
  },
  removeMember: { path: ({ project, person }) => `/api/projects/${project}/members?user_id=${person}` },
  listAuditRows: {},
  listAllProjects: {},
  createProject: { body: { user_id: unknownId, name: "for others" } },
  listUsers: {},
  getActivity: { path: ({ project }) => `/api/projects/${project}/activity` },
  getSavings: { path: ({ project }) => `/api/projects/${project}/savings` },
  listRequests: { path: ({ project }) => `/api/projects/${project}/requests` },
  getRequest: { path: ({ request }) => `/api/requests/${request}` },
  listRefusals: { path: ({ project }) => `/api/projects/${project}/refusals` },
  getBalance: {},
  getAnyBalance: { path: ({ account }) => `/api/admin/accounts/${account}/balance` },
  listLedger: {},
  listInFlight: { path: ({ project }) => `/api/projects/${project}/in-flight` },
  stopInFlight: { path: ({ project, request }) => `/api/projects/${project}/in-flight/${request}/stop` },
  createCredit: {
    path: ({ account }) => `/api/admin/accounts/${account}/credits`,
    body: { amount_microusd: 1, note: "x" },
    headers: { "idempotency-key": "isolation" }
  },
  getBillingMode: { path: ({ project }) => `/api/projects/${project}/billing-mode` },
  setBillingMode: { path: ({ project }) => `/api/projects/${project}/billing-mode`, body: { billing_mode: "managed" } },
  listCredentials: { path: ({ project }) => `/api/projects/${project}/credentials` },
  createCredential: {
    path: ({ project }) => `/api/projects/${project}/credentials`,
    body: { provider: "openai", label: "mine", secret: "sk-not-yours" }
  },
  getCredential: { path: ({ credential }) => `/api/credentials/${credential}` },
  updateCredential: { path: ({ credential }) => `/api/credentials/${credential}`, body: { label: "taken over" } },
  deleteCredential: { path: ({ credential }) => `/api/credentials/${credential}` },
  verifyCredential: { path: ({ credential }) => `/api/credentials/${credential}/verify` },
  createCheckout: { body: { credit_amount_cents: 1_000 } },
  getCheckout: { path: ({ checkout }) => `/api/me/checkout/${checkout}` },
  listPayments: {},
  listMyKeys: {},
  createMyKey: { body: { name: "mine" } },
  listKeys: { path: ({ project }) => `/api/projects/${project}/keys` },
  createKey: { path: ({ project }) => `/api/projects/${project}/keys`, body: { name: "taken over" } },
  createAnyKey: { body: { name: "any", project_id: "00000000-0000-7000-8000-00000000dead" } },
  getKey: { path: ({ key }) => `/api/keys/${key}` },
  updateKey: { path: ({ key }) => `/api/keys/${key}`, body: { name: "taken over" } },
  deleteKey: { path: ({ key }) => `/api/keys/${key}` },
  rotateKey: { path: ({ key }) => `/api/keys/${key}/rotate`, body: {} },
  revokeKey: { path: ({ key }) => `/api/keys/${key}/revoke` },
  getPolicy: { path: ({ project }) => `/api/projects/${project}/policy` },
  putPolicy: { path: ({ project }) => `/api/projects/${project}/policy`, body: { allowed_models: [] } },
  simulatePolicy: {
    path: ({ project }) => `/api/projects/${project}/policy/simulate`,
    body: {},
    forViewers: "changes nothing"
  },
  getAlphaCurve: { path: ({ project }) => `/api/projects/${project}/alpha-curve` },
  listRoutingConfigurations: { path: ({ project }) => `/api/projects/${project}/routing-configurations` },
  createRoutingConfiguration: {
    path: ({ project }) => `/api/projects/${project}/routing-configurations`,
    body: { slug: "mine" }
  },
  getRoutingConfiguration: { path: ({ project }) => `/api/projects/${project}/routing-configurations/theirs` },
  putRoutingConfiguration: {
    path: ({ project }) => `/api/projects/${project}/routing-configurations/theirs`,
    body: { alpha: 1 }
  },
  deleteRoutingConfiguration: { path: ({ project }) => `/api/projects/${project}/routing-configurations/theirs` },
  listRoutingVersions: { path: ({ project }) => `/api/projects/${project}/routing-configurations/theirs/versions` },
  activateRoutingVersion: {
    path: ({ project }) => `/api/projects/${project}/routing-configurations/theirs/activate`,
    body: { version: 1 }
  },
  listCatalog: {},
  previewRoute: {
    path: ({ project }) => `/api/projects/${project}/route`,
    body: { model: "auto", messages: [{ role: "user", content: "hello" }] },
    forViewers: "decides without a call"
  },
  estimateAnalysis: {
    path: ({ project }) => `/api/projects/${project}/analyses/estimate`,
    body: {}
  },
  createAnalysis: { path: ({ project }) => `/api/projects/${project}/analyses`, body: {} },
  listAnalyses: { path: ({ project }) => `/api/projects/${project}/analyses` },
  getAnalysis: { path: ({ analysis }) => `/api/analyses/${analysis}` },
  cancelAnalysis: { path: ({ analysis }) => `/api/analyses/${analysis}/cancel` },
  replayAnalysis: {
    path: ({ analysis }) => `/api/analyses/${analysis}/replay`,
    body: { max_spend_microusd: 1 }
  },
  previewAnalysisAction: { path: ({ analysis }) => `/api/analyses/${analysis}/actions/duplicate/preview` },
  applyAnalysisAction: { path: ({ analysis }) => `/api/analyses/${analysis}/actions/duplicate/apply`, body: {} },
  undoAnalysisAction: { path: ({ analysis }) => `/api/analyses/${analysis}/actions/duplicate/undo` },
  getAlerts: { path: ({ project }) => `/api/projects/${project}/alerts` },
  setAlerts: {
    path: ({ project }) => `/api/projects/${project}/alerts`,
    body: { webhook_url: "https://hooks.example.com/", thresholds: [] }
  },
  getCapture: { path: ({ project }) => `/api/projects/${project}/capture` },
  putCapture: {
    path: ({ project }) => `/api/projects/${project}/capture`,
    body: { enabled: true, sampling_rate: 1, config_version: 1 }
  },
  listCaptureSamples: { path: ({ project }) => `/api/projects/${project}/capture/samples` },
  exportCapture: { path: ({ project }) => `/api/projects/${project}/capture/export` },
  eraseCapture: { path: ({ project }) => `/api/projects/${project}/capture/erase`, body: { target: "project" } },
  getCaptureSample: { path: ({ sample }) => `/api/capture/samples/${sample}` },
  deleteCaptureSample: { path: ({ sample }) => `/api/capture/samples/${sample}` },
  listChatProjects: {},
  listChatModels: {},
  createConversation: { body: { project_id: unknownId } },
  listConversations: {},
  getConversation: { path: ({ conversation }) => `/api/chat/conversations/${conversation}` },
  updateConversation: {
    path: ({ conversation }) => `/api/chat/conversations/${conversation}`,
    body: { title: "taken over" }
  },
  deleteConversation: { path: ({ conversation }) => `/api/chat/conversations/${conversation}` },
  restoreConversation: { path: ({ conversation }) => `/api/chat/conversations/${conversation}/restore` },
  sendMessage: { path: ({ conversation }) => `/api/chat/conversations/${conversation}/messages`, body: question },
  retryMessage: {
    path: ({ conversation, message }) => `/api/chat/conversations/${conversation}/messages/${message}/retry`,
    body: {}
  },
  editMessage: {
    path: ({ conversation, message }) => `/api/chat/conversations/${conversation}/messages/${message}/edit`,
    body: question
  },
  stopConversation: { path: ({ conversation }) => `/api/chat/conversations/${conversation}/stop` },
  forkConversation: { path: ({ conversation }) => `/api/chat/conversations/${conversation}/fork`, body: {} },
  uploadChatImage: {},
  listArtifactVersions: {
    path: ({ conversation }) => `/api/chat/conversations/${conversation}/artifacts/${unknownId}/versions`
  },
  saveArtifact: {
    path: ({ conversation }) => `/api/chat/conversations/${conversation}/artifacts`,
    body: { name: "a.md", media_type: "text/markdown", content: "# a" }
  },
  restoreArtifact: {
    path: ({ conversation }) => `/api/chat/conversations/${conversation}/artifacts/${unknownId}/restore`,
    body: { version: 1 }
  },
  deleteArtifact: { path: ({ conversation }) => `/api/chat/conversations/${conversation}/artifacts/${unknownId}` },
  followConversation: { path: ({ conversation }) => `/api/chat/conversations/${conversation}/events` }
}

/** A route of operators is refused to everybody else. */
const isAdmin = ({ path }: DeclaredRoute): boolean => path.startsWith("/api/admin/")
const changesProject = ({ method, path }: DeclaredRoute): boolean =>
  method !== "GET" && path.startsWith("/api/projects/:id")
const caseOf = ({ name }: DeclaredRoute): Case => cases[name] ?? {}
const hasId = ({ path }: DeclaredRoute): boolean => path.includes("/:")

it("every route of the declaration has a case, and every case a route", () => {
  expect(Object.keys(cases).sort()).toEqual(routes.map(({ name }) => name).sort())
  for (const route of routes) expect([route.name, caseOf(route).path !== undefined]).toEqual([route.name, hasId(route)])
})

describe.each(databaseKinds)("tenants on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let node: AccountNode
  let things: Things
  let owner: Person
  let operator: Person
  let stranger: Person
  let viewer: Person
  let wrongCredentials: ReadonlyArray<readonly [name: string, headers: Readonly<Record<string, string>>]>
  let revoked: string

  beforeAll(async () => {
    database = await openDatabase(kind)
    node = await startNode({
      ...database.env,
      OPENAI_API_KEY: "sk-of-the-operator",
      SIMULATED_PROVIDERS: "on",
      LOCAL_CHECKOUT: "on"
    })
    owner = await newPerson(node)
    operator = await operatorOf(node)
    stranger = await newPerson(node)
    const made = async (response: Response) => ((await response.json()) as { readonly id: string }).id
    const project = await made(await owner.send("POST", "/api/me/projects", { name: "theirs" }))
    const caller = {
      accountId: owner.accountId,
      projectId: ProjectId.make(project),
      keyId: KeyId.make(unknownId)
    }
    const [request = ""] = await node.run(logCalls([{ caller, agoSeconds: 0 }]))
    const checkout = await owner.send("POST", "/api/me/checkout", { credit_amount_cents: 1_000 })
    const conversation = await made(
      await owner.send("POST", "/api/chat/conversations", { project_id: project, title: "theirs" })
    )
    const asked = await owner.send("POST", `/api/chat/conversations/${conversation}/messages`, question)
    const { assistant_message } = (await asked.json()) as { readonly assistant_message: { readonly id: string } }
    things = {
      analysis: await made(await owner.send("POST", `/api/projects/${project}/analyses`, {})),
      conversation,
      message: assistant_message.id,
      checkout: ((await checkout.json()) as { readonly session_id: string }).session_id,
      account: owner.accountId,
      credential: await made(
        await owner.send("POST", `/api/projects/${project}/credentials`, {
          provider: "openai",
          label: "own",
          secret: "sk-of-the-owner"
        })
      ),
      project,
      request,
      session: await made(await owner.send("GET", "/api/session")),
      key: await made(await owner.send("POST", "/api/me/keys", { name: "theirs" })),
      person: (await newPerson(node)).userId,
      sample: await captured(project)
    }
    await owner.send("POST", `/api/projects/${project}/routing-configurations`, { slug: "theirs" })
    viewer = await newPerson(node)
    await owner.send("POST", `/api/projects/${project}/members`, { user_id: viewer.userId, role: "viewer" })
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

  /** A call of the project that its collection has kept. */
  const captured = async (project: string): Promise<string> => {
    await operator.send(
      "POST",
      `/api/admin/accounts/${owner.accountId}/credits`,
      { amount_microusd: 1_000_000, note: "for one call" },
      { "idempotency-key": "for one call" }
    )
    await owner.send("PUT", `/api/projects/${project}/capture`, { enabled: true, sampling_rate: 1, config_version: 0 })
    const made = await owner.send("POST", `/api/projects/${project}/keys`, { name: "for one call" })
    const { api_key } = (await made.json()) as { readonly api_key: string }
    const call = await sendTo(node.url, { authorization: `Bearer ${api_key}` })("POST", "/v1/chat/completions", {
      model: "sim/fast",
      token_doctor: true,
      messages: [{ role: "user", content: "hello" }]
    })
    await call.text()
    const id = call.headers.get("x-request-id") ?? ""
    // an answer has been read before its call is handed over
    await vi.waitFor(async () => {
      await node.run(Effect.flatMap(Capture, (capture) => capture.flushed))
      expect((await owner.send("GET", `/api/capture/samples/${id}`)).status).toBe(200)
    }, 10_000)
    return id
  }

  const fill = (route: DeclaredRoute): string => caseOf(route).path?.(things) ?? route.path

  it.each(
    routes
      .filter((route) => hasId(route) && !isAdmin(route))
      .map((route) => [`${route.method} ${route.path}`, route] as const)
  )("%s: an id of another tenant is not found, like one that never was", async (_, route) => {
    const { body, headers } = caseOf(route)
    const [foreign, unknown] = [fill(route), fill(route).replace(/[0-9a-f-]{36}/, unknownId)]
    const answers = await Promise.all(
      [foreign, unknown].flatMap((path) =>
        [stranger, operator].map((person) => person.send(route.method, path, body, headers))
      )
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(new Set(bodies).size).toBe(1)
    expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ error: { type: "invalid_request_error", code: "not_found" } })
  })

  it.each(routes.filter(isAdmin).map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s: is for operators",
    async (_, route) => {
      const { body, headers } = caseOf(route)
      const unknown = fill(route).replace(/[0-9a-f-]{36}/, unknownId)
      const answers = [
        await owner.send(route.method, fill(route), body, headers),
        await owner.send(route.method, unknown, body, headers)
      ]
      expect(answers.map(({ status }) => status)).toEqual([403, 403])
      expect(await answers[0]?.json()).toMatchObject({
        error: { type: "permission_error", code: "operator_required" }
      })
      if (hasId(route)) expect((await operator.send(route.method, unknown, body, headers)).status).toBe(404)
    }
  )

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s: every wrong kind of credential is the same 401",
    async (_, route) => {
      const { body, open, openStatus = 401 } = caseOf(route)
      expect(route.isGuarded || open !== undefined || route.name === "createSessionLink").toBe(true)
      const bodies = await Promise.all(
        wrongCredentials.map(async ([name, headers]) => {
          const answer = await sendTo(node.url, headers)(route.method, fill(route), body)
          expect([name, answer.status]).toEqual([name, openStatus])
          return answer.text()
        })
      )
      expect(new Set(bodies).size).toBe(1)
    }
  )

  it.each(routes.filter(changesProject).map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s: a viewer of the project changes nothing",
    async (_, route) => {
      const { body, forViewers } = caseOf(route)
      const answer = await viewer.send(route.method, fill(route), body)
      if (forViewers !== undefined) return expect(answer.status).toBe(200)
      expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: "role_required" } }])
    }
  )

  it("leaves everything of the first tenant as it was", async () => {
    expect(await (await owner.send("GET", `/api/projects/${things.project}`)).json()).toMatchObject({ name: "theirs" })
    expect((await owner.send("GET", "/api/session")).status).toBe(200)
    expect(await (await owner.send("GET", `/api/keys/${things.key}`)).json()).toMatchObject({
      name: "theirs",
      is_active: true
    })
    expect((await owner.send("GET", `/api/capture/samples/${things.sample}`)).status).toBe(200)
    expect(await (await owner.send("GET", `/api/chat/conversations/${things.conversation}`)).json()).toMatchObject({
      title: "theirs",
      messages: [{ content: "hello" }, { id: things.message }]
    })
  })
})
