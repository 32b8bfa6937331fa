import { Button, NumberInput, Stack, Text } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { client, type Records, take } from "../../api/client.ts"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { counted, money } from "../../parts/format.ts"
import { useIdempotencyKeys } from "../../parts/useIdempotencyKeys.ts"
import { analysis } from "./queries.ts"

const microUsd = 1_000_000
const defaultDollars = 1
const maxDollars = 1_000

interface AskModelsProps {
  readonly analysisId: string
  readonly onClose: () => void
}

/** What it would ask cheaper models, and what that costs, before any of them is called. */
const AskModels = ({ analysisId, onClose }: AskModelsProps) => {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { dollars: defaultDollars as string | number } })
  const dollars = Math.min(maxDollars, Math.max(0, Number(form.getValues().dollars) || 0))
  const spend = Math.max(1, Math.round(dollars * microUsd))
  const keys = useIdempotencyKeys()
  const ask = useMutation({
    mutationFn: (confirm: boolean) =>
      take(
        client.POST("/api/analyses/{id}/replay", {
          params: { path: { id: analysisId }, header: confirm ? keys.headerOf(spend) : {} },
          body: { max_spend_microusd: spend, confirm }
        })
      ),
    onSuccess: async ({ started }) => {
      if (!started) return
      await queries.invalidateQueries({ queryKey: analysis(analysisId).queryKey })
      onClose()
    }
  })
  // another maximum is another question
  const quote = ask.data?.max_spend_microusd === spend ? ask.data : undefined
  const canBegin = quote !== undefined && quote.questions.length > 0
  return (
    <FormDialog
      title="Test cheaper models"
      submit="Show the cost"
      isChanged={form.isDirty()}
      sending={ask}
      onSubmit={form.onSubmit(() => ask.mutate(false))}
      onClose={onClose}
      // a button of its own, away from where the other was: a second click on that one must not spend anything
      footer={
        canBegin ? (
          <Button loading={ask.isPending} onClick={() => ask.mutate(true)}>
            Start, for {money(quote.max_spend_microusd)} at most
          </Button>
        ) : null
      }
    >
      <Text size="sm">
        Captured calls are answered again by cheaper models, and a judge compares the answers. Their content is sent to
        the providers of these models.
      </Text>
      <NumberInput
        label="At most, in dollars"
        min={0.01}
        max={maxDollars}
        decimalScale={2}
        data-autofocus
        {...form.getInputProps("dollars")}
      />
      {quote === undefined ? null : <QuoteView quote={quote} />}
    </FormDialog>
  )
}

const QuoteView = ({ quote }: { readonly quote: Records["ReplayQuote"] }) => (
  <Stack gap={4} role="status" data-testid="quote">
    {quote.questions.length === 0 ? (
      <Text size="sm">
        Nothing can be asked: no captured calls that may be sent to other models, no cheaper model, or none that is fit
        to judge.
      </Text>
    ) : (
      quote.questions.map((question) => (
        <Text key={`${question.class} ${question.incumbent} ${question.candidate}`} size="sm" className="figures">
          {question.class}: {question.candidate} in place of {question.incumbent}, {counted(question.pairs, "prompt")},
          about {money(question.cost_microusd)}
          {question.advised ? "" : "; the saving would not pay for it within 30 days"}
        </Text>
      ))
    )}
    {quote.judge_model === null ? null : <Text size="sm">Judge: {quote.judge_model}</Text>}
    <Text size="sm" fw={600} className="figures">
      About {money(quote.cost_microusd)} in all
    </Text>
  </Stack>
)

export default AskModels
