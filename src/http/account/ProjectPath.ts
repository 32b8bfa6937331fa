import * as Schema from "effect/Schema"
import { ProjectId } from "../../domain/Ids.ts"
import { sentId } from "../../wire/account/SentId.ts"

/** The path parameters of all routes below `/api/projects/{id}`. */
export const ProjectPath = Schema.Struct({ id: sentId(ProjectId, "Id of the project.") })
