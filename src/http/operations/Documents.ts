import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { getOnly } from "../server/RouterResponse.ts"
import type { DocumentName } from "./MakeDocuments.ts"

/**
 * As the build has written it beside the bundle; the sources have no build beside them. To make it holds the event loop, and with it
 * every call, for 125 to 340 ms.
 */
const textOf = async (name: DocumentName): Promise<string> => {
  try {
    return await readFile(new URL(`./documents/${name}`, import.meta.url), "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    const { makeDocument } = await import("./MakeDocuments.ts")
    return makeDocument[name]()
  }
}

/** Read at the first request. */
const served = (name: DocumentName, respond: (text: string) => HttpServerResponse.HttpServerResponse) =>
  Effect.map(
    Effect.cached(
      Effect.map(
        Effect.promise(() => textOf(name)),
        respond
      )
    ),
    getOnly
  )

/** The OpenAPI document. */
export const openApi = served("openapi.json", (text) =>
  HttpServerResponse.text(text, { contentType: "application/json" })
)

/** The page that shows it. It may run its own scripts and styles and call this service; all other origins are blocked. */
export const docs = served("docs.html", (text) =>
  HttpServerResponse.setHeaders(HttpServerResponse.html(text), {
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
  })
)

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
