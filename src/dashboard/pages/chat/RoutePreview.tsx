import { Button, Group, Stack, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { Loaded } from "../../parts/Block.tsx"
import { money } from "../../parts/format.ts"
import { exclusionList, reasonText } from "../../parts/reasons.ts"
import { type Previewed, routeOf } from "./preview.ts"

interface RoutePreviewProps {
  readonly projectId: string
  readonly models: ReadonlyArray<string>
  readonly of: Previewed
  /** Takes another candidate; `undefined` where the models are chosen already. */
  readonly onChoose: ((model: string) => void) | undefined
  readonly onClose: () => void
}

/** Which model would answer the question, before it is sent, and what it would cost. */
const RoutePreview = ({ models, of, onChoose, onClose, projectId }: RoutePreviewProps) => (
  <Stack gap={4} className="chat-preview" role="region" aria-label="Route preview">
    {models.map((model, index) => (
      <OneRoute
        // biome-ignore lint/suspicious/noArrayIndexKey: the same model can be compared with itself
        key={index}
        query={routeOf(projectId, model, { asked: of.asked, history: of.histories[index] ?? [] })}
        model={model}
        onChoose={onChoose}
      />
    ))}
    <Group justify="space-between" gap="xs">
      <Text size="xs" c="dimmed">
        Nothing was sent to a provider, held or charged.
      </Text>
      <Button size="compact-xs" variant="default" onClick={onClose}>
        Close preview
      </Button>
    </Group>
  </Stack>
)

/** The first is what would be asked; the others follow when it fails. */
const maxCandidates = 4

interface OneRouteProps extends Pick<RoutePreviewProps, "onChoose"> {
  readonly query: ReturnType<typeof routeOf>
  readonly model: string
}

const OneRoute = ({ model, onChoose, query }: OneRouteProps) => (
  <Loaded query={useQuery(query)} height={60}>
    {({ candidates, error, excluded, fallback_enabled, reason }) => {
      const [first, ...others] = candidates
      const leftOut = exclusionList(excluded)
      return (
        <>
          {first === undefined ? (
            <Text size="sm" role="alert">
              {error === null ? "No model could be asked." : `${error.code}: ${error.message}`}
            </Text>
          ) : (
            <Text size="sm" className="figures" data-testid="route-preview">
              {model === first.model ? "" : `${model} → `}
              <b>{first.model}</b> ≈ {money(first.expected_cost_microusd)}, at most {money(first.max_cost_microusd)}{" "}
              held · {reasonText(reason)}
            </Text>
          )}
          {others.length === 0 ? null : (
            <Group gap="xs">
              <Text size="xs" c="dimmed">
                {fallback_enabled ? "Fallbacks, or ask instead:" : "Instead:"}
              </Text>
              {others.slice(0, maxCandidates - 1).map((each) =>
                onChoose === undefined ? (
                  <Text key={each.model} size="xs" className="figures">
                    {each.model} ≈ {money(each.expected_cost_microusd)}
                  </Text>
                ) : (
                  <Button
                    key={each.model}
                    size="compact-xs"
                    variant="default"
                    className="figures"
                    title={`Use ${each.model}`}
                    onClick={() => onChoose(each.model)}
                  >
                    {each.model} ≈ {money(each.expected_cost_microusd)}
                  </Button>
                )
              )}
            </Group>
          )}
          {leftOut === "" ? null : (
            <Text size="xs" c="dimmed">
              Excluded: {leftOut}
            </Text>
          )}
        </>
      )
    }}
  </Loaded>
)

export default RoutePreview
