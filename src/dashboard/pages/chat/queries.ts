import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { client, take } from "../../api/client.ts"
import { byCursor, everyPage, maxPage } from "../../api/queries.ts"

const runningMillis = 5_000

export const chatProjects = queryOptions({
  queryKey: ["chat-projects"],
  queryFn: ({ signal }) => everyPage((query) => take(client.GET("/api/chat/projects", { params: { query }, signal }))),
  staleTime: 60_000
})

export const chatModels = (project: string) =>
  queryOptions({
    queryKey: ["chat-models", project],
    queryFn: ({ signal }) =>
      everyPage((query) =>
        take(client.GET("/api/chat/models", { params: { query: { ...query, project_id: project } }, signal }))
      ),
    staleTime: 60_000
  })

export const conversations = infiniteQueryOptions({
  queryKey: ["conversations"],
  queryFn: ({ pageParam, signal }) =>
    take(
      client.GET("/api/chat/conversations", {
        params: { query: pageParam === null ? {} : { cursor: pageParam } },
        signal
      })
    ),
  ...byCursor
})

/** Those whose answer is being written; asked for again only while there is one. */
export const runningConversations = queryOptions({
  queryKey: ["running-conversations"],
  queryFn: ({ signal }) =>
    take(
      client.GET("/api/chat/conversations", { params: { query: { running: "true", limit: `${maxPage}` } }, signal })
    ),
  refetchInterval: ({ state }) => ((state.data?.items.length ?? 0) > 0 ? runningMillis : false)
})
