import { Button, Code, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { client, take } from "../../api/client.ts"
import { sessions } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { CopyIconButton } from "../../parts/CopyText.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { dateTime, relative } from "../../parts/format.ts"
import { leaveFocus } from "../../parts/leaveFocus.ts"
import { Status } from "../../parts/Status.tsx"
import { WideTable } from "../../parts/WideTable.tsx"

/** Where the person is signed in. */
export const Sessions = () => {
  const queries = useQueryClient()
  const query = useQuery(sessions)
  const revoke = useMutation({
    mutationFn: ({ id }: { readonly id: string; readonly pressed: HTMLElement }) =>
      take(client.DELETE("/api/sessions/{id}", { params: { path: { id } } })),
    onSuccess: (_, { pressed }) => {
      leaveFocus(pressed)
      return queries.invalidateQueries({ queryKey: ["sessions"] })
    }
  })
  return (
    <Stack>
      <Block title="Your sessions">
        <Loaded query={query} height={160}>
          {(all) => (
            <WideTable label="Your sessions" minWidth={560}>
              <Table fz="sm">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Signed in</Table.Th>
                    <Table.Th>From</Table.Th>
                    <Table.Th>Last used</Table.Th>
                    <Table.Th>Ends</Table.Th>
                    <Table.Th>
                      <VisuallyHidden>Change</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {all.map((session) => (
                    <Table.Tr key={session.id}>
                      <Table.Td>{dateTime(session.created_at)}</Table.Td>
                      <Table.Td title={session.user_agent ?? ""}>
                        {session.address} · {session.transport === "cookie" ? "browser" : "script"}
                      </Table.Td>
                      <Table.Td>{relative(session.seen_at)}</Table.Td>
                      <Table.Td>{relative(session.expires_at)}</Table.Td>
                      <Table.Td ta="right" miw="6rem">
                        {session.is_current ? (
                          <Status state="active" label="this one" />
                        ) : (
                          <Button
                            size="compact-xs"
                            variant="default"
                            loading={revoke.isPending && revoke.variables.id === session.id}
                            // the next one comes in its place
                            onClick={({ currentTarget: pressed, detail: clicks }) =>
                              clicks < 2 && revoke.mutate({ id: session.id, pressed })
                            }
                          >
                            End
                          </Button>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </WideTable>
          )}
        </Loaded>
        {revoke.error === null ? null : <Failure error={revoke.error} />}
      </Block>
      <SignInLink />
    </Stack>
  )
}

const isAtIssuer = document.querySelector<HTMLMetaElement>("meta[name=gateway-sign-in]")?.content === "oidc"

/** It comes in the place of the button that has made it. */
const focused = (element: HTMLElement | null): void => element?.focus()

const SignInLink = () => {
  const make = useMutation({ mutationFn: () => take(client.POST("/api/session/links", {})) })
  if (isAtIssuer) return null
  return (
    <Block title="Another browser">
      <Text size="sm" c="dimmed">
        A sign-in link works once, for 10 minutes, and signs in as you.
      </Text>
      {make.data === undefined ? (
        <Group>
          <Button variant="default" loading={make.isPending} onClick={() => make.mutate()}>
            Make a sign-in link
          </Button>
        </Group>
      ) : (
        <Group wrap="nowrap" gap="xs">
          <Code block className="secret" style={{ flex: 1 }} ref={focused} tabIndex={-1}>
            {make.data.url}
          </Code>
          <CopyIconButton label="Copy the link" text={make.data.url} />
        </Group>
      )}
      {make.error === null ? null : <Failure error={make.error} />}
    </Block>
  )
}
