const entryOf = (page: Document): string | null | undefined =>
  page.querySelector("script[type=module]")?.getAttribute("src")

const isReplaced = async (): Promise<boolean> => {
  const response = await fetch(location.pathname, { cache: "no-store" }).catch(() => undefined)
  if (response?.ok !== true) return false
  const entry = entryOf(new DOMParser().parseFromString(await response.text(), "text/html"))
  return entry !== undefined && entry !== entryOf(document)
}

/** More than one part may be missing at a time. */
let isAsking = false

/** Loads the page anew where the service has another build than the one that it came from; never where it does not answer. */
export const reloadIfReplaced = async (): Promise<void> => {
  if (isAsking) return
  isAsking = true
  isAsking = await isReplaced()
  if (isAsking) location.reload()
}
