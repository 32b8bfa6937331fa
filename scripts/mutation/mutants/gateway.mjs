// @ts-check
import { fallbackMutants } from "./gateway/fallback.mjs"
import { runnerMutants } from "./gateway/runner.mjs"
import { stateMutants } from "./gateway/state.mjs"
import { streamMutants } from "./gateway/streams.mjs"

/** @type {import("../mutants.mjs").Area} */
export const gateway = {
  name: "gateway",
  tests: ["test/gateway"],
  mutants: [...runnerMutants, ...fallbackMutants, ...stateMutants, ...streamMutants]
}
