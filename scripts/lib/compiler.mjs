// @ts-check
// TypeScript's compiler. Its version 7 is a program without an interface for others, so that tools which read sources use 5.9 beside it;
// both name their command `tsc`.
import { join } from "node:path"
import { root } from "./root.mjs"

/** A script for Node.js. */
export const nativeCompiler = join(root, "node_modules/@typescript/native/bin/tsc")
