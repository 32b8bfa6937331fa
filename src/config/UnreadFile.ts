import type { PlatformError } from "@effect/platform/Error"

/** Why a file was not read; it continues "a file that". */
export const whyUnread = (error: PlatformError): string => {
  switch (error._tag === "SystemError" ? error.reason : undefined) {
    case "NotFound":
      return "does not exist"
    case "PermissionDenied":
      return "cannot be read: this user has no permission to"
    case "BadResource":
      return "cannot be read: it is a directory, or something else that is no file"
    default:
      return "cannot be read"
  }
}
