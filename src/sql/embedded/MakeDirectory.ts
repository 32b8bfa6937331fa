import { mkdir, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"

/**
 * Makes the directory and those above it that are missing, for the owner only. Node's recursive `mkdir` repeats forever where
 * a file system answers ENOENT although the parent is there, such as /proc does.
 */
export const makeDirectory = async (directory: string): Promise<void> => {
  const missing: Array<string> = []
  for (let path = resolve(directory); !(await isThere(path)) && dirname(path) !== path; path = dirname(path)) {
    missing.unshift(path)
  }
  for (const path of missing) {
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      // another process was first
      if (error.code !== "EEXIST") throw error
    })
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false
      throw error
    }
  )
