import { Button, Group, NumberInput, Text } from "@mantine/core"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { client, newIdempotencyKey, take } from "../../api/client.ts"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"

const amounts = [10, 25, 50]
const defaultAmount = 25
const minUsd = 10
const maxUsd = 1_000

/** Opens the checkout page of the payment provider; the credit comes when it confirms the payment. */
const AddCredit = ({ onClose }: { readonly onClose: () => void }) => {
  const [amount, setAmount] = useState<string | number>(defaultAmount)
  // of one dialog: a double click opens one checkout
  const [idempotencyKey] = useState(newIdempotencyKey)
  const isShown = useIsShown()
  const isValid = Number(amount) >= minUsd && Number(amount) <= maxUsd
  const checkout = useMutation({
    mutationFn: () =>
      take(
        client.POST("/api/me/checkout", {
          params: { header: { "idempotency-key": `${idempotencyKey}-${amount}` } },
          body: { credit_amount_cents: Math.round(Number(amount) * 100) }
        })
      ),
    onSuccess: ({ checkout_url }) => {
      if (isShown()) location.assign(checkout_url)
    }
  })
  return (
    <FormDialog
      title="Add credit"
      submit="Continue to payment"
      isValid={isValid}
      // the payment page comes in place of this one
      isChanged={Number(amount) !== defaultAmount && !checkout.isSuccess}
      sending={checkout}
      onSubmit={(event) => {
        event.preventDefault()
        if (isValid) checkout.mutate()
      }}
      onClose={onClose}
    >
      <Group>
        {amounts.map((each) => (
          <Button key={each} variant={Number(amount) === each ? "filled" : "default"} onClick={() => setAmount(each)}>
            ${each}
          </Button>
        ))}
      </Group>
      <NumberInput
        label="Amount"
        prefix="$"
        min={minUsd}
        max={maxUsd}
        decimalScale={2}
        value={amount}
        onChange={setAmount}
        error={isValid ? null : `$${minUsd} to $${maxUsd}`}
        data-autofocus
      />
      <Text size="sm" c="dimmed">
        You pay on the next page and return here afterwards.
      </Text>
    </FormDialog>
  )
}

export default AddCredit
