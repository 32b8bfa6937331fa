import type { components } from "./schema.d.ts"

export type WireError = components["schemas"]["Error"]

/** What a request has failed with, as the service says it, or that it could not be reached (`status` 0). */
export class ApiFailure extends Error {
  readonly status: number
  readonly error: WireError
  readonly requestId: string | null
  readonly retryAfterMillis: number | null

  constructor(
    status: number,
    error: WireError,
    details: { readonly requestId?: string | null; readonly retryAfterMillis?: number | null } = {}
  ) {
    super(error.message)
    this.name = "ApiFailure"
    this.status = status
    this.error = error
    this.requestId = details.requestId ?? null
    this.retryAfterMillis = details.retryAfterMillis ?? null
  }

  get code(): string {
    return this.error.code
  }
}

export const unreachable = (): ApiFailure =>
  new ApiFailure(0, {
    type: "connection_error",
    code: "unreachable",
    message: "The service does not answer. It may be restarting, or the network is down.",
    param: null
  })

export const failureOf = (response: Response, body: unknown): ApiFailure => {
  const seconds = Number(response.headers.get("retry-after"))
  const error = (body as { readonly error?: Partial<WireError> } | undefined)?.error
  return new ApiFailure(
    response.status,
    {
      type: error?.type ?? "server_error",
      code: error?.code ?? `status_${response.status}`,
      message: error?.message ?? `The service answered with status ${response.status}.`,
      param: error?.param ?? null,
      ...(error?.metadata === undefined ? {} : { metadata: error.metadata })
    },
    {
      requestId: response.headers.get("x-request-id"),
      retryAfterMillis: seconds > 0 ? seconds * 1_000 : null
    }
  )
}

/** Anything thrown, as a failure that can be shown. */
export const asFailure = (thrown: unknown): ApiFailure =>
  thrown instanceof ApiFailure
    ? thrown
    : new ApiFailure(0, {
        type: "page_error",
        code: "page_error",
        message: thrown instanceof Error ? thrown.message : String(thrown),
        param: null
      })
