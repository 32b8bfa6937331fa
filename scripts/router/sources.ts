export { readSets } from "./Data.ts"
export { evaluate } from "./Evaluation.ts"
export { pictureOf } from "./Picture.ts"
