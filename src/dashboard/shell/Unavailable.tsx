import { Alert, Button, Group, Text } from "@mantine/core"
import { type QueryCache, useQuery, useQueryClient } from "@tanstack/react-query"
import { useCallback, useEffect, useSyncExternalStore } from "react"
import { ApiFailure } from "../api/failure.ts"
import { balance } from "../api/queries.ts"
import { isPassing } from "../api/queryClient.ts"

const isOfService = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 0 || error.status >= 500)

/** What the page shows and could not be read anew, or is being asked for again. */
const failing = (cache: QueryCache) =>
  cache.findAll({ type: "active" }).filter(({ state }) => isOfService(state.fetchFailureReason))

/**
 * Says that the service is not available while a page waits to ask again, and that what it shows may be old: neither shows in
 * the blocks of the page. A block whose first request has finally failed says so itself.
 */
export const Unavailable = () => {
  const queries = useQueryClient()
  const cache = queries.getQueryCache()
  const isShown = useSyncExternalStore(
    useCallback((changed) => cache.subscribe(changed), [cache]),
    () => failing(cache).some(({ state }) => state.status !== "error" || state.data !== undefined)
  )
  const again = () => Promise.all(failing(cache).map((query) => query.fetch().catch(() => undefined)))
  // every page asks for it every few seconds: the service answers again
  const { dataUpdatedAt } = useQuery(balance)
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each answer
  useEffect(() => {
    for (const query of failing(cache)) {
      if (query.state.status === "error" && isPassing(query.state.error)) query.fetch().catch(() => undefined)
    }
  }, [dataUpdatedAt, cache])
  return isShown ? (
    <Alert color="yellow" variant="outline" role="status" mb="md" title="The service is not available right now">
      <Group justify="space-between" gap="xs">
        <Text size="sm">This page retries automatically. What it shows may be out of date.</Text>
        <Button size="compact-xs" variant="default" onClick={() => void again()}>
          Retry now
        </Button>
      </Group>
    </Alert>
  ) : null
}
