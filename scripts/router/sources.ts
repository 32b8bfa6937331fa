export { readSets } from "./Data.ts"
export { evaluate } from "./Evaluation.ts"
