import type { RouterMetadata } from "../domain/RouterMetadata.ts"

/** Of fewer models the text is not worth keeping. */
const manyModels = 10

const poolTexts = new WeakMap<ReadonlyArray<string>, string>()

/** The text of `router_metadata`. A pool of many models is most of it, and mostly the same list as that of the call before. */
export const metadataJson = (metadata: RouterMetadata): string => {
  if (metadata.candidate_pool.models.length < manyModels) return JSON.stringify(metadata)
  const { candidate_pool: pool, ...others } = metadata
  return `{"candidate_pool":{"models":${poolText(pool.models)}},${JSON.stringify(others).slice(1)}`
}

/** The text of a response with its metadata as the last member. */
export const withMetadata = (response: string, metadata: RouterMetadata): string =>
  `${response.slice(0, -1)},"router_metadata":${metadataJson(metadata)}}`

const poolText = (models: ReadonlyArray<string>): string => {
  const known = poolTexts.get(models)
  if (known !== undefined) return known
  const text = JSON.stringify(models)
  poolTexts.set(models, text)
  return text
}
