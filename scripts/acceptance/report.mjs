// @ts-check
/**
 * One check of one client: `problem` says what was wrong, `skipped` why it was not tried; neither when it has passed.
 *
 * @typedef {{ client: string, check: string, problem?: string | undefined, skipped?: string | undefined }} Result
 */

/**
 * Prints client × check, what has failed and why, and the counts; true when nothing has failed.
 *
 * @param {ReadonlyArray<string>} columns
 * @param {ReadonlyArray<Result>} results
 */
export const print = (columns, results) => {
  const clients = [...new Set(results.map(({ client }) => client))]
  const width = Math.max(...clients.map((client) => client.length))
  const cell = (/** @type {string} */ client, /** @type {string} */ check) => {
    const result = results.find((each) => each.client === client && each.check === check)
    return result === undefined
      ? "-"
      : (result.skipped ?? result.problem) === undefined
        ? "pass"
        : result.skipped
          ? "skip"
          : "FAIL"
  }
  console.log(["".padEnd(width), ...columns].join("  "))
  for (const client of clients) {
    console.log(
      [client.padEnd(width), ...columns.map((check) => cell(client, check).padEnd(check.length))].join("  ").trimEnd()
    )
  }
  const failed = results.filter(({ problem }) => problem !== undefined)
  const skipped = results.filter((result) => result.skipped !== undefined)
  for (const { check, client, problem } of failed) console.log(`\nFAIL ${client}, ${check}:\n${problem}`)
  for (const { check, client, skipped: reason } of skipped) console.log(`\nskipped ${client}, ${check}: ${reason}`)
  console.log(`\n${results.length - failed.length - skipped.length} passed, ${failed.length} failed`)
  return failed.length === 0
}
