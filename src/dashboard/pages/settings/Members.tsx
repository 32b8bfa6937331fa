import { Button, Group, Select, Stack, Table, Text, TextInput, VisuallyHidden } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client, type Records, take } from "../../api/client.ts"
import { me, members } from "../../api/queries.ts"
import { AskBeforeLeaving } from "../../parts/AskBeforeLeaving.tsx"
import { Loaded } from "../../parts/Block.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { Modal } from "../../parts/Dialog.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { relative } from "../../parts/format.ts"
import { useFocusInvalid } from "../../parts/useFocusInvalid.ts"
import { useIsShown } from "../../parts/useIsShown.ts"
import { WideTable } from "../../parts/WideTable.tsx"
import { useRole } from "../../shell/project.ts"

type Role = Records["ProjectRole"]

const roles: ReadonlyArray<{ value: Role; label: string }> = [
  { value: "owner", label: "owner: everything" },
  { value: "member", label: "member: keys, credentials, settings" },
  { value: "viewer", label: "viewer: reads" }
]

/** Who may use the project. */
export const Members = ({ projectId }: { readonly projectId: string }) => {
  const queries = useQueryClient()
  const query = useQuery(members(projectId))
  const self = useQuery(me).data?.user.id
  const { isOwner } = useRole(projectId)
  const navigate = useNavigate()
  const isShown = useIsShown()
  const changed = () => queries.invalidateQueries({ queryKey: ["members", projectId] })
  const remove = useMutation({
    mutationFn: (user_id: string) =>
      take(client.DELETE("/api/projects/{id}/members", { params: { path: { id: projectId }, query: { user_id } } })),
    onSuccess: async (_, user_id) => {
      ask(undefined)
      if (user_id !== self) return changed()
      // with the project this goes by itself
      const isHere = isShown()
      await queries.invalidateQueries({ queryKey: ["projects"] })
      if (isHere) await navigate({ to: "/" })
    }
  })
  const [asked, ask] = useState<Records["MemberOut"]>()
  return (
    <Stack>
      <Loaded query={query} height={160}>
        {(all) => (
          <WideTable label="Members" minWidth={420}>
            <Table fz="sm">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Person</Table.Th>
                  <Table.Th>Role</Table.Th>
                  <Table.Th>Since</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>Change</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {all.map((member) => (
                  <Table.Tr key={member.user_id}>
                    <Table.Td>
                      {member.name}
                      {member.user_id === self ? " (you)" : ""}
                    </Table.Td>
                    <Table.Td>{member.is_account_owner ? "owner, pays" : member.role}</Table.Td>
                    <Table.Td>{relative(member.created_at)}</Table.Td>
                    <Table.Td ta="right">
                      {member.is_account_owner || !(isOwner || member.user_id === self) ? null : (
                        <Button
                          size="compact-xs"
                          variant="default"
                          onClick={() => {
                            remove.reset()
                            ask(member)
                          }}
                        >
                          {member.user_id === self ? "Leave" : "Remove"}
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
      {asked === undefined ? null : (
        <Leaving
          of={asked}
          isSelf={asked.user_id === self}
          doing={remove}
          onConfirm={() => remove.mutate(asked.user_id)}
          onClose={() => ask(undefined)}
        />
      )}
      {isOwner ? <Add projectId={projectId} onAdded={changed} /> : null}
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          To join another project, give its owner your id.
        </Text>
        {self === undefined ? null : <CopyText label="Your id" text={self} />}
      </Group>
    </Stack>
  )
}

interface LeavingProps {
  readonly of: Records["MemberOut"]
  readonly isSelf: boolean
  readonly doing: { readonly error: unknown; readonly isPending: boolean }
  readonly onConfirm: () => void
  readonly onClose: () => void
}

const Leaving = ({ doing, isSelf, of, onClose, onConfirm }: LeavingProps) => (
  <Modal opened isBusy={doing.isPending} onClose={onClose} title={isSelf ? "Leave this project" : `Remove ${of.name}`}>
    <Stack>
      <Text size="sm">
        {isSelf
          ? "Only an owner of the project can add you again."
          : "Keys that this person has created go on working."}
      </Text>
      {doing.error === null ? null : <Failure error={doing.error} />}
      <Group>
        <Button color="red" loading={doing.isPending} onClick={onConfirm}>
          {isSelf ? "Leave" : "Remove"}
        </Button>
      </Group>
    </Stack>
  </Modal>
)

const Add = ({ onAdded, projectId }: { readonly projectId: string; readonly onAdded: () => unknown }) => {
  const form = useForm({ initialValues: { userId: "", role: "member" } })
  const add = useMutation({
    mutationFn: ({ role, userId }: { userId: string; role: string }) =>
      take(
        client.POST("/api/projects/{id}/members", {
          params: { path: { id: projectId } },
          body: { user_id: userId.trim(), role: role as Role }
        })
      ),
    onSuccess: () => {
      form.reset()
      return onAdded()
    },
    onError: (error) => form.setErrors(fieldErrors(error, { user_id: "userId", role: "role" }))
  })
  const invalid = useFocusInvalid(add.error)
  return (
    <form ref={invalid.ref} onSubmit={form.onSubmit((values) => add.mutate(values))}>
      <AskBeforeLeaving isUnsaved={form.isDirty()} />
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Id of the person"
            required
            w={{ base: "100%", xs: 320 }}
            {...form.getInputProps("userId")}
          />
          <Select label="Role" data={roles} allowDeselect={false} w={310} maw="100%" {...form.getInputProps("role")} />
          <Button type="submit" loading={add.isPending}>
            Add
          </Button>
        </Group>
        {add.error === null ? null : <Failure error={add.error} />}
      </Stack>
    </form>
  )
}
