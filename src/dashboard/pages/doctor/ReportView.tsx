import { List, SimpleGrid, Stack, Text } from "@mantine/core"
import { Block } from "../../parts/Block.tsx"
import { count, counted, dateTime, money, percent } from "../../parts/format.ts"
import { ActionView } from "./ActionView.tsx"
import { CauseView } from "./CauseView.tsx"
import { CurveView } from "./CurveView.tsx"
import { Facts, nameOf } from "./Facts.tsx"
import type { Analysis, Report } from "./queries.ts"
import { SegmentsView } from "./SegmentsView.tsx"

const monthMillis = 30 * 86_400_000

interface ReportViewProps {
  readonly analysis: Analysis
  readonly report: Report
  readonly projectId: string
  readonly mayWrite: boolean
}

/** What was avoidable, by cause; what to do; and what the figures do not say. */
export const ReportView = ({ analysis, mayWrite, projectId, report }: ReportViewProps) => {
  const {
    actions,
    alpha_curve = [],
    causes,
    headline,
    honesty,
    method,
    reliability,
    scope,
    segments = [],
    version: _,
    ...more
  } = report
  const spent = headline.observed.spent_microusd
  const rangeMillis = Math.max(1, Date.parse(scope.to) - Date.parse(scope.from))
  const monthly = ((scope.traffic.opted_in ?? scope.traffic).spent_microusd * monthMillis) / rangeMillis
  const sure = causes.filter(({ tier }) => tier === "exact" || tier === "rebilled")
  const others = causes.filter(({ tier }) => tier !== "exact" && tier !== "rebilled")
  return (
    <Stack>
      <Headline headline={headline} scope={scope} />
      <Block title="What was avoidable, by cause">
        {sure.length === 0 ? (
          <Text size="sm">Nothing certain.</Text>
        ) : (
          sure.map((cause) => (
            <CauseView key={cause.id} cause={cause} whole={spent} monthly={monthly} projectId={projectId} />
          ))
        )}
      </Block>
      {others.length === 0 ? null : (
        <Block title="Not in the total">
          <Text size="sm" c="dimmed">
            Hypotheses, which only other answers can decide, and figures that are no saving.
          </Text>
          {others.map((cause) => (
            <CauseView key={cause.id} cause={cause} whole={spent} monthly={monthly} projectId={projectId} />
          ))}
        </Block>
      )}
      {actions.length === 0 ? null : (
        <Block title="What to do">
          {actions.map((action) => (
            <ActionView key={action.id} action={action} analysis={analysis} mayWrite={mayWrite} />
          ))}
        </Block>
      )}
      {segments.length === 0 ? null : <SegmentsView segments={segments} />}
      {alpha_curve.length === 0 ? null : <CurveView points={alpha_curve} />}
      {Object.entries(more)
        .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
        .map(([name, value]) => (
          <Block key={name} title={nameOf(name)}>
            <Facts of={value} name={name} />
          </Block>
        ))}
      <Block title="Other findings">
        <Facts of={reliability} name="reliability" />
      </Block>
      <Block title="Scope and limits of this report">
        <Scope scope={scope} />
        <Notes title="Not looked at" of={honesty.not_looked_at} />
        <Notes title="Assumed" of={honesty.assumptions} />
        <Notes
          title="Too little data"
          of={honesty.insufficient.map(({ have, need, what }) => `${what}: ${count(have)} of ${count(need)}`)}
        />
        <Notes title="Estimates of earlier reports" of={pastOf(honesty.past_receipts)} />
        <Facts of={method} name="method" />
      </Block>
    </Stack>
  )
}

/** How far what was measured after earlier reports came to what they had estimated; nothing without a measurement. */
const pastOf = (past: Report["honesty"]["past_receipts"]): ReadonlyArray<string> =>
  past === undefined || past.realised_over_estimated === null
    ? []
    : [`${percent(past.realised_over_estimated)} came true, in ${counted(past.n, "measured change")}`]

const Headline = ({ headline, scope }: Pick<Report, "headline" | "scope">) => {
  const { hypotheses_microusd_up_to, observed, projected } = headline
  const { avoidable_microusd: avoidable, spent_microusd: spent } = observed
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} data-testid="headline">
      <Block>
        <Figure
          label="Avoidable, of what was read"
          value={money(avoidable)}
          note={`of ${money(spent)}${spent === 0 ? "" : `, ${percent(avoidable / spent)}`}`}
        />
      </Block>
      <Block>
        {projected === null ? (
          <Figure label="In 30 days" value="—" note="Too little data to project" />
        ) : (
          <Figure
            label="In 30 days, at least"
            value={money(projected.at_least_microusd)}
            note={[
              `confidence ${percent(projected.confidence)}`,
              `most likely ${money(projected.monthly_microusd)}`,
              ...(projected.likely === null
                ? []
                : [`90 %: ${money(projected.likely[0])} to ${money(projected.likely[1])}`]),
              ...(isPart(scope) ? ["of the calls that opt in"] : [])
            ].join(" · ")}
          />
        )}
      </Block>
      <Block>
        <Figure label="Hypotheses" value={`up to ${money(hypotheses_microusd_up_to)}`} note="not in the totals" />
      </Block>
    </SimpleGrid>
  )
}

const Figure = ({ label, note, value }: { readonly label: string; readonly value: string; readonly note: string }) => (
  <div className="figures">
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text size="xl" fw={650}>
      {value}
    </Text>
    <Text size="sm">{note}</Text>
  </div>
)

/** Other calls of the project do not opt in to the collection. */
const isPart = ({ source, traffic }: Report["scope"]): boolean =>
  source === "captured" && traffic.opted_in !== undefined && traffic.opted_in.calls < traffic.calls

const Scope = ({ scope }: Pick<Report, "scope">) => (
  <Stack gap={2}>
    <Text size="sm" className="figures">
      {counted(scope.samples, "call")} of {counted(scope.conversations, "conversation")} (
      {scope.effective_conversations} in effect),{" "}
      {scope.source === "captured" ? "collected with their prompts" : "from the log of calls, without prompts"},{" "}
      {dateTime(scope.from)} to {dateTime(scope.to)}.
    </Text>
    <Text size="sm" className="figures">
      In that time clients of the project made {counted(scope.traffic.calls, "call")} for{" "}
      {money(scope.traffic.spent_microusd)}
      {isPart(scope) && scope.traffic.opted_in !== undefined
        ? `, of them ${count(scope.traffic.opted_in.calls)} for ${money(scope.traffic.opted_in.spent_microusd)} that opted in`
        : ""}
      ; {count(scope.calls_covered)} of those that were read could be billed again.
    </Text>
    {scope.excluded.map(({ count: calls, reason }) => (
      <Text key={reason} size="sm" className="figures">
        Not billed again: {counted(calls, "call")} ({reasons[reason] ?? nameOf(reason)})
      </Text>
    ))}
    {scope.model_error.map(({ reads_explained, route, share }) => (
      <Text key={route} size="sm" className="figures">
        {route}: computed bills differ by {percent(share)} from what was charged; {percent(reads_explained)} of the
        calls with cached tokens are explained.
      </Text>
    ))}
  </Stack>
)

/** Why the bill of a call could not be computed again. */
const reasons: Readonly<Record<string, string>> = {
  truncated: "too large to be collected whole",
  not_captured: "prompt not collected",
  no_usage: "usage not reported",
  no_prices: "model without prices"
}

const Notes = ({ of, title }: { readonly title: string; readonly of: ReadonlyArray<string> }) =>
  of.length === 0 ? null : (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <List size="sm">
        {of.map((each) => (
          <List.Item key={each}>{each}</List.Item>
        ))}
      </List>
    </div>
  )
