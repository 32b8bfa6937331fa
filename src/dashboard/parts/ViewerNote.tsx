import { Text } from "@mantine/core"
import { useRole } from "../shell/project.ts"

/** Why nothing on a page can be changed. */
export const ViewerNote = ({ projectId }: { readonly projectId: string }) =>
  useRole(projectId).role === "viewer" ? (
    <Text size="sm">You are a viewer of this project: you can read this page, and not change it.</Text>
  ) : null
