import * as HttpApi from "@effect/platform/HttpApi"
import { nearest } from "../../domain/Nearest.ts"
import { contentPaths, paymentPaths } from "../Paths.ts"
import { AccountApi } from "./AccountApi.ts"

/** Where the account API and the content of conversations are; every path below is one of theirs, or unknown. */
const prefixes = ["/api/", "/content/"]

export const isAccountPath = (path: string): boolean =>
  prefixes.some((prefix) => path.startsWith(prefix)) || undeclared.has(path)

/** Not called with an identity, hence not in the declaration: their methods by path. */
const undeclared: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  [paymentPaths.stripeWebhook, ["POST"]],
  [paymentPaths.testCheckout, ["GET", "POST"]]
])

interface DeclaredPath {
  /** With the names of its parameters. */
  readonly template: string
  readonly segments: ReadonlyArray<string>
  readonly methods: Array<string>
}

const declared = (): ReadonlyArray<DeclaredPath> => {
  const paths = new Map<string, DeclaredPath>()
  HttpApi.reflect(AccountApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      const known = paths.get(path) ?? { template: path, segments: path.split("/"), methods: [] }
      known.methods.push(method)
      paths.set(path, known)
    }
  })
  return [
    ...paths.values(),
    ...contentPaths.map((path) => ({ template: path, segments: path.split("/"), methods: ["GET"] }))
  ]
}

const paths = declared()

/** The methods of a path, as declared; none where the path is unknown. */
export const methodsOf = (path: string): ReadonlyArray<string> =>
  undeclared.get(path) ?? declarationsOf(path).flatMap(({ methods }) => methods)

/** The path as declared, with the names of its parameters; `undefined` where it is unknown. */
export const templateOf = (path: string): string | undefined =>
  undeclared.has(path) ? path : declarationsOf(path)[0]?.template

/** A fixed segment comes before a parameter. */
const declarationsOf = (path: string): ReadonlyArray<DeclaredPath> => {
  const given = path.split("/")
  return paths.filter(
    ({ segments }) =>
      segments.length === given.length &&
      segments.every((segment, at) => (segment.startsWith(":") ? isParameter(given[at] ?? "") : segment === given[at]))
  )
}

/** The known path that an unknown one most likely means: what belongs to the person is below `/api/me`, or there is a typing error. */
export const nearestPath = (path: string): string | undefined => {
  const ofPerson = path.replace(/^\/api\//, "/api/me/")
  if (ofPerson !== path && methodsOf(ofPerson).length > 0) return ofPerson
  const given = path.split("/")
  for (const { segments } of paths) {
    if (segments.length !== given.length) continue
    const meant = segments.map((segment, at) =>
      segment.startsWith(":") ? given[at] : nearest(given[at] ?? "", [segment])
    )
    const filled = meant.join("/")
    if (!meant.slice(1).includes(undefined) && methodsOf(filled).length > 0) return filled
  }
  return undefined
}

/** The platform's router has no answer for a path whose percent signs encode nothing. */
const isParameter = (encoded: string): boolean => {
  try {
    return decodeURIComponent(encoded) !== ""
  } catch {
    return false
  }
}
