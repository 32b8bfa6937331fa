// @ts-check
// The built-in catalog as if every vendor had a credential, for the benches of the router.

/** @typedef {typeof import("./sources.ts")} Library */

/** @param {Library} library */
export const catalogOf = (library) => {
  const support = /** @type {import("../../../src/domain/Support.ts").SupportTable} */ (
    Object.fromEntries([...library.shapingParameters, ...library.tuningParameters].map((name) => [name, "native"]))
  )
  const vendors = library.builtInCatalog.providers.map(({ id, protocol }) => ({
    id,
    protocol,
    support,
    billsAbortedCalls: true
  }))
  return library.makeSnapshot(
    library.buildModels({ data: library.builtInCatalog, vendors, configured: [], patches: {} })
  )
}

/** Prompts of several classes, as users of an assistant or of an agent write them. */
export const prompts = [
  "Hello! What can you do for me?",
  "The test in payments/refund.test.ts fails since yesterday. Find out why and fix it.",
  "Rename the class Invoice to Bill everywhere, and run the type check.",
  "Which of the two designs has fewer round trips to the database? Explain step by step.",
  "Translate the error messages in messages.json to French.",
  "List the environment variables that this service reads, as JSON.",
  "Write the release notes for these changes in a friendly tone.",
  "How many requests a second can 12 workers take if each needs 35 ms for one?",
  "Why does this query not use the index? SELECT * FROM orders WHERE lower(email) = $1",
  "Thanks, looks good. Please commit it.",
  "What is the difference between optimistic and pessimistic locking?",
  "Implement retries with exponential backoff in the HTTP client, with tests."
]
