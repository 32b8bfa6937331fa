/** The forms of the page with changes that are not saved. */
const forms = new Set<symbol>()

export const hasUnsavedForm = (): boolean => forms.size > 0

/** Until the result is called. */
export const addUnsavedForm = (): (() => void) => {
  const id = Symbol()
  forms.add(id)
  return () => void forms.delete(id)
}
