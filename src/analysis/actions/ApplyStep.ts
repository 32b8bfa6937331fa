import * as Either from "effect/Either"
import { AlreadyExists } from "../../domain/AccountError.ts"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import type { AnalysisAction, ApplyAction } from "../../wire/account/AnalysisActions.ts"
import * as Change from "./ProjectChange.ts"

/** What a request to apply an action comes to. */
export type ApplyStep =
  /** It is applied already. */
  | { readonly _tag: "None" }
  | { readonly _tag: "FollowHint" }
  | {
      readonly _tag: "Change"
      readonly target: Change.Target
      /** The version that the preview has shown. */
      readonly configVersion: number
      readonly canary: ApplyAction["canary"]
    }

export const applyStep = (
  action: Pick<AnalysisAction, "kind" | "patch" | "receipt">,
  isApplied: boolean,
  { canary, config_version: configVersion }: ApplyAction
): Either.Either<ApplyStep, AlreadyExists | InvalidRequest> => {
  const target = Change.targetOf(action)
  if (target === undefined && configVersion !== undefined) return Either.left(changesNothing("config_version"))
  if (target === undefined && canary !== undefined) return Either.left(changesNothing("canary"))
  if (isApplied) {
    const isHeldOut = action.receipt?.state === "running"
    return canary !== undefined && !isHeldOut ? Either.left(appliedToAll) : Either.right({ _tag: "None" })
  }
  if (target === undefined) return Either.right({ _tag: "FollowHint" })
  if (configVersion === undefined) return Either.left(versionMissing)
  return Either.right({ _tag: "Change", target, configVersion, canary })
}

const versionMissing = new InvalidRequest({
  code: "missing_required_parameter",
  message: "Missing required parameter: 'config_version'. The preview of the action returns it.",
  param: "config_version"
})
const changesNothing = (param: string) =>
  new InvalidRequest({
    code: "unsupported_parameter",
    message: `Unsupported parameter: '${param}'. The action does not change the project.`,
    param
  })
const appliedToAll = new AlreadyExists({
  message: "The action is applied to all conversations: undo it before it is applied with a hold-out."
})
