import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose"

type Algorithm = "RS256" | "PS256" | "ES256" | "EdDSA"

export interface IssuerKey {
  readonly kid: string
  readonly alg: Algorithm
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

/** An issuer on loopback that signs whatever a test asks for. */
export interface StubIssuer {
  readonly url: string
  /** The published keys. */
  keys: ReadonlyArray<JWK>
  /** Answers 503 while true. */
  isDown: boolean
  /** Accepts requests and answers none while true. */
  isSilent: boolean
  /** What the token endpoint returns for any code. */
  idToken: string
  /** What the token endpoint answers in its place. */
  tokenFault: { readonly status: number; readonly headers?: Record<string, string>; readonly body: string } | null
  /** The requests that came, by path. */
  readonly requests: Array<string>
  readonly tokenRequests: Array<{ readonly authorization: string | undefined; readonly body: URLSearchParams }>
  /** Ends the requests that have no answer. */
  readonly drop: () => void
  readonly close: () => Promise<void>
}

export const keyOf = async (alg: Algorithm, kid: string): Promise<IssuerKey> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } }
}

export const signed = ({ alg, kid, privateKey }: IssuerKey, claims: JWTPayload, header: object = {}): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey)

export const startIssuer = async (): Promise<StubIssuer> => {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? ""
    stub.requests.push(path)
    const send = (body: object) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify(body))
    }
    if (stub.isSilent) return
    if (stub.isDown) return response.writeHead(503).end()
    switch (path) {
      case "/.well-known/openid-configuration":
        return send({
          issuer: stub.url,
          authorization_endpoint: `${stub.url}/authorize`,
          token_endpoint: `${stub.url}/token`,
          jwks_uri: `${stub.url}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256", "HS256", "none"]
        })
      case "/jwks":
        return send({ keys: stub.keys })
      case "/token":
        return bodyOf(request).then((body) => {
          stub.tokenRequests.push({ authorization: request.headers.authorization, body: new URLSearchParams(body) })
          const fault = stub.tokenFault
          if (fault !== null) {
            response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers }).end(fault.body)
          } else send({ access_token: "opaque", token_type: "Bearer", id_token: stub.idToken })
        })
      default:
        return response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const stub: StubIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: [],
    isDown: false,
    isSilent: false,
    idToken: "",
    tokenFault: null,
    requests: [],
    tokenRequests: [],
    drop: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return stub
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}
