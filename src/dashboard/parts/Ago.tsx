import { useEffect, useState } from "react"
import { relative } from "./format.ts"

const tickMillis = 1_000

/** How long ago something began that goes on: it counts on by itself, since what is read anew of it is the same. */
export const Ago = ({ of }: { readonly of: string }) => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMillis)
    return () => clearInterval(timer)
  }, [])
  return relative(of, now)
}
