import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { client, take, takeWithTag } from "./client.ts"
import type { paths } from "./schema.d.ts"

/** What the pages read, each under one key, so that a change updates every page that shows it. */

export const liveMillis = 15_000
/** Of what changes seldom, or is also seen in what is read more often. */
export const seldomMillis = 60_000
const heldMillis = 2_000
export const maxPage = 100

/** Of a list that is read page by page: the page at the cursor, or the first. */
export const pageOf = (limit: number, cursor: string | null) => ({
  limit: `${limit}`,
  ...(cursor === null ? {} : { cursor })
})
export const byCursor = {
  initialPageParam: null as string | null,
  getNextPageParam: (last: { readonly next_cursor: string | null }) => last.next_cursor
}

interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next_cursor: string | null
}

/** A whole list, request by request, for what needs all of it; most lists fit into the first. */
export const everyPage = async <A>(load: (query: ReturnType<typeof pageOf>) => Promise<Page<A>>): Promise<Array<A>> => {
  const items: Array<A> = []
  let cursor: string | null = null
  do {
    const page: Page<A> = await load(pageOf(maxPage, cursor))
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}

export const me = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => take(client.GET("/api/me", { signal })),
  staleTime: 300_000
})

export const projects = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => everyPage((query) => take(client.GET("/api/me/projects", { params: { query }, signal }))),
  staleTime: 60_000
})

export const project = (id: string) =>
  queryOptions({
    queryKey: ["project", id],
    queryFn: ({ signal }) => takeWithTag(client.GET("/api/projects/{id}", { params: { path: { id } }, signal }))
  })

export const balance = queryOptions({
  queryKey: ["balance"],
  queryFn: ({ signal }) => take(client.GET("/api/me/balance", { signal })),
  // what is held comes back soon
  refetchInterval: ({ state }) => ((state.data?.held_microusd ?? 0) > 0 ? heldMillis : liveMillis)
})

export const activity = (id: string, days: number, granularity: "day" | "hour" = "day") =>
  queryOptions({
    queryKey: ["activity", id, days, granularity],
    queryFn: ({ signal }) =>
      take(
        client.GET("/api/projects/{id}/activity", {
          params: { path: { id }, query: { days: `${days}`, granularity } },
          signal
        })
      ),
    refetchInterval: liveMillis
  })

/** What `auto` has saved beside the best model of each call. */
export const savings = (id: string, days: number) =>
  queryOptions({
    queryKey: ["savings", id, days],
    queryFn: ({ signal }) =>
      take(client.GET("/api/projects/{id}/savings", { params: { path: { id }, query: { days: `${days}` } }, signal })),
    refetchInterval: liveMillis
  })

/** The newest calls that run. */
export const inFlight = (id: string) =>
  queryOptions({
    queryKey: ["in-flight", id],
    queryFn: ({ signal }) =>
      take(
        client.GET("/api/projects/{id}/in-flight", {
          params: { path: { id }, query: { limit: `${maxPage}` } },
          signal
        })
      ),
    refetchInterval: 5_000
  })

/** All calls that run, as far as they are scrolled to. */
export const running = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["in-flight", id, "all"],
    queryFn: ({ pageParam, signal }) =>
      take(
        client.GET("/api/projects/{id}/in-flight", {
          params: { path: { id }, query: pageOf(maxPage, pageParam) },
          signal
        })
      ),
    ...byCursor,
    refetchInterval: 2_000
  })

/** The whole catalog of a project, page by page: it is small, and every page that names a model needs it. */
export const catalog = (project: string | undefined) =>
  queryOptions({
    queryKey: ["catalog", project],
    queryFn: ({ signal }) =>
      everyPage((query) =>
        take(
          client.GET("/api/models", {
            params: { query: { ...query, ...(project === undefined ? {} : { project_id: project }) } },
            signal
          })
        )
      ),
    staleTime: 30_000
  })

export const keys = (id: string, page: number) =>
  queryOptions({
    queryKey: ["keys", id, page],
    queryFn: ({ signal }) =>
      take(
        client.GET("/api/projects/{id}/keys", {
          params: { path: { id }, query: { page: `${page}`, limit: "20" } },
          signal
        })
      )
  })

/** As many as one request answers. */
export const keysNearLimit = (id: string) =>
  queryOptions({
    queryKey: ["keys", id, "near limit"],
    queryFn: ({ signal }) =>
      take(
        client.GET("/api/projects/{id}/keys", {
          params: { path: { id }, query: { limit: `${maxPage}`, near_limit: "true" } },
          signal
        })
      )
  })

export const key = (id: string) =>
  queryOptions({
    queryKey: ["key", id],
    queryFn: ({ signal }) => takeWithTag(client.GET("/api/keys/{id}", { params: { path: { id } }, signal }))
  })

type RequestsQuery = NonNullable<paths["/api/projects/{id}/requests"]["get"]["parameters"]["query"]>
export type RequestFilter = Omit<RequestsQuery, "cursor" | "limit">

export const requests = (id: string, filter: RequestFilter) =>
  infiniteQueryOptions({
    queryKey: ["requests", id, filter],
    queryFn: ({ pageParam, signal }) =>
      take(
        client.GET("/api/projects/{id}/requests", {
          params: {
            path: { id },
            query: { ...filter, ...pageOf(maxPage, pageParam) }
          },
          signal
        })
      ),
    ...byCursor
  })

export const request = (id: string) =>
  queryOptions({
    queryKey: ["request", id],
    queryFn: ({ signal }) => take(client.GET("/api/requests/{id}", { params: { path: { id } }, signal })),
    // of a call that has ended only the name of its key changes
    staleTime: Number.POSITIVE_INFINITY
  })

export const refusals = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["refusals", id],
    queryFn: ({ pageParam, signal }) =>
      take(
        client.GET("/api/projects/{id}/refusals", {
          params: { path: { id }, query: pageOf(50, pageParam) },
          signal
        })
      ),
    ...byCursor
  })

/** Few suffice to say that there are some. */
export const newestRefusals = (id: string) =>
  queryOptions({
    queryKey: ["newest-refusals", id],
    queryFn: ({ signal }) =>
      take(client.GET("/api/projects/{id}/refusals", { params: { path: { id }, query: pageOf(50, null) }, signal })),
    refetchInterval: liveMillis
  })

export const ledger = infiniteQueryOptions({
  queryKey: ["ledger"],
  queryFn: ({ pageParam, signal }) =>
    take(
      client.GET("/api/me/ledger", {
        params: { query: pageOf(50, pageParam) },
        signal
      })
    ),
  ...byCursor
})

export const payments = infiniteQueryOptions({
  queryKey: ["payments"],
  queryFn: ({ pageParam, signal }) =>
    take(
      client.GET("/api/me/payments", {
        params: { query: pageOf(20, pageParam) },
        signal
      })
    ),
  ...byCursor
})

export const checkout = (session: string) =>
  queryOptions({
    queryKey: ["checkout", session],
    queryFn: ({ signal }) =>
      take(client.GET("/api/me/checkout/{session_id}", { params: { path: { session_id: session } }, signal }))
  })

export const policy = (id: string) =>
  queryOptions({
    queryKey: ["policy", id],
    queryFn: ({ signal }) => takeWithTag(client.GET("/api/projects/{id}/policy", { params: { path: { id } }, signal }))
  })

/** The newest calls of `auto`, re-ranked at each alpha. */
export const alphaCurve = (id: string) =>
  queryOptions({
    queryKey: ["alpha-curve", id],
    queryFn: ({ signal }) => take(client.GET("/api/projects/{id}/alpha-curve", { params: { path: { id } }, signal })),
    staleTime: 60_000
  })

export const routings = (id: string) =>
  queryOptions({
    queryKey: ["routings", id],
    queryFn: ({ signal }) =>
      everyPage((query) =>
        take(client.GET("/api/projects/{id}/routing-configurations", { params: { path: { id }, query }, signal }))
      )
  })

export const routing = (id: string, slug: string) =>
  queryOptions({
    queryKey: ["routing", id, slug],
    queryFn: ({ signal }) =>
      takeWithTag(
        client.GET("/api/projects/{id}/routing-configurations/{slug}", { params: { path: { id, slug } }, signal })
      )
  })

export const routingVersions = (id: string, slug: string) =>
  infiniteQueryOptions({
    queryKey: ["routing-versions", id, slug],
    queryFn: ({ pageParam, signal }) =>
      take(
        client.GET("/api/projects/{id}/routing-configurations/{slug}/versions", {
          params: { path: { id, slug }, query: pageOf(50, pageParam) },
          signal
        })
      ),
    ...byCursor
  })

export const billingMode = (id: string) =>
  queryOptions({
    queryKey: ["billing-mode", id],
    queryFn: ({ signal }) =>
      takeWithTag(client.GET("/api/projects/{id}/billing-mode", { params: { path: { id } }, signal }))
  })

export const credentials = (id: string) =>
  queryOptions({
    queryKey: ["credentials", id],
    queryFn: ({ signal }) =>
      everyPage((query) =>
        take(client.GET("/api/projects/{id}/credentials", { params: { path: { id }, query }, signal }))
      )
  })

export const members = (id: string) =>
  queryOptions({
    queryKey: ["members", id],
    queryFn: ({ signal }) =>
      everyPage((query) => take(client.GET("/api/projects/{id}/members", { params: { path: { id }, query }, signal })))
  })

export const sessions = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => everyPage((query) => take(client.GET("/api/sessions", { params: { query }, signal })))
})

export const audit = infiniteQueryOptions({
  queryKey: ["audit"],
  queryFn: ({ pageParam, signal }) =>
    take(
      client.GET("/api/audit", {
        params: { query: pageOf(50, pageParam) },
        signal
      })
    ),
  ...byCursor
})

export const alerts = (id: string) =>
  queryOptions({
    queryKey: ["alerts", id],
    queryFn: ({ signal }) => takeWithTag(client.GET("/api/projects/{id}/alerts", { params: { path: { id } }, signal }))
  })

export const users = infiniteQueryOptions({
  queryKey: ["users"],
  queryFn: ({ pageParam, signal }) =>
    take(
      client.GET("/api/admin/users", {
        params: { query: pageOf(maxPage, pageParam) },
        signal
      })
    ),
  ...byCursor
})

export const allProjects = infiniteQueryOptions({
  queryKey: ["all-projects"],
  queryFn: ({ pageParam, signal }) =>
    take(
      client.GET("/api/admin/projects", {
        params: { query: pageOf(maxPage, pageParam) },
        signal
      })
    ),
  ...byCursor
})

/** Of all keys of a project, where one of them is chosen: what names a key in a list has its name itself. */
export const keyNames = (id: string) =>
  queryOptions({
    queryKey: ["keys", id, "names"],
    queryFn: async ({ signal }) => {
      // this list alone is paged by number
      const all = await everyPage(async ({ cursor: page = "1", limit }) => {
        const { items, total } = await take(
          client.GET("/api/projects/{id}/keys", { params: { path: { id }, query: { page, limit } }, signal })
        )
        return { items, next_cursor: Number(page) * maxPage < total ? `${Number(page) + 1}` : null }
      })
      return new Map(all.map(({ id, name }) => [id, name]))
    },
    staleTime: 60_000
  })

/** The newest calls of a filter, for a list that follows them. */
export const newestRequests = (id: string, filter: RequestFilter) =>
  queryOptions({
    queryKey: ["newest-requests", id, filter],
    queryFn: ({ signal }) =>
      take(
        client.GET("/api/projects/{id}/requests", {
          params: { path: { id }, query: { ...filter, limit: "50" } },
          signal
        })
      )
  })
