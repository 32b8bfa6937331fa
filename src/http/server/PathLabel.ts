import { isAccountPath, templateOf } from "../account/AccountPaths.ts"
import { inferencePaths, modelPath, projectChatPath, projectOf, routedPaths } from "../Paths.ts"
import { isRouted } from "../Routes.ts"
import { unknownPathLabel } from "./NodeResponse.ts"

const fixed: ReadonlySet<string> = new Set(["/", ...Object.values(inferencePaths), ...Object.values(routedPaths)])

const dashboard = "/dashboard/"

/** The path of a request as metrics name it: as declared, never with an id, so that strangers cannot add to the names. */
export const pathLabel = (path: string): string => {
  if (fixed.has(path)) return path
  if (isRouted(path)) return modelPath
  if (projectOf(path) !== undefined) return projectChatPath
  if (isAccountPath(path)) return templateOf(path) ?? unknownPathLabel
  return `${path}/` === dashboard || path.startsWith(dashboard) ? dashboard : unknownPathLabel
}
