/** Lets the event loop turn a while, so that all that could happen by itself has happened. */
export const turns = async (count = 50): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/**
 * How often a timer of one millisecond runs until it is settled: at most as many as there are milliseconds, and hardly more while the
 * machine gives this process no time. So a bound in such turns says what one in milliseconds says, and holds on a busy machine.
 */
export const timerTurns = async (settled: Promise<unknown>): Promise<number> => {
  let count = 0
  const timer = setInterval(() => {
    count++
  }, 1)
  await settled.finally(() => clearInterval(timer))
  return count
}
