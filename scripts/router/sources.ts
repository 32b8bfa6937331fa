export { readSets } from "./Data.ts"
export { evaluate } from "./Evaluation.ts"
export { leaveOneTaskOut } from "./LeaveOneOut.ts"
export { pictureOf } from "./Picture.ts"
