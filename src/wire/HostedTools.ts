import * as Schema from "effect/Schema"

const webSearch = /^web_search(_[a-z0-9_]{1,48})?$/

/** Web search is the only hosted tool that is removed without an error, since agents send it with every call. */
export const isWebSearch = (type: string): boolean => webSearch.test(type)

export const WebSearchType = Schema.String.pipe(Schema.pattern(webSearch)).annotations({
  description: "Hosted web search: removed before execution, and named in `X-Service-Dropped-Tools`."
})
