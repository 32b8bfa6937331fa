import { randomBytes } from "node:crypto"
import type { IncomingMessage } from "node:http"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { UnknownPath } from "../../domain/GatewayError.ts"
import * as Errors from "../Errors.ts"
import { takesEncoding } from "../server/AcceptedEncoding.ts"
import * as NodeResponse from "../server/NodeResponse.ts"
import { notAllowed } from "../server/RouterResponse.ts"
import {
  buildRoot,
  builtDirectory,
  type DashboardFile,
  type DashboardFiles,
  isBeingBuilt,
  readFiles
} from "./DashboardFiles.ts"

/** How people sign in: by links of the gateway, or at the identity provider. */
export type SignInMode = "link" | "oidc"

export interface DashboardShape {
  /** Answers a request for a page or a file of the web app; false where the path belongs to neither. */
  readonly answer: (exchange: NodeResponse.HttpExchange, path: string) => boolean
}

/** The web app, from memory. */
export class Dashboard extends Context.Tag("gateway/http/Dashboard")<Dashboard, DashboardShape>() {
  /**
   * What the build has made in this folder, by default beside the bundle. While it is being built, browsers are told so,
   * and their page reloads itself; where there is none, the service has no pages.
   */
  static readonly layer = (signIn: SignInMode, root = buildRoot): Layer.Layer<Dashboard> =>
    Layer.sync(this, () => (isBeingBuilt(root) ? makeWaiting(root, signIn) : makeBuilt(root, signIn)))

  static readonly layerNone: Layer.Layer<Dashboard> = Layer.succeed(this, { answer: () => false })
}

const base = "/dashboard/"
const assets = "assets/"
const nonceBytes = 16

const makeBuilt = (root: string, signIn: SignInMode): DashboardShape => {
  const directory = builtDirectory(root)
  return directory === undefined ? { answer: () => false } : make(readFiles(directory), signIn)
}

const waitSeconds = 1
const waitingPage = `<!doctype html>
<html lang="en">
<title>The dashboard is being built</title>
<p>The dashboard is being built. This page reloads itself until it is there.</p>
</html>
`

const makeWaiting = (root: string, signIn: SignInMode): DashboardShape => {
  let finished: DashboardShape | undefined
  return {
    answer: (exchange, path) => {
      if (finished === undefined && isPath(path) && !isBeingBuilt(root)) finished = makeBuilt(root, signIn)
      if (finished !== undefined) return finished.answer(exchange, path)
      if (path === "/" && !(isRead(exchange.request) && takesPages(exchange.request))) return false
      if (!isPath(path)) return false
      send(exchange, 503, Buffer.from(waitingPage), {
        ...sameOrigin,
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "retry-after": waitSeconds,
        refresh: waitSeconds
      })
      return true
    }
  }
}

const isPath = (path: string): boolean => path === "/" || path === "/dashboard" || path.startsWith(base)

const make = (built: DashboardFiles, signIn: SignInMode): DashboardShape => {
  const index = built.index.replaceAll("__SIGN_IN__", signIn)

  const page = (exchange: NodeResponse.HttpExchange) => {
    const nonce = randomBytes(nonceBytes).toString("base64")
    const html = index.replaceAll("__NONCE__", nonce)
    send(exchange, 200, Buffer.from(html), {
      ...sameOrigin,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policyWith(nonce),
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin"
    })
  }

  const file = (exchange: NodeResponse.HttpExchange, name: string, found: DashboardFile) => {
    const headers = {
      ...sameOrigin,
      "content-type": found.contentType,
      // the hash in its name changes with its content
      "cache-control": name.startsWith(assets) ? "public, max-age=31536000, immutable" : "no-cache",
      etag: found.tag,
      vary: "accept-encoding"
    }
    if (exchange.request.headers["if-none-match"] === found.tag) {
      NodeResponse.head(exchange, 304, headers)
      exchange.response.end()
      return
    }
    const accepted = exchange.request.headers["accept-encoding"] ?? ""
    if (found.brotli !== undefined && takesEncoding(accepted, "br")) {
      send(exchange, 200, found.brotli, { ...headers, "content-encoding": "br" })
    } else if (found.gzip !== undefined && takesEncoding(accepted, "gzip")) {
      send(exchange, 200, found.gzip, { ...headers, "content-encoding": "gzip" })
    } else send(exchange, 200, found.plain, headers)
  }

  return {
    answer: (exchange, path) => {
      const { request } = exchange
      if (path === "/") {
        if (!isRead(request) || !takesPages(request)) return false
        redirect(exchange)
        return true
      }
      if (path === "/dashboard") {
        if (isRead(request)) redirect(exchange)
        else refuse(exchange)
        return true
      }
      if (!path.startsWith(base)) return false
      if (!isRead(request)) {
        refuse(exchange)
        return true
      }
      const name = path.slice(base.length)
      const found = built.files.get(name)
      if (found !== undefined) file(exchange, name, found)
      else if (name.startsWith(assets)) NodeResponse.error(exchange, Errors.of(new UnknownPath({ path })))
      else page(exchange)
      return true
    }
  }
}

const sameOrigin = { "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" } as const

/** Scripts of this service alone, and styles that carry the nonce of the response. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD"

/** A browser that opens the address, not a program that asks for it. */
const takesPages = ({ headers }: IncomingMessage): boolean => (headers.accept ?? "").includes("text/html")

const redirect = (exchange: NodeResponse.HttpExchange): void => {
  NodeResponse.head(exchange, 303, { location: base, vary: "accept", "cache-control": "no-store", "content-length": 0 })
  exchange.response.end()
}

const refuse = (exchange: NodeResponse.HttpExchange): void =>
  NodeResponse.error(exchange, Errors.of(notAllowed(exchange.request.method ?? "This method")))

const send = (
  exchange: NodeResponse.HttpExchange,
  status: number,
  body: Buffer,
  headers: NodeResponse.Headers
): void => {
  NodeResponse.head(exchange, status, headers, { "content-length": body.length })
  exchange.response.end(exchange.request.method === "HEAD" ? undefined : body)
}
