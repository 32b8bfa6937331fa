import * as Schema from "effect/Schema"
import { ProjectId } from "../../domain/Ids.ts"

/** The path parameters of all routes below `/api/projects/{id}`. */
export const ProjectPath = Schema.Struct({ id: ProjectId.annotations({ description: "Id of the project." }) })
