import type { RequestOut } from "./Requests.ts"

/** One line for each request, as the JSON of the list. */
export const ndjsonLine = (request: RequestOut): string => `${JSON.stringify(request)}\n`

type Cell = string | number | boolean | null | undefined

/** The columns of the CSV, in order. */
const columns: ReadonlyArray<readonly [name: string, of: (request: RequestOut) => Cell]> = [
  ["id", ({ id }) => id],
  ["started_at", (request) => request.started_at],
  ["ended_at", (request) => request.ended_at],
  ["key_id", (request) => request.key_id],
  ["endpoint", ({ endpoint }) => endpoint],
  ["stream", ({ stream }) => stream],
  ["status", ({ status }) => status],
  ["error_code", ({ error }) => error?.code],
  ["error_message", ({ error }) => error?.message],
  ["requested_model", (request) => request.requested_model],
  ["model", ({ model }) => model],
  ["provider", ({ provider }) => provider],
  ["reason", ({ reason }) => reason],
  ["routing_config", (request) => request.routing_config],
  ["attempts", ({ attempts }) => attempts.length],
  ["cost_microusd", ({ cost }) => cost.amount_microusd],
  ["baseline_model", ({ baseline }) => baseline?.model],
  ["baseline_microusd", ({ baseline }) => baseline?.amount_microusd],
  ["cost_basis", ({ cost }) => cost.basis],
  ["prompt_tokens", ({ usage }) => usage?.prompt_tokens],
  ["cached_tokens", ({ usage }) => usage?.prompt_tokens_details.cached_tokens],
  ["cache_write_tokens", ({ usage }) => usage?.prompt_tokens_details.cache_write_tokens],
  ["completion_tokens", ({ usage }) => usage?.completion_tokens],
  ["reasoning_tokens", ({ usage }) => usage?.completion_tokens_details.reasoning_tokens],
  ["latency_ms", (request) => request.latency_ms],
  ["first_content_ms", (request) => request.first_content_ms],
  ["client_request_id", (request) => request.client_request_id]
]

/** RFC 4180: lines end with CRLF. */
export const csvHeader = `${columns.map(([name]) => name).join(",")}\r\n`

export const csvLine = (request: RequestOut): string => `${columns.map(([, of]) => cell(of(request))).join(",")}\r\n`

/** A spreadsheet runs a cell that begins with one of these as a formula; text is then marked as text by an apostrophe. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

const cell = (value: Cell): string => {
  if (value === null || value === undefined) return ""
  if (typeof value !== "string") return String(value)
  const text = formulaStart.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
