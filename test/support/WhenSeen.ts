const pauseMillis = 20

/**
 * Asks until the answer is as wanted, or the time is over: the last answer. A question without a pause would take the time of what
 * it waits for.
 */
export const whenSeen = async <A>(
  ask: () => Promise<A>,
  isDone: (answer: A) => boolean,
  maxMillis = 60_000
): Promise<A> => {
  const until = Date.now() + maxMillis
  for (;;) {
    const answer = await ask()
    if (isDone(answer) || Date.now() > until) return answer
    await new Promise((resolve) => setTimeout(resolve, pauseMillis))
  }
}
