/** The page token of the signed-in browser. The session's cookie is not readable here, and counts only together with it. */
const key = "gateway.page-token"

export const pageToken = (): string | null => localStorage.getItem(key)
export const keepPageToken = (token: string): void => {
  localStorage.setItem(key, token)
  hasEnded = false
}
export const forgetPageToken = (): void => {
  localStorage.removeItem(key)
  hasEnded = true
}

/** In this tab; the token itself is common to all tabs of the browser. */
let hasEnded = false

type Listener = () => void
let onSignedOut: Listener = () => {}
let onSignedInElsewhere: Listener = () => {}

/** The router sets what happens when the service no longer accepts the session. */
export const whenSignedOut = (listener: Listener): void => {
  onSignedOut = listener
}

/** What happens when another tab has signed in, as the same person or another. */
export const whenSignedInElsewhere = (listener: Listener): void => {
  onSignedInElsewhere = listener
}

/** Only the first of the requests that a page has sent with this token leads to the sign-in page. */
export const sessionEnded = (sent: string | null): void => {
  const kept = pageToken()
  // another tab has signed in meanwhile: its session has not ended
  if (hasEnded || (kept !== null && kept !== sent)) return
  forgetPageToken()
  onSignedOut()
}

// comes of other tabs only
addEventListener("storage", (event) => {
  if (event.key !== key && event.key !== null) return
  if (event.newValue === null) sessionEnded(null)
  else {
    hasEnded = false
    onSignedInElsewhere()
  }
})
