import { UnknownPath } from "../domain/GatewayError.ts"
import { nearest } from "../domain/Nearest.ts"
import * as AccountPaths from "./account/AccountPaths.ts"
import { inferencePaths, routedPaths } from "./Paths.ts"

const fixed: ReadonlyArray<string> = [...Object.values(inferencePaths), ...Object.values(routedPaths)]

/** Endpoints that others have replaced, at the services whose formats these are. */
const replaced: Readonly<Record<string, string>> = {
  "/v1/completions": inferencePaths.createChatCompletion,
  "/v1/complete": inferencePaths.createMessage
}

/** The services whose formats these are have endpoints that the gateway has nothing like, such as embeddings: what it has is named. */
const offered = [inferencePaths.createChatCompletion, inferencePaths.createResponse, inferencePaths.createMessage]

export const unknownPath = (path: string): UnknownPath => {
  const near = meantPath(path)
  const isInference = path === "/v1" || path.startsWith("/v1/")
  return new UnknownPath({ path, near, offered: near === undefined && isInference ? offered : undefined })
}

/**
 * The path of the gateway that an unknown one most likely means: with `//`, a slash at its end, a missing or doubled `/v1`, a
 * prefix of another service, other capitals or a typing error.
 */
export const meantPath = (path: string): string | undefined => {
  const plain = withoutSlashAtEnd(path.replace(/\/{2,}/g, "/"))
  if (plain !== path && fixed.includes(plain)) return plain
  const lower = plain.toLowerCase()
  return (
    fixed.find((known) => lower === known || `/v1${lower}` === known) ??
    replaced[lower] ??
    replaced[`/v1${lower}`] ??
    fixed.find((known) => known.startsWith("/v1/") && lower.endsWith(known)) ??
    // in the middle of a path of the account an empty segment is an id that is missing
    AccountPaths.nearestPath(withoutSlashAtEnd(path.replace(/^\/{2,}/, "/"))) ??
    nearest(lower, fixed)
  )
}

const withoutSlashAtEnd = (path: string): string => (path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path)
