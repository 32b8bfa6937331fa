/** What holds where neither the configuration file nor an application's options say otherwise. */

/** To connect to a provider. */
export const defaultConnectMillis = 5_000

/** How long a provider may take, for a model that does not reason. */
export const defaultTimeouts = {
  firstContentMillis: 15_000,
  plainAnswerMillis: 60_000,
  idleMillis: 20_000,
  totalMillis: 600_000,
  maxTotalMillis: 3_000_000
}

/** Candidates that one call may try. */
export const defaultMaxAttempts = 4

/** How long the head of a stream waits for its first content, while a fallback is still possible. */
export const defaultHeadHoldMillis = 10_000

/** Silence of a stream after which a heartbeat is sent. */
export const defaultHeartbeatMillis = 15_000

/** Days after which a call is deleted. */
export const defaultCallDays = 90
