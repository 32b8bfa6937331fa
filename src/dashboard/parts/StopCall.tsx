import { Button } from "@mantine/core"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useRef } from "react"
import { client, type Records, take } from "../api/client.ts"
import { ApiFailure } from "../api/failure.ts"
import { leaveFocus } from "./leaveFocus.ts"

interface StopCallProps {
  readonly projectId: string
  readonly call: Records["InFlightOut"]
}

/** Ends a running call; what it has streamed is charged. One that has ended meanwhile is as good as stopped. */
export const StopCall = ({ call, projectId }: StopCallProps) => {
  const queries = useQueryClient()
  const button = useRef<HTMLButtonElement>(null)
  const stop = useMutation({
    mutationFn: () =>
      take(
        client.POST("/api/projects/{id}/in-flight/{request_id}/stop", {
          params: { path: { id: projectId, request_id: call.id } }
        })
      ),
    onSuccess: () => leaveFocus(button.current),
    onSettled: () =>
      Promise.all([["in-flight", projectId], ["balance"]].map((queryKey) => queries.invalidateQueries({ queryKey })))
  })
  const isFailed = stop.error !== null && !(stop.error instanceof ApiFailure && stop.error.status === 404)
  return (
    <Button
      ref={button}
      size="compact-xs"
      variant="default"
      loading={stop.isPending}
      disabled={stop.isSuccess}
      title={isFailed ? String(stop.error) : undefined}
      aria-label={`Stop the call of ${call.requested_model}`}
      onClick={(event) => {
        event.stopPropagation()
        // the next call comes in its place
        if (event.detail < 2) stop.mutate()
      }}
    >
      {isFailed ? "Failed: stop again" : stop.isSuccess ? "Stopping" : "Stop"}
    </Button>
  )
}
