import * as Predicate from "effect/Predicate"

const maxCauses = 8

/** The innermost cause, or the first that `isRoot`: each layer wraps the error of the layer below it. */
export const rootOf = (error: unknown, isRoot: (error: unknown) => boolean = () => false): unknown => {
  let root = error
  for (let depth = 0; depth < maxCauses && !isRoot(root); depth++) {
    // Several addresses of one host were tried.
    const inner: unknown = root instanceof AggregateError ? root.errors[0] : Predicate.isRecord(root) && root["cause"]
    if (!inner) return root
    root = inner
  }
  return root
}

/** What an error says of itself, and none of its other fields: drivers keep rows and parameters there. */
export const messageOf = (error: unknown): string =>
  error instanceof Error && error.message !== ""
    ? error.message
    : Predicate.isRecord(error)
      ? "for no stated reason"
      : String(error)

/** Why, in one line for the log: the message of the innermost cause, with its code where the message does not contain it. */
export const whyOf = (error: unknown): string => {
  const root = rootOf(error)
  const message = messageOf(root)
  const code = Predicate.isRecord(root) ? root["code"] : undefined
  return typeof code !== "string" || message.includes(code) ? message : `${message} (${code})`
}
