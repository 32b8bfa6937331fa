/** Calls `ask` for each number below `count`, by several clients of which each waits for its answer before it asks again. */
export const byClients = async (count: number, ask: (at: number) => Promise<void>, clients = 8): Promise<void> => {
  let next = 0
  const client = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await ask(at)
  }
  await Promise.all(Array.from({ length: clients }, client))
}
