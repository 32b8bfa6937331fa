/** The page token of the signed-in browser. The session's cookie is not readable here, and counts only together with it. */
const key = "gateway.page-token"

/** Of a session that has ended it is left empty; where a person has signed out it is removed. */
const ended = ""

export const pageToken = (): string | null => localStorage.getItem(key) || null
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

/** `mayLose`: by the person's own word, so that nothing of the page is kept. */
type SignedOutListener = (mayLose: boolean) => void
let onSignedOut: SignedOutListener = () => {}
let onSignedInElsewhere = (): void => {}

/** The router sets what happens when the service no longer accepts the session. */
export const whenSignedOut = (listener: SignedOutListener): void => {
  onSignedOut = listener
}

/** What happens when another tab has signed in, as the same person or another. */
export const whenSignedInElsewhere = (listener: () => void): void => {
  onSignedInElsewhere = listener
}

/** Only the first of the requests that a page has sent with this token leads to the sign-in page. */
export const sessionEnded = (sent: string | null): void => {
  const kept = pageToken()
  // another tab has signed in meanwhile: its session has not ended
  if (hasEnded || (kept !== null && kept !== sent)) return
  if (kept !== null) localStorage.setItem(key, ended)
  hasEnded = true
  onSignedOut(false)
}

/** Leaves a page that waits for the person to sign in again. */
export const leavePage = (): void => onSignedOut(true)

// comes of other tabs only
addEventListener("storage", (event) => {
  if (event.key !== key && event.key !== null) return
  if (event.newValue !== null && event.newValue !== ended) {
    hasEnded = false
    onSignedInElsewhere()
    return
  }
  const isSignedOut = event.newValue === null
  // another tab has signed in meanwhile: that is said next
  if (pageToken() !== null || (hasEnded && !isSignedOut)) return
  hasEnded = true
  onSignedOut(isSignedOut)
})
