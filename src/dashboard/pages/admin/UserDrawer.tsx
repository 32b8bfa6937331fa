import { Button, NumberInput, Stack, Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, newIdempotencyKey, type Records, take } from "../../api/client.ts"
import { CopyText } from "../../parts/CopyText.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { microUsdOf, money } from "../../parts/format.ts"

interface UserDrawerProps {
  readonly of: Records["UserOut"]
  readonly onClose: () => void
}

/** A person's account, and credit for it. */
const UserDrawer = ({ of, onClose }: UserDrawerProps) => (
  <Drawer opened onClose={onClose} title={of.name}>
    <Stack>
      <Text size="sm">
        {of.issuer === null ? "Signs in by a link of this service." : `${of.subject} at ${of.issuer}`}
      </Text>
      <Stack gap={4} align="flex-start">
        <CopyText label="Id of the person" text={of.id} />
        <CopyText label="Id of the account" text={of.account_id} />
      </Stack>
      <GiveCredit account={of.account_id} />
    </Stack>
  </Drawer>
)

const GiveCredit = ({ account }: { readonly account: string }) => {
  const queries = useQueryClient()
  const [idempotencyKey, setIdempotencyKey] = useState(newIdempotencyKey)
  const form = useForm<{ amount: string | number; note: string }>({
    initialValues: { amount: "", note: "" },
    validate: { amount: (value) => ((microUsdOf(value) ?? 0) > 0 ? null : "An amount in dollars") }
  })
  const give = useMutation({
    mutationFn: ({ amount, note }: { amount: string | number; note: string }) =>
      take(
        client.POST("/api/admin/accounts/{id}/credits", {
          params: { path: { id: account }, header: { "idempotency-key": idempotencyKey } },
          body: { amount_microusd: microUsdOf(amount) ?? 0, note }
        })
      ),
    onSuccess: async () => {
      form.reset()
      setIdempotencyKey(newIdempotencyKey())
      await Promise.all(["balance", "ledger"].map((name) => queries.invalidateQueries({ queryKey: [name] })))
    },
    onError: (error) => form.setErrors(fieldErrors(error, { amount_microusd: "amount", note: "note" }))
  })
  return (
    <form onSubmit={form.onSubmit((values) => give.mutate(values))}>
      <Stack>
        <NumberInput label="Credit" prefix="$" min={0} decimalScale={6} required {...form.getInputProps("amount")} />
        <TextInput label="Reason" required maxLength={200} {...form.getInputProps("note")} />
        {give.error === null ? null : <Failure error={give.error} />}
        {give.data === undefined ? null : (
          <Text size="sm" role="status">
            Credited. {money(give.data.available_microusd)} is available there now.
          </Text>
        )}
        <Button type="submit" loading={give.isPending}>
          Give credit
        </Button>
      </Stack>
    </form>
  )
}

export default UserDrawer
