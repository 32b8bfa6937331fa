import { Button, Group, Select, Stack, Switch, Table, Text, TextInput } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { balance, key, project } from "../../api/queries.ts"
import { Loaded } from "../../parts/Block.tsx"
import { ConfirmByName } from "../../parts/ConfirmByName.tsx"
import { Drawer, Modal } from "../../parts/Dialog.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { dateTime, money, relative } from "../../parts/format.ts"
import { checkAmount, LimitFields, type LimitValues, limitOf, limitValuesOf } from "../../parts/LimitFields.tsx"
import { checkRates, emptyRates, RateFields, type RateValues, ratesOf, valuesOf } from "../../parts/RateFields.tsx"
import { SettingsForm } from "../../parts/SettingsForm.tsx"
import { Status } from "../../parts/Status.tsx"
import { useIdempotencyKeys } from "../../parts/useIdempotencyKeys.ts"
import { useSettings } from "../../parts/useSettings.ts"
import { WideTable } from "../../parts/WideTable.tsx"
import { usePayer } from "../../shell/project.ts"
import { DeleteKey } from "./DeleteKey.tsx"
import { Secret } from "./Secret.tsx"
import { stateOf } from "./state.ts"

type Key = Records["ApiKeyOut"]

interface KeyDrawerProps {
  readonly keyId: string
  readonly mayWrite: boolean
  readonly onClose: () => void
}

/** One key: what binds it, what can be changed, and how it ends. */
const KeyDrawer = ({ keyId, mayWrite, onClose }: KeyDrawerProps) => {
  const query = useQuery(key(keyId))
  return (
    <Drawer opened onClose={onClose} title={query.data?.data.name ?? "Key"} size="md">
      <Loaded query={query} height={400}>
        {(found) => (
          <Stack>
            <Group justify="space-between">
              <Status state={stateOf(found.data)} />
              <Text size="xs" c="dimmed" className="mono">
                {found.data.kind === "dashboard"
                  ? "made for calls from the dashboard, no secret"
                  : `${found.data.key_prefix}…`}
              </Text>
            </Group>
            <Text size="sm" c="dimmed">
              {found.data.last_used_at === null
                ? "No calls in the log."
                : `Last call ${relative(found.data.last_used_at)}.`}
            </Text>
            <Binding of={found.data} />
            {found.data.revoked_at === null ? (
              <Settings latest={found} mayWrite={mayWrite} />
            ) : (
              <Text size="sm">Revoked {dateTime(found.data.revoked_at)}, permanently.</Text>
            )}
            {!mayWrite ? null : found.data.revoked_at === null ? (
              <Endings of={found.data} onClose={onClose} />
            ) : (
              <DeleteKey of={found.data} onClose={onClose} />
            )}
          </Stack>
        )}
      </Loaded>
    </Drawer>
  )
}

/** Every limit that a call with this key meets, the tightest marked. */
const Binding = ({ of }: { readonly of: Key }) => {
  const ofProject = useQuery(project(of.project_id)).data?.data
  const ofAccount = useQuery(balance).data
  const payer = usePayer(of.project_id)
  // a limit that is not known yet has its row, so that what is below does not move
  const rows = [
    { name: "This key", limit: of.spend_limit_microusd, spent: of.spent_microusd, reset: of.limit_reset },
    {
      name: "The project",
      limit: ofProject?.spend_limit_microusd,
      spent: ofProject?.spent_microusd ?? 0,
      reset: ofProject?.limit_reset ?? null
    },
    ...(payer === undefined || payer === "own"
      ? [{ name: "The balance", limit: payer && ofAccount?.available_microusd, spent: 0, reset: null }]
      : [])
  ].map((row) => ({
    ...row,
    left: row.limit === null || row.limit === undefined ? Number.POSITIVE_INFINITY : row.limit - row.spent
  }))
  const areKnown = rows.every(({ limit }) => limit !== undefined)
  const tightest = Math.min(...rows.map(({ left }) => left))
  return (
    <WideTable label="Limits" minWidth={280}>
      <Table fz="sm" className="figures" aria-label="Limits that apply to this key">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Limit</Table.Th>
            <Table.Th>Left</Table.Th>
            <Table.Th>Of</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ left, limit, name, reset }) => (
            <Table.Tr key={name}>
              <Table.Td>
                {name}
                {areKnown && left === tightest && Number.isFinite(left) ? (
                  <Text span size="xs" c="dimmed">
                    {" "}
                    reached first
                  </Text>
                ) : null}
              </Table.Td>
              <Table.Td>{limit === undefined ? "" : limit === null ? "no limit" : money(left)}</Table.Td>
              <Table.Td>
                {name === "The balance" || limit === null || limit === undefined ? "" : money(limit)}
                {reset === null ? "" : ` a ${reset}`}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  )
}

interface KeyForm extends RateValues, LimitValues {
  name: string
  isActive: boolean
  expires: string
}

/** As a field has it, to the minute. */
const minuteOf = (at: string | null): string => at?.slice(0, 16) ?? ""

const expiryOf = ({ expires }: KeyForm, before: string | null): string | null =>
  // the seconds that the field does not show stay
  expires === minuteOf(before) ? before : expires === "" ? null : new Date(`${expires}Z`).toISOString()

const formOf = (of: Key): KeyForm => ({
  name: of.name,
  isActive: of.is_active,
  ...limitValuesOf(of),
  expires: minuteOf(of.expires_at),
  ...(of.rate_limits === null ? emptyRates : valuesOf(of.rate_limits))
})

const Settings = ({ latest, mayWrite }: { readonly latest: Tagged<Key>; readonly mayWrite: boolean }) => {
  const queries = useQueryClient()
  const { id, project_id } = latest.data
  const { form, saving } = useSettings({
    latest,
    query: key(id),
    valuesOf: formOf,
    validate: { limit: checkAmount, ...checkRates },
    send: (values: KeyForm, header, edited) =>
      takeWithTag(
        client.PATCH("/api/keys/{id}", {
          params: { path: { id }, header },
          body: {
            name: values.name,
            is_active: values.isActive,
            ...limitOf(values),
            expires_at: expiryOf(values, edited.expires_at),
            rate_limits: ratesOf(values)
          }
        })
      ),
    fields: { name: "name", spend_limit_microusd: "limit", expires_at: "expires" },
    onSaved: () =>
      Promise.all(
        [["keys", project_id], ["requests", project_id], ["refusals", project_id], ["request"]].map((queryKey) =>
          queries.invalidateQueries({ queryKey })
        )
      )
  })
  return (
    <SettingsForm saving={saving} mayWrite={mayWrite}>
      <TextInput label="Name" required maxLength={200} {...form.getInputProps("name")} />
      <LimitFields form={form} />
      <TextInput label="Expires (UTC)" type="datetime-local" {...form.getInputProps("expires")} />
      <RateFields form={form} />
      <Switch label="Active" {...form.getInputProps("isActive", { type: "checkbox" })} />
    </SettingsForm>
  )
}

const graces = [
  { value: "0", label: "at once" },
  { value: "3600", label: "in an hour" },
  { value: "86400", label: "in a day" },
  { value: "604800", label: "in a week" }
]

const Endings = ({ of, onClose }: { readonly of: Key; readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const [asked, ask] = useState<"rotate" | "revoke">()
  const [grace, setGrace] = useState("3600")
  const keys = useIdempotencyKeys()
  const changed = async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["key", of.id] }),
      queries.invalidateQueries({ queryKey: ["keys", of.project_id] })
    ])
  }
  const rotate = useMutation({
    mutationFn: () =>
      take(
        client.POST("/api/keys/{id}/rotate", {
          params: { path: { id: of.id }, header: keys.headerOf(grace) },
          body: { grace_seconds: Number(grace) }
        })
      )
  })
  const revoke = useMutation({
    mutationFn: () => take(client.POST("/api/keys/{id}/revoke", { params: { path: { id: of.id } } })),
    onSuccess: async () => {
      await changed()
      ask(undefined)
    }
  })
  return (
    <>
      {of.previous_secret_until === null ? null : (
        <Text size="sm">The secret before the last rotation works until {dateTime(of.previous_secret_until)}.</Text>
      )}
      <Group>
        {of.kind === "dashboard" ? null : (
          <Button variant="default" onClick={() => ask("rotate")}>
            Rotate
          </Button>
        )}
        <Button variant="outline" color="red" onClick={() => ask("revoke")}>
          Revoke
        </Button>
      </Group>
      {rotate.data !== undefined ? (
        <Secret
          made={rotate.data}
          onSaved={() => {
            void changed()
            // unsaved changes may keep the drawer open, for another rotation
            keys.taken()
            rotate.reset()
            ask(undefined)
            onClose()
          }}
        />
      ) : asked === "rotate" ? (
        <Modal opened isBusy={rotate.isPending} onClose={() => ask(undefined)} title={`Rotate ${of.name}`}>
          <Stack>
            <Text size="sm">The key gets a new secret and keeps its limits and its history.</Text>
            <Select
              label="The current secret stops working"
              data={graces}
              value={grace}
              allowDeselect={false}
              data-autofocus
              onChange={(value) => setGrace(value ?? "0")}
            />
            {rotate.error === null ? null : <Failure error={rotate.error} />}
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Rotate
            </Button>
          </Stack>
        </Modal>
      ) : asked === "revoke" ? (
        <ConfirmByName
          verb="Revoke"
          name={of.name}
          doing={revoke}
          onConfirm={() => revoke.mutate()}
          onClose={() => ask(undefined)}
        >
          <Text size="sm">
            Calls with it are refused within 1 s on every node, and it can never be made active again. Its calls stay in
            the log.
          </Text>
        </ConfirmByName>
      ) : null}
    </>
  )
}

export default KeyDrawer
