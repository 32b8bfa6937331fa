import { failureOf, unreachable } from "../api/failure.ts"
import { pageToken, sessionEnded } from "../api/session.ts"

/** Saves what the account API answers as a file; a link alone would not carry the page token. */
export const saveFile = async (path: string, accept: string, name: string): Promise<void> => {
  const token = pageToken()
  const response = await fetch(path, { headers: { accept, "x-csrf-token": token ?? "" } }).catch(() => {
    throw unreachable()
  })
  if (response.status === 401) sessionEnded(token)
  if (!response.ok) throw failureOf(response, await response.json().catch(() => undefined))
  const link = document.createElement("a")
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
