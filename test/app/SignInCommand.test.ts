import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { loadOptions } from "../../src/app/LoadOptions.ts"
import { run } from "../../src/app/SignInCommand.ts"
import * as Settings from "../../src/config/Settings.ts"
import { masterKey } from "../support/Service.ts"

const refusal = { error: { type: "authentication_error", code: "invalid_api_key", message: "no", param: null } }

/** A service that refuses every proof. */
const refusing = createServer((request, response) => {
  request.resume()
  response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify(refusal))
})

const refused = (env: Readonly<Record<string, string>>) =>
  Settings.load(loadOptions).pipe(
    Effect.flatMap(run),
    Effect.flip,
    Effect.map(({ message }) => message),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
    Effect.provide(NodeFileSystem.layer),
    Effect.runPromise
  )

describe("the command for a sign-in link", () => {
  let port: string
  beforeAll(
    () =>
      new Promise<void>((resolve) =>
        refusing.listen(0, "127.0.0.1", () => {
          port = String((refusing.address() as AddressInfo).port)
          resolve()
        })
      )
  )
  afterAll(() => void refusing.close())

  it("names what a service can have that refuses the proof, and how to make both agree", async () => {
    const message = await refused({ PORT: port, GATEWAY_MASTER_KEY: masterKey })
    for (const cause of ["master key", "clock", "identity provider"]) expect(message).toContain(cause)
    for (const variable of ["HOST", "PORT", "GATEWAY_MASTER_KEY", "DATA_DIR", "OIDC_ISSUER"]) {
      expect(message).toContain(variable)
    }
  })

  it("sends people to the identity provider of its own settings", async () => {
    const oidc = {
      OIDC_ISSUER: "https://issuer.example",
      OIDC_CLIENT_ID: "gateway",
      OIDC_CLIENT_SECRET: "secret",
      PUBLIC_URL: "https://gateway.example"
    }
    expect(await refused({ PORT: port, GATEWAY_MASTER_KEY: masterKey, ...oidc })).toBe(
      "people sign in at the identity provider of OIDC_ISSUER, at https://gateway.example/dashboard/sign-in."
    )
  })
})
