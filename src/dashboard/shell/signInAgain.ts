/** Whether a page with what is not saved waits for the person to sign in again, in another tab. */
let isAwaited = false
const listeners = new Set<() => void>()

export const awaitSignIn = (is: boolean): void => {
  isAwaited = is
  for (const listener of listeners) listener()
}

/** For `useSyncExternalStore`. */
export const signInAwaited = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  current: () => isAwaited
}
