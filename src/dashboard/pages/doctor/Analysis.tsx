import { Button, Group, Progress, Stack, Text } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { useState } from "react"
import { client, take } from "../../api/client.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { count, dateTime } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useRole } from "../../shell/project.ts"
import { type Analysis as AnalysisRecord, analysis, isOver } from "./queries.ts"
import { ReportView } from "./ReportView.tsx"
import { StateOf } from "./StateOf.tsx"

const AskModels = loadedWhenShown(() => import("./AskModels.tsx"))

/** One analysis: how far it is, and its report. */
const Analysis = () => {
  const { analysisId, projectId } = useParams({ from: "/shell/p/$projectId/analyses/$analysisId" })
  const { mayWrite } = useRole(projectId)
  const query = useQuery(analysis(analysisId))
  const [asks, setAsks] = useState(false)
  return (
    <Page title="Analysis">
      <TextLink to="/p/$projectId/analyses" params={{ projectId }}>
        All analyses
      </TextLink>
      <ViewerNote projectId={projectId} />
      <Loaded query={query} height={480}>
        {(of) => (
          <Stack>
            <Block>
              <Group gap="sm" className="figures">
                <StateOf status={of.status} />
                <Text size="sm">
                  Calls from {dateTime(of.range_start)} to {dateTime(of.range_end)}
                  {isOver(of.status) ? ` · ${count(of.sample_count)} read` : ""}
                </Text>
              </Group>
              {isOver(of.status) ? null : <Running of={of} mayWrite={mayWrite} />}
              {of.report === null || of.status !== "succeeded" ? null : (
                <Group>
                  <Button size="xs" variant="default" disabled={!mayWrite} onClick={() => setAsks(true)}>
                    Test cheaper models
                  </Button>
                </Group>
              )}
              {asks ? <AskModels analysisId={analysisId} onClose={() => setAsks(false)} /> : null}
              {of.error === null ? null : (
                <Text size="sm" role="alert">
                  {of.error}
                </Text>
              )}
            </Block>
            {of.report === null ? null : (
              <ReportView analysis={of} report={of.report} projectId={projectId} mayWrite={mayWrite} />
            )}
            {of.report === null && of.status === "succeeded" ? (
              <Text size="sm">Its report can no longer be read: an earlier version of the gateway wrote it.</Text>
            ) : null}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

const phases: Readonly<Record<string, string>> = {
  select: "choosing conversations",
  load: "reading calls",
  static: "computing bills",
  plan: "planning what to ask",
  replay: "asking models",
  report: "writing the report"
}

const Running = ({ mayWrite, of }: { readonly of: AnalysisRecord; readonly mayWrite: boolean }) => {
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => take(client.POST("/api/analyses/{id}/cancel", { params: { path: { id: of.id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["analysis", of.id] })
  })
  const { progress } = of
  const share = progress === null || progress.total === 0 ? 0 : progress.done / progress.total
  const text =
    progress === null
      ? "Queued"
      : `${phases[progress.phase] ?? progress.phase}: ${count(progress.done)} of ${count(progress.total)}${progress.phase === "replay" ? "" : " conversations"}`
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {text}
      </Text>
      <Progress value={share * 100} size="md" aria-label={text} />
      {cancel.error === null ? null : <Failure error={cancel.error} />}
      <Group>
        <Button
          size="xs"
          variant="default"
          disabled={!mayWrite || cancel.isSuccess}
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          {cancel.isSuccess ? "Stopping" : "Cancel"}
        </Button>
      </Group>
    </Stack>
  )
}

export default Analysis
