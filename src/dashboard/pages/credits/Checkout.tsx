import { Group, Loader, Stack, Text } from "@mantine/core"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { useEffect } from "react"
import { checkout } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { money } from "../../parts/format.ts"
import { LinkButton } from "../../parts/LinkButton.tsx"
import { Page } from "../../parts/Page.tsx"
import { Status } from "../../parts/Status.tsx"

const microUsdPerCent = 10_000
const pollMillis = 2_000

const isOpen = (status: string): boolean => status === "open" || status === "processing"

/** Where the buyer comes back to: the payment counts when the payment provider has confirmed it, not before. */
const Checkout = () => {
  const { sessionId } = useParams({ from: "/shell/checkout/$sessionId" })
  const queries = useQueryClient()
  const query = useQuery({
    ...checkout(sessionId),
    refetchInterval: ({ state }) => (state.data === undefined || isOpen(state.data.status) ? pollMillis : false)
  })
  const status = query.data?.status
  useEffect(() => {
    if (status !== "credited") return
    for (const name of ["balance", "ledger", "payments"]) void queries.invalidateQueries({ queryKey: [name] })
  }, [status, queries])
  return (
    <Page title="Payment">
      <Block>
        <Loaded query={query} height={140}>
          {(payment) => (
            <Stack role="status">
              <Group>
                <Status state={payment.status} />
                <Text className="figures">{money(payment.checkout_amount_cents * microUsdPerCent)}</Text>
              </Group>
              {isOpen(payment.status) ? (
                <Group gap="xs">
                  <Loader size="sm" aria-hidden="true" />
                  <Text size="sm">
                    {payment.status === "open" ? "Not paid yet." : "Paid, crediting …"} This page updates automatically.
                  </Text>
                </Group>
              ) : null}
              {payment.status === "credited" ? (
                <Text>{money(payment.credited_amount_microusd)} is in your balance.</Text>
              ) : null}
              {payment.status === "expired" ? (
                <Text size="sm">The checkout was abandoned, or has expired: nothing was paid.</Text>
              ) : null}
              {payment.failure_message === null ? null : <Text role="alert">{payment.failure_message}</Text>}
              <Group>
                {payment.status === "failed" || payment.status === "expired" ? (
                  <LinkButton to="/credits" search={{ buy: "1" }}>
                    Try again
                  </LinkButton>
                ) : null}
                <LinkButton to="/credits" variant="default">
                  Back to credits
                </LinkButton>
              </Group>
            </Stack>
          )}
        </Loaded>
      </Block>
    </Page>
  )
}

export default Checkout
