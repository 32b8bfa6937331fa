import { Radio, Stack, Text } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { client, takeWithTag } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { billingMode } from "../../api/queries.ts"
import { keepAnswer } from "../../api/queryClient.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"

type Mode = "managed" | "byok"

export const BillingMode = ({ mayWrite, projectId }: { readonly projectId: string; readonly mayWrite: boolean }) => {
  const queries = useQueryClient()
  const query = useQuery(billingMode(projectId))
  const change = useMutation({
    mutationFn: (mode: Mode) =>
      takeWithTag(
        client.PUT("/api/projects/{id}/billing-mode", {
          params: {
            path: { id: projectId },
            header: query.data?.tag === null || query.data === undefined ? {} : { "if-match": query.data.tag }
          },
          body: { billing_mode: mode }
        })
      ),
    onSuccess: async (saved) => {
      await keepAnswer(queries, billingMode(projectId), saved)
      await Promise.all(
        [["projects"], ["catalog", projectId], ["chat-models", projectId]].map((queryKey) =>
          queries.invalidateQueries({ queryKey })
        )
      )
    }
  })
  return (
    <Block title="Who pays">
      <Loaded query={query} height={90}>
        {({ data }) => (
          <Radio.Group
            value={change.isPending ? change.variables : data.billing_mode}
            onChange={(mode) => change.mutate(mode as Mode)}
            aria-label="Who pays the providers"
          >
            {/* who may not change it has to be able to read it */}
            <fieldset disabled={!mayWrite} className="plain-fieldset">
              <Stack gap="xs">
                <Radio
                  value="managed"
                  label="The balance of the account"
                  description="Calls are charged at the prices of the catalog."
                />
                <Radio
                  value="byok"
                  label="Own credentials"
                  description="Providers bill you. Only providers with a credential of this project are eligible; limits still count."
                />
              </Stack>
            </fieldset>
          </Radio.Group>
        )}
      </Loaded>
      {change.error === null ? null : (
        <>
          <Failure error={change.error} />
          {change.error instanceof ApiFailure && change.error.code === "credential_required" ? (
            <Text size="sm">Without a credential no call of this project could go to any provider. Add one first.</Text>
          ) : null}
        </>
      )}
    </Block>
  )
}
