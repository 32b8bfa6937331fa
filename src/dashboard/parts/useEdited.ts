import type { UseFormReturnType } from "@mantine/form"
import { useEffect, useState } from "react"
import type { Tagged } from "../api/client.ts"

interface Edited<Data, Values> extends Tagged<Data> {
  /** Shows the version that saving has made of the values that were sent; what was typed meanwhile stays, to be saved next. */
  readonly saved: (made: Tagged<Data>, sent: Values) => void
}

const isEqual = (some: unknown, other: unknown): boolean => JSON.stringify(some) === JSON.stringify(other)

/**
 * The version that a form edits: the latest, as long as the form has no changes. Where it has some they stay when a newer version is
 * read, and the service refuses to save them over it if the form would show that otherwise.
 */
export const useEdited = <Data, Values extends object>(
  latest: Tagged<Data>,
  form: UseFormReturnType<Values>,
  valuesOf: (data: Data) => Values
): Edited<Data, Values> => {
  const [edited, edit] = useState(latest)
  const isNewer = latest.tag !== edited.tag
  const show = (version: Tagged<Data>, typed: Partial<Values>) => {
    const values = valuesOf(version.data)
    form.setInitialValues(values)
    form.setValues({ ...values, ...typed })
    form.resetDirty(values)
    edit(version)
  }
  useEffect(() => {
    if (!isNewer) return
    if (!form.isDirty()) show(latest, {})
    else if (isEqual(valuesOf(latest.data), valuesOf(edited.data))) edit(latest)
  })
  return {
    ...(isNewer ? edited : latest),
    saved: (made, sent) => {
      const typed = Object.entries(form.getValues()).filter(
        ([name, value]) => !isEqual(value, sent[name as keyof Values])
      )
      show(made, Object.fromEntries(typed) as Partial<Values>)
    }
  }
}
