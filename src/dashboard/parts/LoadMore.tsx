import { Button, type ButtonProps } from "@mantine/core"
import type { UseInfiniteQueryResult } from "@tanstack/react-query"
import { Failure } from "./Failure.tsx"

/** What is read page by page. */
export type Pages = Pick<
  UseInfiniteQueryResult,
  "error" | "fetchNextPage" | "hasNextPage" | "isFetchNextPageError" | "isFetchingNextPage"
>

interface LoadMoreProps extends ButtonProps {
  readonly list: Pages
}

/** The way to the next page of a list, with what went wrong on it; none at the end. */
export const LoadMore = ({ list, ...button }: LoadMoreProps) => {
  const load = () => void list.fetchNextPage()
  if (!list.hasNextPage) return null
  if (list.isFetchNextPageError) return <Failure error={list.error} retry={load} />
  return <Button variant="default" {...button} loading={list.isFetchingNextPage} onClick={load} />
}
