/** The gateway as a language model of `@effect/ai`, which the application has to have installed. */
export { LanguageModelLayer, type LanguageModelOptions, makeLanguageModel } from "./LanguageModel.ts"
