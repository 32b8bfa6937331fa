/** The page token of the signed-in browser. The session's cookie is not readable here, and counts only together with it. */
const key = "gateway.page-token"

export const pageToken = (): string | null => localStorage.getItem(key)
export const keepPageToken = (token: string): void => localStorage.setItem(key, token)
export const forgetPageToken = (): void => localStorage.removeItem(key)

type Listener = () => void
let onSignedOut: Listener = () => {}

/** The router sets what happens when the service no longer accepts the session. */
export const whenSignedOut = (listener: Listener): void => {
  onSignedOut = listener
}

/** Only the first of the requests that a page has sent leads to the sign-in page. */
export const sessionEnded = (): void => {
  if (pageToken() === null) return
  forgetPageToken()
  onSignedOut()
}
