import { type UseFormInput, type UseFormReturnType, useForm } from "@mantine/form"
import { type DataTag, type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useRef } from "react"
import type { Tagged } from "../api/client.ts"
import { keepAnswer } from "../api/queryClient.ts"
import { fieldErrors } from "./fieldErrors.ts"
import { useEdited } from "./useEdited.ts"

/** The version that a change is made on: the service refuses it where another one is the latest. */
export interface IfMatch {
  readonly "if-match"?: string
}

interface SettingsOptions<Data, Values extends object> {
  readonly latest: Tagged<Data>
  readonly query: { readonly queryKey: DataTag<QueryKey, Tagged<Data>, Error> }
  readonly valuesOf: (data: Data) => Values
  readonly validate?: NonNullable<UseFormInput<Values>["validate"]>
  readonly send: (values: Values, header: IfMatch, edited: Data) => Promise<Tagged<Data>>
  /** The fields of the form, by the parameters that the service names in its errors. */
  readonly fields: Readonly<Record<string, string>>
  /** Reads anew what follows from these settings. */
  readonly onSaved?: () => unknown
}

/** What the parts of a form know of its saving. */
export interface Saving {
  readonly error: unknown
  readonly isPending: boolean
  readonly isSaved: boolean
  readonly isDirty: boolean
  readonly submit: (event: FormEvent<HTMLFormElement>) => void
  /** Shows what another user has saved meanwhile, in place of what was typed. */
  readonly reload: () => void
}

interface Settings<Data, Values> {
  readonly form: UseFormReturnType<Values>
  /** The version that the form edits. */
  readonly edited: Data
  readonly saving: Saving
}

/** The settings of something that exists, in a form: what is saved is the next version of what was shown. */
export const useSettings = <Data, Values extends object>(
  options: SettingsOptions<Data, Values>
): Settings<Data, Values> => {
  const { fields, latest, onSaved, query, send, validate, valuesOf } = options
  const queries = useQueryClient()
  const form = useForm<Values>({
    initialValues: valuesOf(latest.data),
    ...(validate === undefined ? {} : { validate })
  })
  const { data: edited, saved, tag } = useEdited(latest, form, valuesOf)
  const isSending = useRef(false)
  const save = useMutation({
    mutationFn: (values: Values) => send(values, tag === null ? {} : { "if-match": tag }, edited),
    onSuccess: async (made, values) => {
      await keepAnswer(queries, query, made)
      saved(made, values)
      await onSaved?.()
    },
    onError: (error) => form.setErrors(fieldErrors(error, fields)),
    onSettled: () => {
      isSending.current = false
    }
  })
  const isDirty = form.isDirty()
  const submit = form.onSubmit((values) => {
    // known before the page shows it: a second click may come earlier
    if (!isDirty || isSending.current) return
    isSending.current = true
    save.mutate(values)
  })
  const reload = () => {
    form.reset()
    save.reset()
    void queries.invalidateQueries(query)
  }
  const { data: made, error, isPending } = save
  // not of a version that has come after it
  const isSaved = made !== undefined && made.tag === tag && !isDirty
  return { form, edited, saving: { error, isPending, isSaved, isDirty, submit, reload } }
}
