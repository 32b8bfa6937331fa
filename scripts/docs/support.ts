export { shapingParameters, tuningParameters } from "../../src/domain/Support.ts"
export { configured } from "../../src/provider/vendors/Configured.ts"
export { vendors } from "../../src/provider/vendors/Vendors.ts"
