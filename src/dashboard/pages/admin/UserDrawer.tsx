import { Button, NumberInput, Stack, Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { type MutationState, useMutation, useMutationState, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { client, newIdempotencyKey, type Records, take } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { AskBeforeLeaving } from "../../parts/AskBeforeLeaving.tsx"
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

interface Credit {
  amount: string | number
  note: string
}

interface Sent extends Credit {
  readonly key: string
}

type Attempt = Pick<MutationState<Records["BalanceOut"], Error, Sent>, "data" | "error" | "status" | "variables">

const empty: Credit = { amount: "", note: "" }

/** Whether it may be credited, now or later, though no answer has said so. */
const isOpen = ({ error, status }: Attempt): boolean => status === "pending" || (error !== null && !isRefusal(error))

/** At 409 the same request is being answered. */
const isRefusal = (error: Error): boolean =>
  error instanceof ApiFailure && error.status >= 400 && error.status < 500 && error.status !== 409

/** Outlives the drawer: where it is not known whether an amount was credited, it is sent again as the same request. */
const GiveCredit = ({ account }: { readonly account: string }) => {
  const queries = useQueryClient()
  const mutationKey = ["give-credit", account]
  const attempts = useMutationState({ filters: { mutationKey }, select: ({ state }) => state as Attempt })
  const [earlier] = useState(() => attempts.findLastIndex((each) => !isOpen(each)) + 1)
  const shown = attempts.slice(earlier).at(-1)
  const form = useForm<Credit>({
    initialValues: { amount: shown?.variables?.amount ?? empty.amount, note: shown?.variables?.note ?? empty.note },
    validate: { amount: (value) => ((microUsdOf(value) ?? 0) > 0 ? null : "An amount in dollars") }
  })
  const { mutate } = useMutation({
    mutationKey,
    gcTime: Number.POSITIVE_INFINITY,
    mutationFn: ({ amount, key, note }: Sent) =>
      take(
        client.POST("/api/admin/accounts/{id}/credits", {
          params: { path: { id: account }, header: { "idempotency-key": key } },
          body: { amount_microusd: microUsdOf(amount) ?? 0, note }
        })
      ),
    onSuccess: () => Promise.all(["balance", "ledger"].map((name) => queries.invalidateQueries({ queryKey: [name] }))),
    onError: (error) => form.setErrors(fieldErrors(error, { amount_microusd: "amount", note: "note" }))
  })
  const send = ({ amount, note }: Credit) => {
    // known before the page shows it: a second click may come earlier
    if (queries.isMutating({ mutationKey }) > 0) return
    const same = attempts.findLast(
      ({ variables: sent }) => sent?.note === note && microUsdOf(sent.amount) === microUsdOf(amount)
    )
    const key = same !== undefined && isOpen(same) ? same.variables?.key : undefined
    mutate({ amount, note, key: key ?? newIdempotencyKey() })
  }
  const isCredited = shown?.status === "success"
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each that is credited
  useEffect(() => {
    if (!isCredited) return
    form.setInitialValues(empty)
    form.reset()
  }, [isCredited])
  return (
    <form onSubmit={form.onSubmit(send)}>
      <AskBeforeLeaving isUnsaved={form.isDirty()} />
      <Stack>
        <NumberInput label="Credit" prefix="$" min={0} decimalScale={6} required {...form.getInputProps("amount")} />
        <TextInput label="Reason" required maxLength={200} {...form.getInputProps("note")} />
        {shown?.error == null ? null : <Failure error={shown.error} />}
        {shown?.error == null || !isOpen(shown) ? null : (
          <Text size="sm">
            It may have been credited all the same. Sent again without a change, it is credited once.
          </Text>
        )}
        {shown?.data === undefined ? null : (
          <Text size="sm" role="status">
            Credited. {money(shown.data.available_microusd)} is available there now.
          </Text>
        )}
        <Button type="submit" loading={shown?.status === "pending"}>
          Give credit
        </Button>
      </Stack>
    </form>
  )
}

export default UserDrawer
