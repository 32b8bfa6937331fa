import { Alert, Button, Checkbox, Code, Group, NumberInput, Select, Text, TextInput } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useRef, useState } from "react"
import { client, type Records, type Tagged, takeWithTag } from "../../api/client.ts"
import { alerts, projects } from "../../api/queries.ts"
import { AskBeforeLeaving } from "../../parts/AskBeforeLeaving.tsx"
import { CopyIconButton } from "../../parts/CopyText.tsx"
import { microUsdOf, usdOf } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { SettingsForm } from "../../parts/SettingsForm.tsx"
import { useSettings } from "../../parts/useSettings.ts"

type Threshold = Records["AlertThreshold"]
type Period = "day" | "week" | "month"

interface Row {
  id: number
  kind: "limit_percent" | Period
  amount: string | number
}

interface AlertForm {
  url: string
  rows: Array<Row>
  rotate: boolean
}

const rowOf = (threshold: Threshold, id: number): Row =>
  threshold.type === "limit_percent"
    ? { id, kind: "limit_percent", amount: threshold.percent }
    : { id, kind: threshold.period, amount: usdOf(threshold.amount_microusd) }

const thresholdOf = ({ amount, kind }: Row): Threshold =>
  kind === "limit_percent"
    ? { type: "limit_percent", percent: Number(amount) }
    : { type: "spend", amount_microusd: microUsdOf(amount) ?? 0, period: kind }

const kinds = [
  { value: "limit_percent", label: "% of the project's limit" },
  { value: "day", label: "$ a day" },
  { value: "week", label: "$ a week" },
  { value: "month", label: "$ a month" }
]
const maxThresholds = 20
/** A button beside fields stands on their line, also where one has an error below it. */
const labelHeight = { base: 0, xs: 25 }

interface AlertSettingsProps {
  readonly projectId: string
  readonly latest: Tagged<Records["AlertsOut"]>
  readonly mayWrite: boolean
}

const formOf = (of: Records["AlertsOut"]): AlertForm => ({
  url: of.webhook_url ?? "",
  rows: of.thresholds.map(rowOf),
  rotate: false
})

export const AlertSettings = ({ latest, mayWrite, projectId }: AlertSettingsProps) => {
  const [secret, showSecret] = useState<string | null>(null)
  const {
    edited: of,
    form,
    saving
  } = useSettings({
    latest,
    query: alerts(projectId),
    valuesOf: formOf,
    validate: {
      rows: {
        amount: (value, { rows }, path) => {
          const at = Number(path.split(".")[1])
          const isSame = (row: Row, index: number) =>
            index < at && Number(row.amount) === Number(value) && row.kind === rows[at]?.kind
          return Number(value) > 0 ? (rows.some(isSame) ? "As one above" : null) : "Above 0"
        }
      }
    },
    send: async (values: AlertForm, header) => {
      const { data, tag } = await takeWithTag(
        client.PUT("/api/projects/{id}/alerts", {
          params: { path: { id: projectId }, header },
          body: {
            webhook_url: values.url === "" ? null : values.url,
            thresholds: values.rows.map(thresholdOf),
            ...(values.rotate ? { rotate_secret: true } : {})
          }
        })
      )
      // the next save answers without it; of no webhook there is none
      if (data.webhook_secret !== null || data.webhook_url === null) showSecret(data.webhook_secret)
      // it stays in this answer alone
      return { data: { ...data, webhook_secret: null }, tag }
    },
    fields: { webhook_url: "url" }
  })
  const ofProject = useQuery(projects).data?.find(({ id }) => id === projectId)
  const { rows } = form.getValues()
  const addButton = useRef<HTMLButtonElement>(null)
  return (
    <SettingsForm saving={saving} mayWrite={mayWrite}>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          No thresholds yet: nothing is reported.
        </Text>
      ) : null}
      {rows.map((row, index) => (
        <Group key={row.id} align="flex-start" gap="xs">
          <NumberInput
            label="At"
            min={0}
            decimalScale={row.kind === "limit_percent" ? 0 : 6}
            {...(row.kind === "limit_percent" ? { max: 100, suffix: " %" } : { prefix: "$" })}
            w={140}
            {...form.getInputProps(`rows.${index}.amount`)}
          />
          <Select
            label="Of"
            data={kinds}
            allowDeselect={false}
            style={{ flex: "1 1 9rem" }}
            {...form.getInputProps(`rows.${index}.kind`)}
          />
          <Button
            variant="default"
            onClick={() => {
              // its button goes
              addButton.current?.focus()
              form.removeListItem("rows", index)
            }}
            mt={labelHeight}
            aria-label={`Remove threshold ${index + 1}`}
          >
            Remove
          </Button>
        </Group>
      ))}
      {ofProject?.spend_limit_microusd === null && rows.some(({ kind }) => kind === "limit_percent") ? (
        <Text size="sm" role="status">
          The project has no spend limit yet, and reaches no percentage of it.{" "}
          <TextLink to="/settings">Set a limit</TextLink>
        </Text>
      ) : null}
      <Group>
        <Button
          ref={addButton}
          variant="default"
          size="xs"
          disabled={rows.length >= maxThresholds}
          onClick={() => {
            const id = Math.max(-1, ...rows.map((row) => row.id)) + 1
            form.insertListItem("rows", { id, kind: "month", amount: 10 } satisfies Row)
          }}
        >
          Add threshold
        </Button>
      </Group>
      <TextInput
        label="Webhook URL"
        description="https, at a public address; empty: events are only listed here. Requests are signed as in Standard Webhooks."
        placeholder="https://example.com/hooks/spend"
        {...form.getInputProps("url")}
      />
      {of.webhook_url === null ? null : (
        <Checkbox label="Rotate the secret" {...form.getInputProps("rotate", { type: "checkbox" })} />
      )}
      <AskBeforeLeaving isUnsaved={secret !== null} />
      {secret === null ? null : (
        <Alert color="yellow" variant="outline" title="Webhook secret: save it now">
          <Group wrap="nowrap" gap="xs">
            <Code block className="secret" style={{ flex: 1 }}>
              {secret}
            </Code>
            <CopyIconButton label="Copy the secret" text={secret} />
          </Group>
          <Button mt="xs" size="xs" onClick={() => showSecret(null)}>
            I have saved it
          </Button>
        </Alert>
      )}
    </SettingsForm>
  )
}
