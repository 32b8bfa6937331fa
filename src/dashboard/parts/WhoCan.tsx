import { useQuery } from "@tanstack/react-query"
import type { Records } from "../api/client.ts"
import { members } from "../api/queries.ts"

const maxNames = 3

interface WhoCanProps {
  readonly projectId: string
  readonly of: (member: Records["MemberOut"]) => boolean
  readonly may: string
}

/** Whom to ask. */
export const WhoCan = ({ may, of, projectId }: WhoCanProps) => {
  const names = (useQuery(members(projectId)).data ?? []).filter(of).map(({ name }) => name)
  return names.length === 0 ? null : `${names.slice(-maxNames).join(" or ")} can ${may}.`
}
