import { capabilities, type Model, providerOf } from "../../domain/Model.ts"
import { makeModel } from "../../provider/MakeModel.ts"

/** A model with every capability and low prices, with these changes. */
export const testModel = (id: string, changes: Partial<Model> = {}): Model => ({
  ...makeModel({
    id,
    displayName: id,
    prices: { input: 1_000_000, output: 4_000_000 },
    contextTokens: 128_000,
    outputTokens: 4_096,
    imageTokens: 1_000,
    quality: 0.7,
    capabilities
  }),
  providerId: providerOf(id),
  ...changes
})
