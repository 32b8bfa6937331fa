import {
  type DataTag,
  type InvalidateOptions,
  type InvalidateQueryFilters,
  QueryClient,
  type QueryKey
} from "@tanstack/react-query"
import { ApiFailure } from "./failure.ts"

const maxRetries = 3
const defaultRetryMillis = 2_000

/** What another moment may change; a missing master key is not of that kind. */
export const isPassing = (error: unknown): error is ApiFailure =>
  error instanceof ApiFailure &&
  (error.status === 503 || error.status === 0) &&
  error.error.code !== "sealing_unavailable"

/** TanStack's own client lets a first load go on when its query is invalidated, and keeps its answer from before the change. */
class Queries extends QueryClient {
  override invalidateQueries<Key extends QueryKey>(filters?: InvalidateQueryFilters<Key>, options?: InvalidateOptions) {
    for (const query of this.getQueryCache().findAll(filters)) {
      if (query.state.data !== undefined || query.state.fetchStatus === "idle") continue
      // silently: whoever waits for its answer gets the next one
      void query.cancel({ silent: true })
      // its failure is in its state
      query.fetch().catch(() => {})
    }
    return super.invalidateQueries(filters, options)
  }
}

/** What is temporary is asked again, when the service says so; nothing else is. */
export const queryClient = new Queries({
  defaultOptions: {
    queries: {
      // a service on the own machine answers without a network, too
      networkMode: "always",
      refetchOnReconnect: true,
      staleTime: 10_000,
      retry: (failed, error) => isPassing(error) && failed < maxRetries,
      retryDelay: (_, error) => (isPassing(error) ? (error.retryAfterMillis ?? defaultRetryMillis) : defaultRetryMillis)
    },
    mutations: { networkMode: "always", retry: false }
  }
})

/** What a change has answered. What was asked for before the change, and comes after it, would undo it on the page. */
export const keepAnswer = async <Data>(
  queries: QueryClient,
  { queryKey }: { readonly queryKey: DataTag<QueryKey, Data, Error> },
  answer: Data
): Promise<void> => {
  await queries.cancelQueries({ queryKey, exact: true })
  queries.setQueryData<Data, QueryKey, Data>(queryKey, () => answer)
}

/** What a project's rules decide, and how its calls would be routed. */
const ruled = ["alpha-curve", "route", "chat-route", "chat-models"]

/** Reads anew what follows from the rules of a project, and the records that were changed with them. */
export const rulesChanged = (queries: QueryClient, project: string, ...changed: ReadonlyArray<string>) =>
  Promise.all([...ruled, ...changed].map((name) => queries.invalidateQueries({ queryKey: [name, project] })))
