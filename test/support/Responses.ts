/** The body, whatever the status. */
export const jsonOf = async <A>(response: Response): Promise<A> => (await response.json()) as A

/** Status, code and parameter of an error of the API. */
export const errorOf = async (response: Response) => {
  const { error } = await jsonOf<{ readonly error: { readonly code: string; readonly param: string | null } }>(response)
  return [response.status, error.code, error.param] as const
}

/** Status and code of an error of the API. */
export const codeOf = async (response: Response) => {
  const [status, code] = await errorOf(response)
  return [status, code] as const
}
