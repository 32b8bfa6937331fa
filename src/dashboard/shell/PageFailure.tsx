import { useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { balance } from "../api/queries.ts"
import { Failure } from "../parts/Failure.tsx"

const reload = () => location.reload()

/** A part of the page that could not be loaded or shown: it is asked for again by a new page only. */
export const PageFailure = ({ error }: { readonly error: unknown }) => {
  const queries = useQueryClient()
  useEffect(() => {
    // once the service answers: before that the browser would have only an error of its own to show
    const isOnline = () => void queries.fetchQuery({ ...balance, staleTime: 0 }).then(reload, () => undefined)
    addEventListener("online", isOnline)
    return () => removeEventListener("online", isOnline)
  }, [queries])
  return <Failure error={error} retry={reload} />
}
