import { Menu, Text } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { PlusIcon } from "@primer/octicons-react"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useRouterState } from "@tanstack/react-router"
import { projects } from "../api/queries.ts"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"
import { placeOf } from "./filters.ts"
import { ProjectButton } from "./ProjectButton.tsx"
import { projectPages } from "./pages.ts"
import { useOpenedMenu } from "./useOpenedMenu.ts"

const NewProject = loadedWhenShown(() => import("./NewProject.tsx"))

/** On a page of a project it leads to the same page of the other. */
const ProjectMenu = ({ name: current }: { readonly name: string | undefined }) => {
  const { data } = useQuery(projects)
  const [isOpen, dialog] = useDisclosure()
  const { menu, target } = useOpenedMenu()
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const open = (id: string) => {
    const [, name = ""] = /^\/p\/[^/]+(\/[^/]+)/.exec(path) ?? []
    const page = projectPages.find(({ to }) => to === `/p/$projectId${name}`)
    if (page !== undefined) void navigate(placeOf(page, id))
  }
  return (
    <>
      <Menu position="bottom-start" width={260} styles={{ itemLabel: { minWidth: 0 } }} {...menu}>
        <Menu.Target>
          <ProjectButton ref={target} name={current} />
        </Menu.Target>
        <Menu.Dropdown style={{ maxHeight: "calc(100dvh - 70px)", overflowY: "auto" }}>
          <Menu.Label>Project</Menu.Label>
          {data?.map(({ id, name, role }) => (
            <Menu.Item
              key={id}
              onClick={() => open(id)}
              rightSection={role === "owner" ? null : <Text size="xs">{role}</Text>}
            >
              <Text span display="block" truncate inherit title={name}>
                {name}
              </Text>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<PlusIcon />} onClick={dialog.open}>
            New project
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isOpen ? <NewProject onClose={dialog.close} onCreated={open} /> : null}
    </>
  )
}

export default ProjectMenu
