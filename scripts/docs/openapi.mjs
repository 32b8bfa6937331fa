// @ts-check
// `npm run openapi`: prints the OpenAPI document of the HTTP interface.
import { importSources } from "../lib/sources.mjs"

/** @type {typeof import("../../src/http/operations/OpenApiDocument.ts")} */
const { openApiDocument } = await importSources(
  new URL("../../src/http/operations/OpenApiDocument.ts", import.meta.url)
)
console.log(JSON.stringify(openApiDocument(), null, 2))
