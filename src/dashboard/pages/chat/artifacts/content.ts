import { queryOptions } from "@tanstack/react-query"
import { failureOf, unreachable } from "../../../api/failure.ts"
import type { Artifact } from "../conversation.ts"

/** The text of a version, which never changes. */
export const content = ({ content_url, id, version }: Artifact) =>
  queryOptions({
    queryKey: ["artifact-content", id, version],
    queryFn: async ({ signal }) => {
      const response = await fetch(content_url, { signal }).catch((thrown: unknown) => {
        throw thrown instanceof DOMException && thrown.name === "AbortError" ? thrown : unreachable()
      })
      if (!response.ok) throw failureOf(response, await response.json().catch(() => undefined))
      return response.text()
    },
    staleTime: Number.POSITIVE_INFINITY
  })

/** What runs in a frame of its own, which reaches neither this page nor the network. */
export const isPage = ({ media_type }: Artifact): boolean =>
  media_type === "text/html" || media_type === "image/svg+xml" || media_type === "application/xhtml+xml"

const languages: Readonly<Record<string, string>> = {
  "text/html": "html",
  "image/svg+xml": "html",
  "application/json": "json",
  "text/css": "css",
  "text/javascript": "javascript",
  "application/javascript": "javascript",
  "text/x-python": "python"
}

/** For the colours of its text: by the media type, else by the ending of the name. */
export const languageOf = ({ media_type, name }: Artifact): string =>
  languages[media_type] ?? /\.(\w{1,10})$/.exec(name)?.[1] ?? ""
