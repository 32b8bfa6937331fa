/** A request of this page to the account API, as the drawer "API" shows it. */
export interface ApiCall {
  readonly id: number
  readonly method: string
  readonly url: string
  readonly body: string | null
  readonly status: number
  readonly millis: number
  readonly requestId: string | null
}

const maxCalls = 50
let calls: ReadonlyArray<ApiCall> = []
let nextId = 1
const listeners = new Set<() => void>()

export const addCall = (call: Omit<ApiCall, "id">): void => {
  calls = [{ id: nextId++, ...call }, ...calls].slice(0, maxCalls)
  for (const listener of listeners) listener()
}

/** For `useSyncExternalStore`. */
export const recordedCalls = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  current: () => calls
}

/** Secrets that a person types are not shown again. */
const secretField = /("(?:secret|code)":)"(?:[^"\\]|\\.)*"/g

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const curlOf = ({ body, method, url }: ApiCall): string =>
  [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`,
    `  -H "authorization: Bearer $IDENTITY_TOKEN"`,
    ...(body === null
      ? []
      : [`  -H "content-type: application/json"`, `  -d ${quoted(body.replace(secretField, '$1"…"'))}`])
  ].join(" \\\n")
