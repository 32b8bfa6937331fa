import { rename, writeFile } from "node:fs/promises"
import { PGlite } from "@electric-sql/pglite"

/**
 * Writes an initialised, empty database as a compressed archive. With it a first start unpacks files instead of running
 * initdb: about a quarter of the time and less than half of the memory. The build puts it beside the worker, under the
 * name `template.tar.gz`.
 *
 * @param {string} file
 * @returns {Promise<void>}
 */
export const writeTemplate = async (file) => {
  const database = await PGlite.create()
  await database.exec("CHECKPOINT")
  const archive = await database.dumpDataDir("gzip")
  await database.close()
  await writeFile(`${file}.new`, new Uint8Array(await archive.arrayBuffer()))
  await rename(`${file}.new`, file)
}
