import { useMutation, useQueryClient } from "@tanstack/react-query"
import { client, type Records, take } from "../../api/client.ts"
import { AskInPlace } from "../../parts/AskInPlace.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"

interface DeleteKeyProps {
  readonly of: Pick<Records["ApiKeyOut"], "id" | "project_id">
  readonly onClose: () => void
}

/** Takes a revoked key off the list. */
export const DeleteKey = ({ of: { id, project_id }, onClose }: DeleteKeyProps) => {
  const queries = useQueryClient()
  const isShown = useIsShown()
  const remove = useMutation({
    mutationFn: () => take(client.DELETE("/api/keys/{id}", { params: { path: { id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["keys", project_id] })
      if (isShown()) onClose()
    }
  })
  return (
    <AskInPlace
      label="Delete"
      warning="It is not listed any more; its calls stay in the log."
      doing={remove}
      onConfirm={() => remove.mutate()}
    />
  )
}
