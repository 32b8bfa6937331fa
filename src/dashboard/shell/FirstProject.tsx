import { Button, Text } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { useNavigate } from "@tanstack/react-router"
import { Empty } from "../parts/Empty.tsx"
import { loadedWhenShown } from "../parts/loadedWhenShown.tsx"

const NewProject = loadedWhenShown(() => import("./NewProject.tsx"))

/** What a person sees who is in no project. */
const FirstProject = () => {
  const [isOpen, dialog] = useDisclosure()
  const navigate = useNavigate()
  const open = (projectId: string) => void navigate({ to: "/p/$projectId", params: { projectId } })
  return (
    <Empty title="You have no project yet">
      <Text size="sm" c="dimmed" maw={520}>
        Keys and calls belong to a project. Create one, or ask its owner to add you.
      </Text>
      <Button size="xs" onClick={dialog.open}>
        New project
      </Button>
      {isOpen ? <NewProject onClose={dialog.close} onCreated={open} /> : null}
    </Empty>
  )
}

export default FirstProject
