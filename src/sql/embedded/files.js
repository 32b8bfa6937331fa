import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { gunzipSync } from "node:zlib"
import { PGlite } from "@electric-sql/pglite"

/** Changed whenever existing files can no longer be opened. */
const format = "pglite 0.5 / postgresql 18"
const markerName = "gateway-format"
/** From this file to `dist/`, where the build has put the template: from the service's, from the library's, from the sources. */
const toDist = import.meta.url.endsWith("/dist/library/sql/embedded/files.js")
  ? "../../../"
  : import.meta.url.endsWith("/src/sql/embedded/files.js")
    ? "../../../dist/"
    : "./"
const templateFile = new URL(`${toDist}template.tar.gz`, import.meta.url)
/** There while the template is being built: `npm start` starts the service meanwhile. */
const buildingFile = new URL(`${toDist}.template-building`, import.meta.url)
const pollMillis = 20

/**
 * Makes sure that `directory` holds an initialised database and returns the path to open. A first start builds the files
 * under another name and renames them, so a process that is killed meanwhile leaves no incomplete database.
 *
 * @param {string} directory
 * @param {() => Promise<Uint8Array | null>} [template]
 * @returns {Promise<string>}
 */
export const prepare = async (directory, template = readTemplate) => {
  const database = join(directory, "database")
  if (existsSync(database)) {
    await checkMarker(database)
    return database
  }
  const unfinished = join(directory, "database.new")
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  const archive = await template()
  if (archive === null) await (await PGlite.create({ dataDir: unfinished })).close()
  else unpack(archive, unfinished)
  await writeFile(join(unfinished, markerName), `${format}\n`)
  await rename(unfinished, database)
  return database
}

/** The tar archive of the template. @returns {Promise<Uint8Array<ArrayBuffer> | null>} */
export const readTemplate = async () => {
  while (existsSync(buildingFile)) await setTimeout(pollMillis)
  return existsSync(templateFile) ? unzip(await readFile(templateFile)) : null
}

/**
 * In one piece: its length is at its end, and pieces would have to be copied together.
 *
 * @param {Buffer} archive
 */
const unzip = (archive) => gunzipSync(archive, { chunkSize: archive.readUInt32LE(archive.length - 4) + 1 })

/** @param {string} database */
const checkMarker = async (database) => {
  const marker = join(database, markerName)
  const found = existsSync(marker) ? (await readFile(marker, "utf8")).trim() : "no format marker"
  if (found !== format) {
    throw new Error(
      `${database} holds ${found}, but this version opens ${format}: export it with the version that wrote it`
    )
  }
}

/**
 * Writes the files of a tar archive as `writeTemplate` makes them: short names, plain files and directories. The thread has
 * nothing else to do meanwhile, and a thousand small files take a fraction of the time when none is waited for.
 *
 * @param {Uint8Array} archive
 * @param {string} directory
 */
const unpack = (archive, directory) => {
  const decoder = new TextDecoder()
  /** @param {number} from @param {number} to */
  const text = (from, to) => decoder.decode(archive.subarray(from, to)).replace(/\0[\s\S]*$/, "")
  /** @type {Set<string>} */
  const made = new Set()
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const prefix = text(at + 345, at + 500)
    const name = text(at, at + 100)
    const path = join(directory, join("/", prefix, name))
    const size = Number.parseInt(text(at + 124, at + 136).trim() || "0", 8)
    const folder = archive[at + 156] === 0x35 ? path : dirname(path)
    if (!made.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
    made.add(folder)
    if (folder !== path) {
      writeFileSync(path, archive.subarray(at + 512, at + 512 + size), { mode: 0o600 })
    }
    at += 512 + Math.ceil(size / 512) * 512
  }
}
