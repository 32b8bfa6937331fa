import { Empty } from "../parts/Empty.tsx"
import { LinkButton } from "../parts/LinkButton.tsx"

export const NotFound = () => (
  <Empty title="There is no such page">
    <LinkButton to="/" variant="default">
      To the overview
    </LinkButton>
  </Empty>
)
