import { Status } from "../../parts/Status.tsx"

const states: Readonly<Record<string, readonly [state: string, label: string]>> = {
  queued: ["pending", "queued"],
  succeeded: ["success", "succeeded"],
  insufficient_data: ["timeout", "too little data"]
}

/** How far an analysis is. */
export const StateOf = ({ status }: { readonly status: string }) => {
  const [state, label] = states[status] ?? [status, status]
  return <Status state={state} label={label} />
}
