export { trainClassifier } from "./Classifier.ts"
export { readSets } from "./Data.ts"
