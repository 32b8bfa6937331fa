import { Box, NumberInput, Select, Stack, Text } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useDebouncedValue } from "@mantine/hooks"
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"
import { client, take } from "../../api/client.ts"
import { Failure } from "../../parts/Failure.tsx"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { cost, counted, money } from "../../parts/format.ts"
import { useIdempotencyKeys } from "../../parts/useIdempotencyKeys.ts"
import { useIsShown } from "../../parts/useIsShown.ts"
import { estimate } from "./queries.ts"

const dayMillis = 86_400_000
const ranges = [
  { value: "1", label: "the last day" },
  { value: "7", label: "the last 7 days" },
  { value: "30", label: "the last 30 days" },
  { value: "90", label: "the last 90 days" }
]
const maxConversations = 1_000
/** Of the estimate in five lines. */
const estimateHeight = 112
const typingMillis = 400

interface NewAnalysisProps {
  readonly projectId: string
  readonly onClose: () => void
}

/** What an analysis would read and cost, before it is begun. */
const NewAnalysis = ({ onClose, projectId }: NewAnalysisProps) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isShown = useIsShown()
  const form = useForm({ initialValues: { days: "30", max: maxConversations as string | number } })
  const { days, max } = form.getValues()
  const most = Math.min(maxConversations, Math.max(1, Number(max) || 1))
  const [wanted] = useDebouncedValue(most, typingMillis)
  // the moment of the first look: another one would be another question
  const body = useMemo(
    () => ({
      start: new Date(Date.now() - Number(days) * dayMillis).toISOString(),
      end: new Date().toISOString(),
      requested_count: wanted
    }),
    [days, wanted]
  )
  const quote = useQuery({ ...estimate(projectId, body), placeholderData: keepPreviousData })
  const keys = useIdempotencyKeys()
  const begin = useMutation({
    mutationFn: () => {
      // as typed, however short ago
      const asked = { ...body, requested_count: most }
      return take(
        client.POST("/api/projects/{id}/analyses", {
          params: { path: { id: projectId }, header: keys.headerOf(asked) },
          body: asked
        })
      )
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ["analyses", projectId] })
      if (!isShown()) return
      await navigate({ to: "/p/$projectId/analyses/$analysisId", params: { projectId, analysisId: id } })
    }
  })
  return (
    <FormDialog
      title="New analysis"
      submit="Begin"
      isChanged={form.isDirty()}
      sending={begin}
      onSubmit={form.onSubmit(() => begin.mutate())}
      onClose={onClose}
    >
      <Select label="Calls of" data={ranges} allowDeselect={false} data-autofocus {...form.getInputProps("days")} />
      <NumberInput
        label="Maximum conversations"
        min={1}
        max={maxConversations}
        allowDecimal={false}
        thousandSeparator=","
        {...form.getInputProps("max")}
      />
      {quote.error === null ? null : <Failure error={quote.error} retry={quote.refetch} />}
      {/* the button below stays where it is when the estimate comes */}
      <Box mih={estimateHeight}>
        {quote.data === undefined ? null : (
          <Stack gap={2} role="status" data-testid="estimate">
            <Text size="sm" className="figures">
              {quote.data.calls === 0
                ? "No collected calls: it would read the log of calls, which has no prompts."
                : `It would read ${counted(quote.data.calls, "collected call")} of ${counted(quote.data.conversations, "conversation")}.`}
            </Text>
            <Text size="sm" className="figures">
              Clients of the project made {counted(quote.data.traffic.calls, "call")} for{" "}
              {money(quote.data.traffic.spent_microusd)} in that time.
            </Text>
            <Text size="sm" fw={600} className="figures">
              It costs {cost(quote.data.cost)}
              {quote.data.cost.amount_microusd === 0 ? ": no model is called." : "."}
            </Text>
          </Stack>
        )}
      </Box>
    </FormDialog>
  )
}

export default NewAnalysis
