import { writeExactly } from "../domain/ExactJson.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"

/** Of fewer models the text is not worth keeping. */
const manyModels = 10

const poolTexts = new WeakMap<ReadonlyArray<string>, string>()

/** The metadata with the names of the client's format; those that the request `ignored`, which are the last, it has sent itself. */
export const renamed = (
  metadata: RouterMetadata,
  ignored: ReadonlyArray<string> | undefined,
  nameOf: (name: string) => string
): RouterMetadata => {
  const { dropped_parameters: names } = metadata
  const own = names.length - (ignored?.length ?? 0)
  return own === 0
    ? metadata
    : { ...metadata, dropped_parameters: names.map((name, at) => (at < own ? nameOf(name) : name)) }
}

/**
 * The text of a response, with its metadata as the last member. A pool of many models is most of the metadata, and mostly the same
 * list as that of the call before.
 */
export const withMetadata = (response: object, metadata: RouterMetadata): string => {
  if (metadata.candidate_pool.models.length < manyModels) {
    return writeExactly(Object.assign(response, { router_metadata: metadata }))
  }
  const others = JSON.stringify({ ...metadata, candidate_pool: undefined })
  const pooled = `{"candidate_pool":{"models":${poolText(metadata.candidate_pool.models)}},${others.slice(1)}`
  return `${writeExactly(response).slice(0, -1)},"router_metadata":${pooled}}`
}

const poolText = (models: ReadonlyArray<string>): string => {
  const known = poolTexts.get(models)
  if (known !== undefined) return known
  const text = JSON.stringify(models)
  poolTexts.set(models, text)
  return text
}
