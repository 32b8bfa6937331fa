import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import * as HttpApiSwagger from "@effect/platform/HttpApiSwagger"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import { routedPaths } from "../Paths.ts"
import { DocumentedApi, openApiDocument } from "./OpenApiDocument.ts"

export type DocumentName = "openapi.json" | "docs.html"

/** How each is made from the declaration. */
export const makeDocument: { readonly [Name in DocumentName]: () => Promise<string> } = {
  "openapi.json": async () => JSON.stringify(openApiDocument()),
  "docs.html": async () => {
    const { dispose, handler } = HttpLayerRouter.toWebHandler(
      HttpApiSwagger.layerHttpLayerRouter({ api: DocumentedApi, path: routedPaths.docs }),
      { disableLogger: true }
    )
    const page = await handler(new Request(`http://localhost${routedPaths.docs}`))
    const text = await page.text()
    await dispose()
    return text
  }
}

/** Writes both into a folder, plain and by gzip, whole or not at all: a service may be waiting for them. */
export const writeDocuments = async (folder: string): Promise<void> => {
  const unfinished = `${folder}.new`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  for (const [name, make] of Object.entries(makeDocument)) {
    const text = await make()
    await writeFile(join(unfinished, name), text)
    await writeFile(join(unfinished, `${name}.gz`), gzipSync(text, { level: 9 }))
  }
  await rm(folder, { recursive: true, force: true })
  await rename(unfinished, folder)
}
