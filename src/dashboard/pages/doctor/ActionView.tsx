import { Button, Group, Stack, Text, Title } from "@mantine/core"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { client, take } from "../../api/client.ts"
import { Failure } from "../../parts/Failure.tsx"
import { dateTime, money } from "../../parts/format.ts"
import { Facts, nameOf } from "./Facts.tsx"
import { Prose } from "./Prose.tsx"
import { type Action, type Analysis, analysis as analysisOf } from "./queries.ts"

interface ActionViewProps {
  readonly action: Action
  readonly analysis: Analysis
  readonly mayWrite: boolean
}

/** A change of the application is noted; what else a newer service knows it says itself, in the change that it shows. */
const isNote = (kind: string): boolean => kind === "client_hint"

/** One action: the change, what it saves, its risk, and the way back. */
export const ActionView = ({ action, analysis, mayWrite }: ActionViewProps) => {
  const queries = useQueryClient()
  const taken = analysis.actions_taken.find(({ action_id }) => action_id === action.id)
  const isTaken = taken !== undefined && taken.undone_at === null
  const params = { path: { id: analysis.id, action_id: action.id } }
  const change = useMutation({
    mutationFn: () =>
      take(
        isTaken
          ? client.POST("/api/analyses/{id}/actions/{action_id}/undo", { params })
          : client.POST("/api/analyses/{id}/actions/{action_id}/apply", { params })
      ),
    onSuccess: (changed) => queries.setQueryData(analysisOf(analysis.id).queryKey, changed)
  })
  const { id: _, kind, owner: __, patch, risk, saving, title, undo, ...more } = action
  return (
    <Stack gap={4} component="article" aria-label={title} data-testid="action">
      <Title order={3} size="h6">
        {title}
      </Title>
      <Text size="sm" className="figures">
        Saves {money(saving.likely)} on the calls that were read
        {saving.at_least === null ? "" : `, at least ${money(saving.at_least)} in 30 days`}
      </Text>
      <Facts of={patch} name="patch" />
      <Text size="sm" c="dimmed">
        Harm, if: <Prose text={risk} />
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
      {change.error === null ? null : <Failure error={change.error} />}
      <Group gap="sm">
        <Button
          size="xs"
          variant={isTaken ? "default" : "filled"}
          disabled={!mayWrite}
          loading={change.isPending}
          onClick={() => change.mutate()}
        >
          {isTaken ? "Undo" : isNote(kind) ? "I have done this" : "Apply"}
        </Button>
        {taken === undefined ? null : (
          <Text size="sm" role="status">
            {taken.undone_at === null
              ? `Done ${dateTime(taken.applied_at)}`
              : `Taken back ${dateTime(taken.undone_at)}`}
          </Text>
        )}
      </Group>
      {isTaken ? <Facts of={undo} name="undo" /> : null}
    </Stack>
  )
}
