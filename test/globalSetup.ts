import { ensureBuilt } from "../scripts/lib/built.mjs"

/** Tests open the embedded database with the template of the build, which would otherwise have the migrations of another time. */
export const setup = () => ensureBuilt(["template"])
