/** Of each column. */
export const meansOf = (rows: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> => {
  const sums = new Float64Array(rows[0]?.length ?? 0)
  for (const row of rows) for (const [at, value] of row.entries()) sums[at] = (sums[at] ?? 0) + value
  return Array.from(sums, (sum) => sum / rows.length)
}
