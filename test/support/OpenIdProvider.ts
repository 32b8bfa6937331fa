import { generateKeyPairSync } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import Provider from "oidc-provider"

export const clientSecret = "a-secret-of-the-client"

/** An OpenID provider on loopback, with pages on which anybody can sign in by a name. */
export interface OpenIdProvider {
  readonly url: string
  /** Makes the gateway at this URL its one client; requests before are not answered. */
  readonly serve: (gatewayUrl: string) => void
  readonly stop: () => Promise<void>
}

/** `host` is a name of 127.0.0.1; `rolesOf` a claim of its tokens. */
export const startProvider = async (
  host: "127.0.0.1" | "localhost",
  rolesOf: (login: string) => ReadonlyArray<string>
): Promise<OpenIdProvider> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://${host}:${(server.address() as AddressInfo).port}`
  return {
    url,
    serve: (gatewayUrl) => {
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
      const redirectUri = `${gatewayUrl}/api/session/oidc/callback`
      const provider = new Provider(url, {
        clients: [{ client_id: "gateway", client_secret: clientSecret, redirect_uris: [redirectUri] }],
        jwks: {
          keys: [{ ...privateKey.export({ format: "jwk" }), kty: "RSA", kid: "only", alg: "RS256", use: "sig" }]
        },
        cookies: { keys: ["a key of the provider's cookies"] },
        pkce: { required: () => true },
        conformIdTokenClaims: false,
        claims: { openid: ["sub", "name", "roles"] },
        findAccount: (_, id) => ({
          accountId: id,
          claims: () => Promise.resolve({ sub: id, name: `${id} by name`, roles: [...rolesOf(id)] })
        })
      })
      server.on("request", provider.callback())
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
