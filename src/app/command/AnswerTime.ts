import * as Effect from "effect/Effect"

const seconds = 30

/** A service that hangs takes a request and never answers it, nor closes its connection. */
export const withinAnswerTime = <E2>(baseUrl: string, failed: (problem: { readonly message: string }) => E2) =>
  Effect.timeoutFail({
    duration: `${seconds} seconds`,
    onTimeout: () =>
      failed({
        message: `the service at ${baseUrl} has not answered within ${seconds} seconds; it may still do what it was asked for.`
      })
  })
