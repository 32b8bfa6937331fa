import { Stack, Text, Title } from "@mantine/core"
import { Block } from "../../parts/Block.tsx"
import { count, counted, money } from "../../parts/format.ts"
import { Facts, nameOf } from "./Facts.tsx"
import type { Report } from "./queries.ts"

type Segment = NonNullable<Report["segments"]>[number]
type Question = Segment["questions"][number]

/** The calls that named no model, by what they ask for, with what a replay has shown about cheaper models. */
export const SegmentsView = ({ segments }: { readonly segments: ReadonlyArray<Segment> }) => (
  <Block title="The calls that named no model, by what they ask for">
    {segments.map(({ calls, class: asked, questions, served, spent_microusd, ...more }) => (
      <Stack key={asked} gap={4} component="section" aria-label={nameOf(asked)} data-testid="segment">
        <Title order={3} size="h6">
          {nameOf(asked)}: {counted(calls, "call")}, {money(spent_microusd)}
        </Title>
        <Facts of={served} name="served" />
        {questions.map((question) => (
          <QuestionView key={`${question.incumbent} ${question.candidate}`} of={question} />
        ))}
        {Object.keys(more).length === 0 ? null : <Facts of={more} name="segment" />}
      </Stack>
    ))}
  </Block>
)

const verdicts: Readonly<Record<string, string>> = {
  not_worse: "not worse",
  worse: "worse",
  insufficient_data: "not decided: too few prompts",
  judge_unfit: "not decided: the judge overlooks faults that were planted",
  judge_biased: "not decided: the judge prefers an answer to its like",
  stopped_by_cap: "not decided: the maximum cost was reached"
}

const QuestionView = ({ of }: { readonly of: Question }) => (
  <div role="group" aria-label={`${of.candidate} in place of ${of.incumbent}`} className="figures" data-testid="tested">
    <Text size="sm">
      {of.candidate} in place of {of.incumbent}: <strong>{verdicts[of.verdict] ?? nameOf(of.verdict)}</strong>
      {of.saving_per_call_microusd === 0 ? "" : `, ${money(of.saving_per_call_microusd)} less per call`}
    </Text>
    <Text size="sm">
      {counted(of.pairs, "prompt")} compared: {count(of.wins)} answered better, {count(of.losses)} worse
      {failedOf(of)}, {count(of.ties)} without a difference. Up to {of.delta} worse on average counts as not worse; the
      average is {of.mean.toFixed(3)}.
    </Text>
    {leftOutOf(of)}
    {of.pairs_needed === null ? null : (
      <Text size="sm">
        About {counted(of.pairs_needed, "more prompt")} would decide it
        {of.cost_to_know_microusd === null ? "" : `, for about ${money(of.cost_to_know_microusd)}`}.
      </Text>
    )}
  </div>
)

const failedOf = ({ failed }: Question): string =>
  failed === undefined || failed === 0 ? "" : ` (of them ${count(failed)} not answered)`

/** Which model is unreliable they do not tell, but many of them are a reason to look. */
const leftOutOf = ({ left_out, pairs }: Question) =>
  left_out === undefined || left_out === 0 ? null : (
    <Text size="sm" fw={left_out * 5 > pairs ? 600 : undefined}>
      Left out: {counted(left_out, "prompt")}, because of a rate limit, an outage or timeout, a cancellation, money or
      the judge.
    </Text>
  )
