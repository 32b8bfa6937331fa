import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query"
import { client, type Records, take } from "../../api/client.ts"
import { byCursor, pageOf } from "../../api/queries.ts"

/** How often an analysis that waits or runs is asked for. */
const progressMillis = 1_000
/** How often one whose change is being measured is asked for. */
const receiptMillis = 5_000
const pageLength = 50

const readAnalysis = (id: string, signal: AbortSignal) =>
  take(client.GET("/api/analyses/{id}", { params: { path: { id } }, signal }))

export type Analysis = Awaited<ReturnType<typeof readAnalysis>>
export type Report = NonNullable<Analysis["report"]>
export type Cause = Report["causes"][number]
export type Action = Report["actions"][number]
export type Sample = Records["CaptureSample"]

export const isOver = (status: string): boolean => status !== "queued" && status !== "running"

export const capture = (project: string) =>
  queryOptions({
    queryKey: ["capture", project],
    queryFn: ({ signal }) =>
      take(client.GET("/api/projects/{id}/capture", { params: { path: { id: project } }, signal }))
  })

export const samples = (project: string) =>
  infiniteQueryOptions({
    queryKey: ["samples", project],
    queryFn: ({ pageParam, signal }) =>
      take(
        client.GET("/api/projects/{id}/capture/samples", {
          params: {
            path: { id: project },
            query: pageOf(pageLength, pageParam)
          },
          signal
        })
      ),
    ...byCursor
  })

/** Reads anew what is stored. */
export const samplesErased = (queries: QueryClient, project: string) =>
  Promise.all(["capture", "samples"].map((name) => queries.invalidateQueries({ queryKey: [name, project] })))

/** With its content: each read is recorded in the audit log, so that none is repeated by itself. */
export const sample = (id: string) =>
  queryOptions({
    queryKey: ["sample", id],
    queryFn: ({ signal }) => take(client.GET("/api/capture/samples/{id}", { params: { path: { id } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false
  })

export const analyses = (project: string) =>
  infiniteQueryOptions({
    queryKey: ["analyses", project],
    queryFn: ({ pageParam, signal }) =>
      take(
        client.GET("/api/projects/{id}/analyses", {
          params: {
            path: { id: project },
            query: pageOf(pageLength, pageParam)
          },
          signal
        })
      ),
    ...byCursor,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.items.some(({ status }) => !isOver(status)) === true ? progressMillis : false
  })

export const analysis = (id: string) =>
  queryOptions({
    queryKey: ["analysis", id],
    queryFn: ({ signal }) => readAnalysis(id, signal),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined) return false
      if (!isOver(data.status)) return progressMillis
      return data.report?.actions.some(({ receipt }) => receipt?.state === "running") === true ? receiptMillis : false
    }
  })

/** What an analysis would read, by the range that is asked for. */
export const estimate = (project: string, body: Records["CreateAnalysis"]) =>
  queryOptions({
    queryKey: ["analysis-estimate", project, body],
    queryFn: ({ signal }) =>
      take(client.POST("/api/projects/{id}/analyses/estimate", { params: { path: { id: project } }, body, signal })),
    staleTime: 30_000
  })
