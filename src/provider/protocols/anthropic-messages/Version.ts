import type { Model } from "../../../domain/Model.ts"

const firstVersion = "2023-06-01"

/** Of requests that name no model. */
export const versionHeader = { "anthropic-version": firstVersion }

/** The newer API version has no sampling parameters, so models that accept them use the older version. */
export const versionOf = (model: Model): string =>
  model.profile.apiVersion ?? (takesSampling(model) ? firstVersion : "2026-10-21")

export const takesSampling = (model: Model): boolean =>
  model.capabilities.sampling !== false && model.profile.apiVersion !== "2026-10-21"
