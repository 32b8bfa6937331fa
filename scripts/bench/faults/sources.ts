export { catalogue } from "../../../test/faults/Catalogue.ts"
export { fullText, startFaultServer } from "../../../test/faults/FaultServer.ts"
