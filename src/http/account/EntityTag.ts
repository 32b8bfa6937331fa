import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { VersionMismatch } from "../../domain/AccountError.ts"

/** The header of every PUT and PATCH of a single resource. */
export const IfMatchHeaders = Schema.Struct({
  "if-match": Schema.optional(Schema.String).annotations({
    description: "`ETag` of the version to change; any other version is rejected with 412 `version_mismatch`."
  })
})

/** Of what a person can change of a resource: what calls change, such as money that is spent, makes no new version. */
export const entityTag = (version: ReadonlyArray<string | number | boolean | null>): string =>
  `"${createHash("sha256").update(JSON.stringify(version)).digest("base64url").slice(0, 22)}"`

/** `If-Match` may list several tags, and `*` is any version. */
export const requireMatch = (ifMatch: string | undefined, current: string): Effect.Effect<void, VersionMismatch> => {
  const tags = ifMatch?.split(",").map((tag) => tag.trim())
  return tags === undefined || tags.includes("*") || tags.includes(current)
    ? Effect.void
    : Effect.fail(
        new VersionMismatch({ message: "The resource has changed since it was read: read it again and retry." })
      )
}
