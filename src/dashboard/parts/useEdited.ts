import type { UseFormReturnType } from "@mantine/form"
import { useEffect, useState } from "react"
import type { Tagged } from "../api/client.ts"

/**
 * The version that a form edits: the latest, as long as the form has no changes. Where it has some they stay when a newer version is
 * read, and the service refuses to save them over it.
 */
export const useEdited = <Data, Values>(
  latest: Tagged<Data>,
  form: UseFormReturnType<Values>,
  valuesOf: (data: Data) => Values
): Tagged<Data> => {
  const [edited, edit] = useState(latest)
  const isNewer = latest.tag !== edited.tag
  useEffect(() => {
    if (!isNewer || form.isDirty()) return
    const values = valuesOf(latest.data)
    form.setInitialValues(values)
    form.setValues(values)
    form.resetDirty(values)
    edit(latest)
  })
  return isNewer ? edited : latest
}
