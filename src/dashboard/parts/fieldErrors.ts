import { ApiFailure } from "../api/failure.ts"

/** The error of a form's field, where the service names one; `fields` maps its parameters to the form's. */
export const fieldErrors = (error: unknown, fields: Readonly<Record<string, string>>): Record<string, string> => {
  if (!(error instanceof ApiFailure) || error.error.param === null) return {}
  const field = fields[error.error.param.split(/[.[]/)[0] ?? ""]
  return field === undefined ? {} : { [field]: error.message }
}
