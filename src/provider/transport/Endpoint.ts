/** The address of a provider. The origin comes from the registry only, never from a request. */
export interface Endpoint {
  readonly origin: string
  /** Without a trailing slash; empty for a bare origin. */
  readonly basePath: string
}

/** `undefined` unless it is an http(s) URL without credentials, query or fragment. */
export const parse = (baseUrl: string): Endpoint | undefined => {
  if (!URL.canParse(baseUrl)) return undefined
  const url = new URL(baseUrl)
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined
  return { origin: url.origin, basePath: withoutTrailingSlashes(url.pathname) }
}

const withoutTrailingSlashes = (path: string): string => {
  let end = path.length
  while (path.endsWith("/", end)) end--
  return path.slice(0, end)
}

/** For base URLs in the code. */
export const of = (baseUrl: string): Endpoint => {
  const endpoint = parse(baseUrl)
  if (endpoint === undefined) throw new Error(`not a base URL: ${baseUrl}`)
  return endpoint
}
