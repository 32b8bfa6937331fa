import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { RequestId } from "../../../domain/Ids.ts"
import {
  CaptureSample,
  CaptureSettings,
  EraseCaptureRequest,
  EraseCaptureResponse,
  UpdateCaptureSettings
} from "../../../wire/account/Capture.ts"
import { PageParameters, pageOf } from "../../../wire/account/Page.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const getCapture = HttpApiEndpoint.get("getCapture", "/api/projects/:id/capture")
  .setPath(ProjectPath)
  .addSuccess(CaptureSettings)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get the data collection settings of a project")

const putCapture = HttpApiEndpoint.put("putCapture", "/api/projects/:id/capture")
  .setPath(ProjectPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateCaptureSettings)
  .addSuccess(CaptureSettings)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ConfigVersionMismatch)
  .addError(Errors.VersionMismatch)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Update the data collection settings of a project")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Every change closes the open window and opens the next one. A call that ends after its window was closed is not stored; stored samples remain until they expire or are erased."
  )

const listSamples = HttpApiEndpoint.get("listCaptureSamples", "/api/projects/:id/capture/samples")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters("samples"))
  .addSuccess(pageOf("CaptureSamplesPage", CaptureSample))
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "List the samples of a project, without their content")
  .annotate(OpenApi.Description, "Requires the member role.")

const exportSamples = HttpApiEndpoint.get("exportCapture", "/api/projects/:id/capture/export")
  .setPath(ProjectPath)
  .addSuccess(HttpApiSchema.Text({ contentType: "application/x-ndjson" }))
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Export all samples of a project, with their content")
  .annotate(
    OpenApi.Description,
    "Requires the member role; recorded in the audit log. One CaptureSample per line, grouped by conversation. The last line is `{ count, sha256 }`: the number of samples, and the SHA-256 of all lines before it with their line feeds. Without that line the export is incomplete."
  )

const eraseSamples = HttpApiEndpoint.post("eraseCapture", "/api/projects/:id/capture/erase")
  .setPath(ProjectPath)
  .setPayload(EraseCaptureRequest)
  .addSuccess(EraseCaptureResponse)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Erase samples by key, end user or conversation, or all of them")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Cannot be undone. Waits up to 2 seconds for calls that this node has captured and not yet written, so that they are counted; calls of the project that started before the erasure and are pending on other nodes, or for longer, are discarded."
  )

const SamplePath = Schema.Struct({ id: sentId(RequestId, "Id of the sample.") })

const getSample = HttpApiEndpoint.get("getCaptureSample", "/api/capture/samples/:id")
  .setPath(SamplePath)
  .addSuccess(CaptureSample)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Get a sample with its content")
  .annotate(OpenApi.Description, "Requires the member role. Each read is recorded in the audit log.")

const deleteSample = HttpApiEndpoint.del("deleteCaptureSample", "/api/capture/samples/:id")
  .setPath(SamplePath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Erase a sample")
  .annotate(OpenApi.Description, "Requires the member role. Cannot be undone.")

export const CaptureGroup = HttpApiGroup.make("capture")
  .add(getCapture)
  .add(putCapture)
  .add(listSamples)
  .add(exportSamples)
  .add(eraseSamples)
  .add(getSample)
  .add(deleteSample)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Data collection from calls that opt in with `token_doctor`.")
