import { Button, Menu, Text } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { PlusIcon, TriangleDownIcon } from "@primer/octicons-react"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useRouterState } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { projects } from "../api/queries.ts"

const NewProject = lazy(() => import("./NewProject.tsx"))

/** Which project the pages show; on a page of a project the same page of the other. */
export const ProjectSwitch = ({ projectId }: { readonly projectId: string | undefined }) => {
  const { data } = useQuery(projects)
  const [isOpen, dialog] = useDisclosure()
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const current = data?.items.find(({ id }) => id === projectId)
  const open = (id: string) => {
    const rest = /^\/p\/[^/]+\/(requests|activity|keys|routing|policy|models|providers|alerts|analyses)/.exec(path)?.[1]
    void navigate({ to: rest === undefined ? "/p/$projectId" : `/p/$projectId/${rest}`, params: { projectId: id } })
  }
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            rightSection={<TriangleDownIcon />}
            aria-label={`Project: ${current?.name ?? "none"}`}
            maw={{ base: 130, sm: 260 }}
          >
            <Text span size="sm" truncate>
              {current?.name ?? "…"}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Project</Menu.Label>
          {data?.items.map(({ id, name, role }) => (
            <Menu.Item
              key={id}
              onClick={() => open(id)}
              rightSection={role === "owner" ? null : <Text size="xs">{role}</Text>}
            >
              {name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<PlusIcon />} onClick={dialog.open}>
            New project
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>{isOpen ? <NewProject onClose={dialog.close} onCreated={open} /> : null}</Suspense>
    </>
  )
}
