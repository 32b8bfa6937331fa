import { Alert, Checkbox, NumberInput, Radio, Stack, Switch, Text } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, type Records, take } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { keepAnswer } from "../../api/queryClient.ts"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { percentOf, shareOf } from "../../parts/format.ts"
import { capture } from "./queries.ts"

type Settings = Records["CaptureSettings"]

interface CollectionFormProps {
  readonly projectId: string
  readonly of: Settings
  readonly onClose: () => void
}

const contents = [
  { value: "full", label: "Requests and responses as they were sent" },
  { value: "fingerprint", label: "No text, only sizes and what tells blocks apart" }
] as const

/** The bounds of a field keep any number within them. */
const isNumber = (value: string | number): string | null => (value === "" ? "A number" : null)

const fields = {
  sampling_rate: "share",
  retention_days: "days",
  max_samples: "max",
  content: "content",
  replay_allowed: "isReplayAllowed"
}

/** What is collected from now on. To switch it on, or to collect more than before, the warning has to be accepted. */
const CollectionForm = ({ of, onClose, projectId }: CollectionFormProps) => {
  const queries = useQueryClient()
  // the page may read a newer version meanwhile, over which nothing must be saved unseen
  const [version, setVersion] = useState(of.config_version)
  const form = useForm({
    initialValues: {
      isOn: true,
      share: percentOf(of.sampling_rate) as string | number,
      days: of.retention_days as string | number,
      max: of.max_samples as string | number,
      content: of.content,
      isReplayAllowed: of.replay_allowed,
      isAccepted: false
    },
    validate: {
      share: isNumber,
      days: isNumber,
      max: isNumber,
      isAccepted: (accepted, { isOn }) => (isOn && !of.enabled && !accepted ? "Needed to switch it on" : null)
    }
  })
  const { isOn } = form.getValues()
  const save = useMutation({
    mutationFn: ({ content, days, isOn: enabled, isReplayAllowed, max, share }: typeof form.values) =>
      take(
        client.PUT("/api/projects/{id}/capture", {
          params: { path: { id: projectId } },
          body: {
            enabled,
            sampling_rate: shareOf(share),
            retention_days: Number(days),
            max_samples: Number(max),
            content,
            replay_allowed: isReplayAllowed,
            config_version: version,
            content_warning: of.content_warning
          }
        })
      ),
    onSuccess: async (saved) => {
      await keepAnswer(queries, capture(projectId), saved)
      onClose()
    },
    onError: async (error) => {
      form.setErrors(fieldErrors(error, fields))
      // the next attempt is made on what another user has saved
      if (error instanceof ApiFailure && error.code === "config_version_mismatch") {
        const latest = await queries.fetchQuery({ ...capture(projectId), staleTime: 0 })
        setVersion(latest.config_version)
      }
    }
  })
  return (
    <FormDialog
      title="Collection of calls"
      submit="Save"
      isChanged={form.isDirty()}
      sending={save}
      onSubmit={form.onSubmit((values) => save.mutate(values))}
      onClose={onClose}
    >
      <Switch
        label="Collect calls that opt in"
        description="Switched off, nothing more is taken; what is stored stays until it expires or is erased."
        data-autofocus
        {...form.getInputProps("isOn", { type: "checkbox" })}
      />
      <NumberInput
        label="Share of conversations"
        description="Each whole or not at all"
        suffix=" %"
        min={0}
        max={100}
        decimalScale={2}
        {...form.getInputProps("share")}
      />
      <NumberInput
        label="Kept for"
        suffix=" days"
        min={1}
        max={365}
        allowDecimal={false}
        {...form.getInputProps("days")}
      />
      <NumberInput
        label="Maximum calls"
        description="Above it, whole conversations are removed"
        min={1}
        max={100_000}
        allowDecimal={false}
        thousandSeparator=","
        {...form.getInputProps("max")}
      />
      <Radio.Group label="What is stored" {...form.getInputProps("content")}>
        <Stack gap="xs" mt={4}>
          {contents.map(({ label, value }) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      <Checkbox
        label="May be sent to other models"
        description="Only where an analysis is asked to, and only calls that are collected from now on"
        {...form.getInputProps("isReplayAllowed", { type: "checkbox" })}
      />
      {isOn && !of.enabled ? (
        <Alert color="yellow" variant="outline" title="Before you switch it on">
          <Stack gap="xs">
            <Text size="sm" style={{ whiteSpace: "pre-wrap" }} data-testid="content-warning">
              {of.content_warning}
            </Text>
            <Checkbox
              label="I have read this and may decide it for this project"
              {...form.getInputProps("isAccepted", { type: "checkbox" })}
            />
          </Stack>
        </Alert>
      ) : null}
    </FormDialog>
  )
}

export default CollectionForm
