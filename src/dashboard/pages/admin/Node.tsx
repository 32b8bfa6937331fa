import { Group, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { unreachable } from "../../api/failure.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Status } from "../../parts/Status.tsx"

interface Ready {
  readonly status: string
  /** Why the database takes no writes. */
  readonly reason?: string
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
        {(ready) => (
          <Group gap="sm">
            <Status state={ready.status === "ready" ? "active" : "failed"} label={ready.status} />
            <Text size="sm">{detailOf(ready)}</Text>
          </Group>
        )}
      </Loaded>
    </Block>
  )
}

/** A node that is not ready says nothing of the ledger. */
const detailOf = ({ ledger_violations, reason, status }: Ready): string => {
  if (status !== "ready") return reason === undefined ? "It is being stopped." : `The database: ${reason}.`
  if (ledger_violations === undefined) return "Every invariant of the ledger holds."
  const broken = Object.entries(ledger_violations).map(([name, rows]) => `${name} (${rows})`)
  return `Ledger invariants violated: ${broken.join(", ")}`
}
