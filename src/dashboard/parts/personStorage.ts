import { me } from "../api/queries.ts"
import { queryClient } from "../api/queryClient.ts"

/** What a tab keeps of a person. The next one in it must not see it, however the session before has ended. */

const prefix = "gateway.of."
/** `undefined` until it is known who is signed in. */
const ownPrefix = (): string | undefined => {
  const person = queryClient.getQueryData(me.queryKey)?.user.id
  return person === undefined ? undefined : `${prefix}${person}.`
}
const storedKeys = (): ReadonlyArray<string> => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix))

export const kept = (name: string): string | null => {
  const own = ownPrefix()
  return own === undefined ? null : sessionStorage.getItem(own + name)
}

export const keep = (name: string, value: string | null): void => {
  const own = ownPrefix()
  if (own === undefined) return
  // also before a value that there is no room for: an older one would come back
  sessionStorage.removeItem(own + name)
  if (value === null) return
  try {
    sessionStorage.setItem(own + name, value)
  } catch {
    // more than a tab may store is not kept
  }
}

/** The names of what is kept of this person. */
export const keptNames = (): ReadonlyArray<string> => {
  const own = ownPrefix()
  return own === undefined ? [] : storedKeys().flatMap((key) => (key.startsWith(own) ? [key.slice(own.length)] : []))
}

/** Of everybody but this person. */
export const forgetOthers = (): void => {
  const own = ownPrefix()
  for (const key of storedKeys()) if (own === undefined || !key.startsWith(own)) sessionStorage.removeItem(key)
}
