import { expect, it } from "vitest"
import { databaseOutages } from "../../../src/domain/DatabaseOutage.ts"
import { accountErrors, ofConnection } from "../../../src/http/Errors.ts"
import { openApiDocument } from "../../../src/http/operations/OpenApiDocument.ts"
import { inferencePaths, routedPaths } from "../../../src/http/Paths.ts"

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

const undescribed = (schema: unknown, path: string): ReadonlyArray<string> => {
  if (Array.isArray(schema)) return schema.flatMap((one) => undescribed(one, path))
  if (!isObject(schema)) return []
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : []
  const missing = properties.flatMap(([name, property]) =>
    isObject(property) && property["description"] === undefined && property["$ref"] === undefined
      ? [`${path}.${name}`]
      : []
  )
  const inner = Object.entries(schema).filter(([key]) => key !== "examples")
  return [...missing, ...inner.flatMap(([key, value]) => undescribed(value, `${path}.${key}`))]
}

const references = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(references)
  if (!isObject(value)) return []
  const own = typeof value["$ref"] === "string" ? [value["$ref"]] : []
  return [...own, ...Object.values(value).flatMap(references)]
}

it("describes every field of every public schema", () => {
  expect(undescribed(openApiDocument(), "")).toEqual([])
})

const parametersOfOperations = () =>
  Object.entries(openApiDocument()["paths"] as Json).flatMap(([path, methods]) =>
    Object.entries(methods as Json).flatMap(([method, operation]) => {
      const { parameters = [] } = operation as { readonly parameters?: ReadonlyArray<Json> }
      return parameters.map((parameter) => [`${method} ${path}`, parameter] as const)
    })
  )

it("has 20 items at most in a page of any list, unless a client says otherwise", () => {
  const limits = parametersOfOperations().filter(([, { name }]) => name === "limit")
  expect(limits.length).toBeGreaterThan(10)
  expect(limits.filter(([, { description }]) => !String(description).includes("20 by default"))).toEqual([])
})

it("describes every parameter of a path, a query or a header, and not by its pattern or encoding", () => {
  const missing = parametersOfOperations().filter(
    ([, { $ref, description }]) =>
      $ref === undefined && !/^(?!a string (?:matching|that is interpreted)\b)./i.test(String(description ?? ""))
  )
  expect(missing.map(([operation, { name }]) => `${operation}: ${name}`)).toEqual([])
})

it("says how requests are answered that cannot be read", () => {
  const { description = "" } = openApiDocument().info
  const codes = [
    "HPE_INVALID_METHOD",
    "HPE_HEADER_OVERFLOW",
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    "ERR_HTTP_REQUEST_TIMEOUT"
  ]
  for (const code of codes) {
    const { error, status } = ofConnection(code)
    expect(description).toContain(`${status} \`${error.code}\``)
  }
})

it("describes each header that calls read", () => {
  const names = ["IdempotencyKey", "ClientRequestId", "TraceParent"]
  const references = names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
  const { components, paths } = openApiDocument()
  expect(components).toMatchObject({ parameters: { TraceParent: { name: "traceparent", in: "header" } } })
  for (const path of [
    inferencePaths.createChatCompletion,
    inferencePaths.createResponse,
    inferencePaths.createMessage,
    "/api/projects/{id}/chat/completions"
  ]) {
    expect([path, paths[path]?.["post"]?.["parameters"]]).toEqual([path, expect.arrayContaining(references)])
  }
})

it("describes every response by its meaning or its status, not by the name of its schema", () => {
  const { components, paths } = openApiDocument()
  const names = new Set([...Object.keys(components.schemas), "Success", "Error", "a string", ""])
  const named = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, { description }]) =>
        names.has(description) ? [`${method} ${path} ${status}`] : []
      )
    )
  )
  expect(named).toEqual([])
})

/** Fields that may be left out, with a default: generated clients take a field with a default for one that is always there. */
const optionalWithDefault = (schema: unknown, path: string): ReadonlyArray<string> => {
  if (Array.isArray(schema)) return schema.flatMap((one) => optionalWithDefault(one, path))
  if (!isObject(schema)) return []
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : []
  const found = properties.flatMap(([name, property]) =>
    isObject(property) && property["default"] !== undefined && !required.includes(name) ? [`${path}.${name}`] : []
  )
  return [...found, ...Object.entries(schema).flatMap(([key, value]) => optionalWithDefault(value, `${path}.${key}`))]
}

it("has no default on a field that a client may leave out, so that generated clients let it be left out", () => {
  expect(optionalWithDefault(openApiDocument(), "")).toEqual([])
})

const patterns = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(patterns)
  if (!isObject(value)) return []
  const own = typeof value["pattern"] === "string" ? [value["pattern"]] : []
  return [...own, ...Object.values(value).flatMap(patterns)]
}

it("has no escaped slash outside a class of a pattern, which generators write into a literal and escape again", () => {
  const found = patterns(openApiDocument())
  expect(found.length).toBeGreaterThan(10)
  expect(found.filter((pattern) => pattern.replace(/\[(?:[^\]\\]|\\.)*\]/g, "").includes("\\/"))).toEqual([])
})

it("refers only to components that it has", () => {
  const document = openApiDocument()
  const known = Object.entries(document.components ?? {}).flatMap(([kind, all]) =>
    Object.keys(all ?? {}).map((name) => `#/components/${kind}/${name}`)
  )
  expect(references(document).filter((reference) => !known.includes(reference))).toEqual([])
})

it("documents the streams, the errors of the specification and the beta label", () => {
  const { info, paths } = openApiDocument()
  expect(info.version).toBe("0.1.0")
  for (const path of ["/v1/chat/completions", "/v1/responses", "/v1/messages"]) {
    const responses = paths[path]?.post?.responses ?? {}
    // apart from each other, so that generated clients do not type every response as either
    expect(Object.keys(responses[200]?.content ?? {})).toEqual(["application/json"])
    expect(paths[path]?.post).toHaveProperty(["x-event-stream", "text/event-stream", "schema"])
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["400", "401", "402", "404", "429", "502"]))
  }
  expect(paths["/v1/responses"]?.post?.summary).toContain("beta")
  // there a stream is all that is sent, and no field asks for it
  const followed = paths["/api/chat/conversations/{id}/events"]?.get
  expect(followed?.responses[200]).toMatchObject({
    description: "OK",
    content: { "text/event-stream": { schema: { type: "string" } } }
  })
  expect(followed).not.toHaveProperty("x-event-stream")
})

it("documents the details of operator endpoints and of a 404", () => {
  const { components, paths } = openApiDocument()
  const ofStatus = (status: string, path: string) =>
    paths[path]?.get?.responses[Number(status)]?.content?.["application/json"]?.schema
  expect(ofStatus("200", "/readyz")).toMatchObject({
    properties: { status: { enum: ["ready"] }, ledger_violations: { type: "object" } }
  })
  expect(ofStatus("503", "/readyz")).toMatchObject({
    properties: { status: { enum: ["shutting_down", "store_unavailable"] }, reason: { enum: [...databaseOutages] } }
  })
  expect(ofStatus("401", "/metrics")).toEqual({ $ref: "#/components/schemas/ErrorResponse" })
  expect(components.schemas?.["Error"]).toMatchObject({
    properties: { metadata: { properties: { excluded: { type: "object" } } } }
  })
})

it("documents exactly the declared paths, but for the document itself and its page", () => {
  const { docs, openApi, ...documented } = routedPaths
  const paths = Object.keys(openApiDocument().paths)
  expect(paths.filter((path) => !path.startsWith("/api/")).sort()).toEqual(
    [...Object.values(inferencePaths), ...Object.values(documented), "/v1/models/{id}"].sort()
  )
  expect(paths).toEqual(expect.arrayContaining(["/api/session", "/api/me", "/api/projects/{id}"]))
  expect([openApi, docs]).toEqual(["/openapi.json", "/docs"])
})

it("documents the errors of the account API as they are sent, and its identities", () => {
  const { paths } = openApiDocument()
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/"))
    .flatMap(([, methods]) => Object.values(methods))
  for (const { responses, security } of operations) {
    const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400)
    expect(errors.map(([status]) => status)).toEqual(expect.arrayContaining(["400", "401", "429", "503"]))
    for (const [, { content }] of errors) {
      expect(content).toEqual({ "application/json": { schema: { $ref: "#/components/schemas/ErrorResponse" } } })
    }
    expect(JSON.stringify(security)).not.toContain("projectKey")
  }
  expect(paths["/api/me"]?.get?.security).toEqual([{ identityToken: [] }, { sessionCookie: [], pageToken: [] }])
})

it("has servers, a sentence on itself, and one tag with a description for each group", () => {
  const { info, paths, servers, tags } = openApiDocument()
  expect(servers).toEqual([{ url: "/", description: expect.any(String) }])
  expect(info.description).toMatch(/\S/)
  const names = (tags ?? []).map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { description } of tags ?? []) expect(description).toMatch(/\S/)
  for (const methods of Object.values(paths)) {
    for (const { tags: own } of Object.values(methods)) for (const tag of own) expect(names).toContain(tag)
  }
})

it("lists every error code of the account API at an endpoint that answers it", () => {
  const described = Object.entries(openApiDocument().paths)
    .filter(([path]) => path.startsWith("/api/"))
    .flatMap(([, methods]) => Object.values(methods as Json))
    .flatMap((operation) => Object.entries((operation as { readonly responses: Json }).responses))
    .map(([status, response]) => `${status} ${String((response as Json)["description"])}`)
  const missing = Object.values(accountErrors).filter(
    ([status, , code]) => !described.some((text) => text.startsWith(`${status} `) && text.includes(`\`${code}\``))
  )
  expect(missing).toEqual([])
})
