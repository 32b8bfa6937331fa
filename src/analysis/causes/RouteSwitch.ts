import { type Cause, type CauseInput, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"

/** A conversation went on at another provider or model without need, where none of it was in the cache. */
export const routeSwitch: Cause = {
  id: "route_switch",
  number: 7,
  tier: "rebilled",
  owner: "gateway",
  title: "Conversations change their route and lose the cache",
  falsePositiveIf: "The route before had failed, or the client had named another model.",
  advice: "Give the cache of a conversation more weight in the routing configuration.",
  find: (input) => {
    const list = new EditList()
    const calls = new Set<number>()
    for (const turns of input.turns) conversation(input, turns, list, calls)
    return calls.size < minSwitches
      ? undefined
      : found(
          list.edits,
          calls,
          0.95,
          [...calls].map((call) => ({ call, block: null }))
        )
  }
}

/**
 * Only the loss of the cache counts, not what the models cost: each call keeps its own prices. Where a route has failed, neither the call
 * that went elsewhere is a switch, nor the one that stays there or comes back.
 */
const conversation = (
  { workload }: CauseInput,
  turns: ReadonlyArray<number>,
  list: EditList,
  calls: Set<number>
): void => {
  let home: string | undefined
  let before: string | undefined
  let refuge: string | undefined
  for (const turn of turns) {
    const call = workload.calls[turn]
    if (call === undefined) continue
    if (home !== undefined && !call.pinned && call.failedAttempts > 0 && call.route !== before) {
      refuge = call.route
      continue
    }
    if (home === undefined || call.pinned || call.route === refuge) home = call.route
    else if (call.route !== before && before !== undefined) calls.add(turn)
    refuge = undefined
    if (home !== call.route) list.add(turn, { cacheRoute: home })
    before = call.route
  }
}

const minSwitches = 3
