export { CaptureQueue } from "../../../src/capture/CaptureQueue.ts"
export { defaultSettings } from "../../../src/capture/CaptureWindow.ts"
export { usage } from "../../../src/domain/Usage.ts"
