import { Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { me } from "../api/queries.ts"
import { Empty } from "../parts/Empty.tsx"
import { LinkButton } from "../parts/LinkButton.tsx"

/** In place of the pages of a project that the person may not see. */
const NoAccess = () => {
  const person = useQuery(me).data?.user
  return (
    <Empty title="You have no access to this project">
      <Text size="sm" c="dimmed" maw={520}>
        It was deleted, or nobody has added you to it.
        {person === undefined ? "" : ` You are signed in as ${person.name}.`}
      </Text>
      <LinkButton to="/" variant="default">
        To your projects
      </LinkButton>
    </Empty>
  )
}

export default NoAccess
