const noHeaders: Readonly<Record<string, string>> = {}

/** Names the hosted tools that were removed from a request. */
export const droppedToolsHeader = (names: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  names.length === 0 ? noHeaders : { "x-service-dropped-tools": listed(names) }

/** Clients limit the total size of headers; a longer list ends with an ellipsis. */
const maxListBytes = 1_024
const ellipsis = "..."

const listed = (names: ReadonlyArray<string>): string => {
  const all = names.join(", ")
  if (all.length <= maxListBytes) return all
  const cut = all.slice(0, maxListBytes - ellipsis.length)
  const whole = cut.lastIndexOf(", ")
  return `${whole < 0 ? "" : cut.slice(0, whole + 2)}${ellipsis}`
}
