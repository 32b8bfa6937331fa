import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { takesEncoding } from "../server/AcceptedEncoding.ts"
import { getOnly } from "../server/RouterResponse.ts"
import type { DocumentName } from "./MakeDocuments.ts"

interface Written {
  readonly plain: Uint8Array
  readonly gzip: Uint8Array | undefined
}

/**
 * As the build has written it beside the bundle; the sources have no build beside them. To make it holds the event loop, and with it
 * every call, for 125 to 340 ms.
 */
const writtenOf = async (name: DocumentName): Promise<Written> => {
  const read = (file: string) => readFile(new URL(`./documents/${file}`, import.meta.url))
  try {
    const [plain, gzip] = await Promise.all([read(name), read(`${name}.gz`)])
    return { plain, gzip }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    const { makeDocument } = await import("./MakeDocuments.ts")
    return { plain: Buffer.from(await makeDocument[name]()), gzip: undefined }
  }
}

/** Read at the first request. */
const served = (name: DocumentName, headersOf: (text: string) => Readonly<Record<string, string>>) => {
  const responsesOf = ({ gzip, plain }: Written) => {
    const headers = { ...headersOf(Buffer.from(plain).toString()), vary: "accept-encoding" }
    return {
      plain: HttpServerResponse.uint8Array(plain, { headers }),
      gzip: gzip && HttpServerResponse.uint8Array(gzip, { headers: { ...headers, "content-encoding": "gzip" } })
    }
  }
  const responses = Effect.cached(
    Effect.map(
      Effect.promise(() => writtenOf(name)),
      responsesOf
    )
  )
  return Effect.map(responses, (read) =>
    getOnly(
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        Effect.map(read, ({ gzip, plain }) =>
          gzip !== undefined && takesEncoding(headers["accept-encoding"] ?? "", "gzip") ? gzip : plain
        )
      )
    )
  )
}

/** The OpenAPI document. */
export const openApi = served("openapi.json", () => ({ "content-type": "application/json" }))

/** The page that shows it. It may run its own scripts and styles and call this service; all other origins are blocked. */
export const docs = served("docs.html", (text) => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `script-src ${scriptsOf(text).join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY"
}))

const scriptStart = "<script>"
const scriptEnd = "</script>"

/** The hash of each inline script, as a source of the policy. */
const scriptsOf = (text: string): ReadonlyArray<string> => {
  const sources: Array<string> = []
  for (let start = text.indexOf(scriptStart); start >= 0; ) {
    const end = text.indexOf(scriptEnd, start)
    const script = text.slice(start + scriptStart.length, end)
    sources.push(`'sha256-${createHash("sha256").update(script).digest("base64")}'`)
    start = text.indexOf(scriptStart, end)
  }
  return sources
}
