import { masterKey, type Service, startService } from "../support/Service.ts"

export interface SeededService {
  readonly url: string
  readonly service: Service
  readonly projectId: string
  /** Every page by name, as a path below `/dashboard`. */
  readonly paths: Readonly<Record<string, string>>
  /** A fresh one: each works once. */
  readonly signInLink: () => Promise<string>
  readonly api: Api
  readonly stop: () => Promise<unknown>
}

/** A request to the account API, as the operator; other answers than 2xx are errors. */
export type Api = <Answer>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<Answer>

/** The link that the service has printed at its start. */
export const printedLink = async (service: Service): Promise<string> => {
  for (;;) {
    const link = /Dashboard (http\S+)/.exec(service.output())?.[1]
    if (link !== undefined) return link
    await new Promise((resolve) => service.process.stdout?.once("data", resolve))
  }
}

/** The operator as a script, by the printed link. */
export const operatorApi = async (service: Service): Promise<Api> => {
  const code = new URL(await printedLink(service)).hash.slice("#code=".length)
  const send = async (
    method: string,
    path: string,
    body: unknown,
    token?: string,
    headers: Readonly<Record<string, string>> = {}
  ) => {
    const response = await service.fetch(path, {
      method,
      headers: {
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === "" ? undefined : JSON.parse(text)
  }
  const { token } = await send("POST", "/api/session", { code, transport: "bearer" })
  return (method, path, body, headers) => send(method, path, body, token, headers)
}

/** What the sign-in page leaves in a browser: it is loaded where it is what is tested, since each load of a page takes a second. */
export const signedInProfile = async (service: Service, api: Api) => {
  const { url } = await api<{ readonly url: string }>("POST", "/api/session/links")
  const response = await service.post("/api/session", {
    code: new URL(url).hash.slice("#code=".length),
    transport: "cookie"
  })
  const [name = "", value = ""] = (response.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=") ?? []
  const { csrf_token: token } = (await response.json()) as { readonly csrf_token: string }
  const { hostname, origin } = new URL(service.url)
  return {
    cookies: [
      {
        name,
        value,
        domain: hostname,
        path: "/",
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: "Strict" as const
      }
    ],
    origins: [{ origin, localStorage: [{ name: "gateway.page-token", value: token }] }]
  }
}

const collectedCalls = 6

/** Collects the same call some times, and finds that it was the same. */
const analysed = async (api: Api, of: string, ask: () => Promise<unknown>) => {
  const settings = await api<{ readonly config_version: number }>("GET", `${of}/capture`)
  await api("PUT", `${of}/capture`, { enabled: true, sampling_rate: 1, config_version: settings.config_version })
  for (let asked = 0; asked < collectedCalls; asked += 1) await ask()
  const stored = () => api<{ readonly samples_stored: number }>("GET", `${of}/capture`)
  while ((await stored()).samples_stored < collectedCalls) await new Promise((resolve) => setTimeout(resolve, 100))
  const { items } = await api<{ readonly items: ReadonlyArray<{ readonly id: string }> }>(
    "GET",
    `${of}/capture/samples?limit=1`
  )
  const { id } = await api<{ readonly id: string }>("POST", `${of}/analyses`, {})
  const ended = () => api<{ readonly finished_at: string | null }>("GET", `/api/analyses/${id}`)
  while ((await ended()).finished_at === null) await new Promise((resolve) => setTimeout(resolve, 100))
  return { analysisId: id, sampleId: items[0]?.id ?? "" }
}

/** A service with a little of everything in it, so that every page has something to show. */
export const seededService = async (env: Readonly<Record<string, string>> = {}): Promise<SeededService> => {
  const service = await startService({ env: { SIMULATED_PROVIDERS: "on", GATEWAY_MASTER_KEY: masterKey, ...env } })
  const api = await operatorApi(service)
  const me = await api<{ readonly default_project_id: string }>("GET", "/api/me")
  const projectId = me.default_project_id
  const of = `/api/projects/${projectId}`

  const ci = await api<{ readonly id: string }>("POST", `${of}/keys`, { name: "ci", spend_limit_microusd: 5_000_000 })
  await api("POST", `${of}/routing-configurations`, { slug: "cheap", models: ["sim/*"], alpha: 0.2 })
  await api("PUT", `${of}/alerts`, {
    webhook_url: null,
    thresholds: [{ type: "spend", amount_microusd: 1_000_000, period: "day" }]
  })
  const ask = (model: string, more: object = {}) =>
    service.post("/v1/chat/completions", {
      model,
      messages: [{ role: "user", content: "Why is the sky blue?" }],
      ...more
    })
  const calls = ["auto", "auto", "auto", "sim/fast", "sim/balanced", "auto:cheap", "sim/best", "sim2/deep"]
  const answers = await Promise.all([...calls, "sim/fail-429", "sim/none"].map((model) => ask(model)))
  const [first] = answers
  const requestId = first?.headers.get("x-request-id") ?? ""
  await Promise.all(answers.map((answer) => answer.text()))
  const { items } = await api<{ items: ReadonlyArray<{ id: string }> }>("GET", `${of}/keys`)
  const checkout = await api<{ readonly session_id: string }>("POST", "/api/me/checkout", {
    credit_amount_cents: 2_500
  })

  const { analysisId, sampleId } = await analysed(api, of, () =>
    ask("sim/fast", { token_doctor: true, temperature: 0 }).then((answer) => answer.text())
  )

  const conversation = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
  await api("POST", `/api/chat/conversations/${conversation.id}/messages`, {
    content: "Why is the sky blue?",
    model: "auto"
  })

  const page = `/p/${projectId}`
  return {
    url: service.url,
    service,
    projectId,
    api,
    paths: {
      overview: page,
      keys: `${page}/keys`,
      key: `${page}/keys?key=${ci.id ?? items[0]?.id}`,
      "create-key": `${page}/keys?new=1`,
      requests: `${page}/requests`,
      refused: `${page}/requests?tab=refused`,
      request: `${page}/requests?request=${requestId}`,
      "request-page": `/requests/${requestId}`,
      activity: `${page}/activity`,
      routing: `${page}/routing`,
      "routing-cheap": `${page}/routing/cheap`,
      policy: `${page}/policy`,
      models: `${page}/models`,
      providers: `${page}/providers`,
      alerts: `${page}/alerts`,
      analyses: `${page}/analyses`,
      "new-analysis": `${page}/analyses?new=1`,
      samples: `${page}/analyses?tab=samples`,
      sample: `${page}/analyses?tab=samples&sample=${sampleId}`,
      analysis: `${page}/analyses/${analysisId}`,
      chat: "/chat",
      conversation: `/chat/${conversation.id}`,
      credits: "/credits",
      checkout: `/checkout/${checkout.session_id}`,
      settings: "/settings",
      members: "/settings?tab=members",
      sessions: "/settings?tab=sessions",
      audit: "/settings?tab=audit",
      admin: "/admin",
      "admin-projects": "/admin?tab=projects"
    },
    signInLink: async () => (await api<{ readonly url: string }>("POST", "/api/session/links")).url,
    stop: () => service.stop()
  }
}
