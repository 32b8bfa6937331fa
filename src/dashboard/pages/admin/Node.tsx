import { Group, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { unreachable } from "../../api/failure.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Status } from "../../parts/Status.tsx"

interface Ready {
  readonly status: string
  readonly ledger_violations?: Readonly<Record<string, number>>
}

/** The node that has answered: whether it takes calls, and what the check of the ledger has found. */
export const Node = () => {
  const query = useQuery({
    queryKey: ["readyz"],
    queryFn: ({ signal }) =>
      fetch("/readyz", { signal })
        .then((response): Promise<Ready> => response.json())
        .catch(() => {
          throw unreachable()
        }),
    refetchInterval: 15_000
  })
  return (
    <Block title="This node">
      <Loaded query={query} height={30}>
        {({ ledger_violations, status }) => (
          <Group gap="sm">
            <Status state={status === "ready" ? "active" : "failed"} label={status} />
            <Text size="sm">
              {ledger_violations === undefined
                ? "Every invariant of the ledger holds."
                : `Ledger invariants violated: ${Object.entries(ledger_violations)
                    .map(([name, rows]) => `${name} (${rows})`)
                    .join(", ")}`}
            </Text>
          </Group>
        )}
      </Loaded>
    </Block>
  )
}
