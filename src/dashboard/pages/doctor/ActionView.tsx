import { Button, Group, Stack, Text, Title } from "@mantine/core"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useRef } from "react"
import { client, type Records, take } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { keepAnswer, rulesChanged } from "../../api/queryClient.ts"
import { Failure } from "../../parts/Failure.tsx"
import { count, counted, dateTime, money, percent, unknown } from "../../parts/format.ts"
import { Facts, nameOf } from "./Facts.tsx"
import { Prose } from "./Prose.tsx"
import { type Action, type Analysis, analysis as analysisOf } from "./queries.ts"
import { ReceiptView } from "./ReceiptView.tsx"

interface ActionViewProps {
  readonly action: Action
  readonly analysis: Analysis
  readonly mayWrite: boolean
}

/** A change of the application is noted; a change of the project is shown before it is applied. */
const isNote = (kind: string): boolean => kind === "client_hint"

/** One action: the change, what it saves, its risk, and the way back. */
export const ActionView = ({ action, analysis, mayWrite }: ActionViewProps) => {
  const { canary = null, id: _, kind, owner: __, patch, receipt, risk, saving: ___, title, undo, ...more } = action
  const queries = useQueryClient()
  const taken = analysis.actions_taken.find(({ action_id }) => action_id === action.id)
  const isTaken = taken !== undefined && taken.undone_at === null
  const params = { path: { id: analysis.id, action_id: action.id } }
  const preview = useMutation({
    mutationFn: () => take(client.POST("/api/analyses/{id}/actions/{action_id}/preview", { params }))
  })
  const change = useMutation({
    mutationFn: (canary: NonNullable<Action["canary"]> | null) =>
      take(
        isTaken
          ? client.POST("/api/analyses/{id}/actions/{action_id}/undo", { params })
          : client.POST("/api/analyses/{id}/actions/{action_id}/apply", {
              params,
              body:
                preview.data === undefined
                  ? {}
                  : { config_version: preview.data.config_version, ...(canary === null ? {} : { canary }) }
            })
      ),
    onSuccess: async (changed) => {
      preview.reset()
      await keepAnswer(queries, analysisOf(analysis.id), changed)
      if (isNote(kind)) return
      await rulesChanged(queries, analysis.project_id, "policy", "routings", "routing", "routing-versions")
      keepFocus()
    },
    onError: (error) => {
      // of what was previewed nothing can be applied any more
      if (error instanceof ApiFailure && error.code === "config_version_mismatch") preview.reset()
      setTimeout(keepFocus)
    }
  })
  const buttons = useRef<HTMLDivElement>(null)
  /** A button that is disabled while it sends loses the focus, and one of two goes. */
  const keepFocus = () => {
    if (document.activeElement === document.body) buttons.current?.querySelector("button")?.focus()
  }
  const isRefused = !mayWrite || preview.data?.managed_by_configuration === true
  return (
    <Stack gap={4} component="article" aria-label={title} data-testid="action">
      <Title order={3} size="h6">
        {title}
      </Title>
      <Text size="sm" className="figures">
        {savingOf(action, analysis)}
      </Text>
      <Facts of={patch} name="patch" />
      <Text size="sm" c="dimmed">
        Harmful if: <Prose text={risk} />
      </Text>
      {Object.entries(more).map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <Text size="sm" fw={600}>
              {nameOf(name)}
            </Text>
            <Facts of={value} name={name} />
          </div>
        )
      )}
      {receipt === null ? null : <ReceiptView receipt={receipt} />}
      {preview.error === null ? null : <Failure error={preview.error} />}
      {preview.data === undefined || isTaken ? null : <PreviewView preview={preview.data} />}
      {change.error === null ? null : <Failure error={change.error} />}
      <Group gap="sm" ref={buttons}>
        {isTaken || isNote(kind) || preview.data !== undefined ? (
          <Button
            size="xs"
            variant={isTaken ? "default" : "filled"}
            disabled={isRefused}
            loading={change.isPending}
            // it comes in the place of "Preview", and "Undo" in its place
            onClick={({ detail: clicks }) => clicks < 2 && change.mutate(null)}
          >
            {isTaken ? "Undo" : isNote(kind) ? "I have done this" : "Apply"}
          </Button>
        ) : (
          <Button
            size="xs"
            variant="default"
            loading={preview.isPending}
            onClick={() => {
              change.reset()
              preview.mutate()
            }}
          >
            Preview
          </Button>
        )}
        {canary === null || isTaken || preview.data === undefined ? null : (
          <Button
            size="xs"
            variant="light"
            disabled={isRefused}
            loading={change.isPending}
            onClick={() => change.mutate(canary)}
          >
            Apply to {percent(canary.share)} and measure for {counted(canary.days, "day")}
          </Button>
        )}
        {taken === undefined ? null : (
          <Text size="sm" role="status">
            {taken.undone_at === null ? `Done ${dateTime(taken.applied_at)}` : `Reverted ${dateTime(taken.undone_at)}`}
          </Text>
        )}
      </Group>
      {isTaken ? <Facts of={undo} name="undo" /> : null}
    </Stack>
  )
}

/** Of a hypothesis only what it would save by itself is known; a lower alpha has it from calls that were ranked again. */
const savingOf = ({ id, kind, saving }: Action, { report }: Analysis): string => {
  const cause = report?.causes.find(({ action_id }) => action_id === id)
  if (cause?.tier === "hypothesis") {
    const calls = isNote(kind) ? "read" : "ranked again"
    return `May save up to ${money(cause.alone_microusd)} on the calls that were ${calls}: a hypothesis`
  }
  if (saving.likely === 0 && saving.at_least === null) return "Saves no money: failed attempts cost nothing but time"
  const atLeast = saving.at_least === null ? "" : `, at least ${money(saving.at_least)} in 30 days`
  return `Saves ${money(saving.likely)} on the calls that were read${atLeast}`
}

/** The fields before and after, and how the newest calls would have been routed. */
const PreviewView = ({ preview }: { readonly preview: Records["ActionPreview"] }) => (
  <Stack gap={4} role="status" data-testid="preview">
    {preview.managed_by_configuration ? (
      <Text size="sm" fw={600}>
        GATEWAY_CONFIG has these settings: change them there.
      </Text>
    ) : null}
    {preview.becomes_empty.length === 0 ? null : (
      <Text size="sm" fw={600}>
        No model would be left for {preview.becomes_empty.join(", ")}.
      </Text>
    )}
    <Facts of={{ before: preview.before, after: preview.after }} name="change" />
    {preview.replay === null ? null : <Rerouted replay={preview.replay} />}
  </Stack>
)

/** How the newest calls would have been routed. */
const Rerouted = ({ replay }: { readonly replay: NonNullable<Records["ActionPreview"]["replay"]> }) => {
  const { after, before, calls, changed } = replay
  if (calls === 0) return <Text size="sm">No recent auto calls: there is nothing to rank again.</Text>
  return (
    <Text size="sm" className="figures">
      Of the newest {counted(calls, "call")} that named no model, {count(changed)} would be tried with another one:
      about {money(before.expected_cost_microusd)} → {money(after.expected_cost_microusd)}, predicted quality{" "}
      {quality(before.expected_quality)} → {quality(after.expected_quality)}
    </Text>
  )
}

const quality = (value: number | null): string => (value === null ? unknown : value.toFixed(3))
