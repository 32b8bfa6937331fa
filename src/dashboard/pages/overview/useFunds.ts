import { useQueries, useQuery } from "@tanstack/react-query"
import { activity, balance, me, project, projects, seldomMillis } from "../../api/queries.ts"
import { payerOf } from "../../shell/project.ts"
import { dailySpend, paceDays } from "./funds.ts"

/** Of projects that draw on the balance: those that have spent the most say its pace. Each asks for a report. */
const maxPaceProjects = 5

/** What pays for the calls of a project, and its pace; `undefined` until all is known. */
export const useFunds = (projectId: string, isReady: boolean) => {
  const ofMe = useQuery({ ...me, enabled: isReady })
  const ofAccount = useQuery({ ...balance, enabled: isReady })
  // what is spent and the limits may have changed since the frame has asked for them
  const all = useQuery({ ...projects, staleTime: 0, refetchInterval: seldomMillis, enabled: isReady })
  const listed = all.data?.find(({ id }) => id === projectId)
  // one that was shared a moment ago is not in the list yet
  const ofProject = useQuery({
    ...project(projectId),
    refetchInterval: seldomMillis,
    enabled: all.data !== undefined && listed === undefined
  })
  const found = listed ?? ofProject.data?.data
  const accounts = ofMe.data?.accounts ?? []
  const isOwnAccount = accounts.some(({ id }) => id === found?.account_id)
  const others = (isOwnAccount ? (all.data ?? []) : [])
    .filter((each) => each.id !== projectId && each.account_id === found?.account_id && each.billing_mode === "managed")
    .sort((a, b) => b.total_spent_microusd - a.total_spent_microusd)
    .slice(0, maxPaceProjects - 1)
  const spending = useQueries({
    queries: [projectId, ...others.map(({ id }) => id)].map((id) => ({ ...activity(id, paceDays), enabled: isReady }))
  })
  const [own, ...rest] = spending.map(({ data }) => (data === undefined ? undefined : dailySpend(data)))
  const queries = [ofMe, ofAccount, ofProject, all, ...spending]
  return {
    error: queries.map(({ error }) => error).find((error) => error !== null) ?? null,
    refetch: () => Promise.all(queries.map(({ refetch }) => refetch())),
    data:
      found === undefined ||
      ofAccount.data === undefined ||
      ofMe.data === undefined ||
      all.data === undefined ||
      own === undefined ||
      rest.includes(undefined)
        ? undefined
        : {
            project: found,
            payer: payerOf(found, accounts),
            balance: ofAccount.data,
            projectPerDay: own,
            accountPerDay: rest.reduce<number>((sum, each) => sum + (each ?? 0), own)
          }
  }
}

export type Funds = NonNullable<ReturnType<typeof useFunds>["data"]>
