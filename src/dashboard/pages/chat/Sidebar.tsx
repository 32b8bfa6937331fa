import { Stack, Text } from "@mantine/core"
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import { Loaded } from "../../parts/Block.tsx"
import { LinkButton } from "../../parts/LinkButton.tsx"
import { LoadMore } from "../../parts/LoadMore.tsx"
import { conversations, runningConversations } from "./queries.ts"

/** The conversations, the last changed first; those whose answer is being written have a dot. */
export const Sidebar = () => {
  const queries = useQueryClient()
  const list = useInfiniteQuery(conversations)
  const running = useQuery(runningConversations).data?.items ?? []
  const count = useRef(0)
  useEffect(() => {
    // one that has ended stands elsewhere in the list
    if (running.length < count.current) void queries.invalidateQueries({ queryKey: ["conversations"] })
    count.current = running.length
  }, [running.length, queries])
  const isRunning = (id: string) => running.some((each) => each.id === id)
  return (
    <nav className="chat-list" aria-label="Conversations">
      <Stack gap={4}>
        <LinkButton to="/chat" variant="default" size="xs">
          New conversation
        </LinkButton>
        <Loaded query={list} height={200}>
          {({ pages }) => {
            const items = new Map(pages.flatMap((page) => page.items.map((item) => [item.id, item] as const)))
            return [...items.values()].map(({ id, title }) => (
              <Link key={id} to="/chat/$conversationId" params={{ conversationId: id }}>
                {isRunning(id) ? (
                  <span role="img" aria-label="generating">
                    ●
                  </span>
                ) : null}
                <Text size="sm" truncate span>
                  {title === "" ? "Untitled" : title}
                </Text>
              </Link>
            ))
          }}
        </Loaded>
        <LoadMore size="compact-xs" variant="subtle" list={list}>
          More
        </LoadMore>
      </Stack>
    </nav>
  )
}
