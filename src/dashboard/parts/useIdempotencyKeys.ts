import { useState } from "react"
import { newIdempotencyKey } from "../api/client.ts"

/** What is sent has the same key again until it was taken, so that it acts once where its answer was lost. */
const makeKeys = () => {
  const keys = new Map<string, string>()
  return {
    headerOf: (...sent: ReadonlyArray<unknown>): { readonly "idempotency-key": string } => {
      const name = JSON.stringify(sent)
      const key = keys.get(name) ?? newIdempotencyKey()
      keys.set(name, key)
      return { "idempotency-key": key }
    },
    taken: () => keys.clear()
  }
}

export type IdempotencyKeys = ReturnType<typeof makeKeys>

/** The keys of what is sent from one place. */
export const useIdempotencyKeys = (): IdempotencyKeys => useState(makeKeys)[0]
