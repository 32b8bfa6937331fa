/** What is promised, and the tests that show it; each runs in its long form. */
export const promises = [
  { number: 1, name: "Never a silent truncation", files: ["test/faults/Faults.test.ts"] },
  { number: 6, name: "Fallback before content, only and always", files: ["test/faults/CutAnywhere.test.ts"] },
  { number: 7, name: "Every fault is a whole answer or an honest error", files: ["test/faults/Faults.test.ts"] },
  { number: 9, name: "Cancelling reaches the provider", files: ["test/faults/Leaving.test.ts"] },
  { number: 12, name: "No egress that the client controls", files: ["test/hardening/Egress.test.ts"] },
  {
    number: 13,
    name: "Retries are bounded",
    files: ["test/faults/Outage.test.ts", "test/routing/RetryBudget.test.ts"]
  },
  {
    number: 14,
    name: "Every wait is bounded",
    files: ["test/faults/Scripted.test.ts", "test/gateway/Deadlines.test.ts"]
  },
  { number: 15, name: "Health is fair", files: ["test/gateway/Rest.test.ts", "test/routing/Health.test.ts"] },
  { number: 18, name: "Any bytes in, an answer out", files: ["test/hardening/AnyBytes.test.ts"] },
  { number: 19, name: "Event streams are exact", files: ["test/wire/Sse.test.ts", "test/faults/CutAnywhere.test.ts"] },
  { number: 21, name: "Stopping is graceful", files: ["test/e2e/Shutdown.test.ts"] },
  { number: 22, name: "Without its database, nothing unpaid", files: ["test/hardening/Database.test.ts"] },
  {
    number: 23,
    name: "Slow and rude clients cost little",
    files: ["test/hardening/RawHttp.test.ts", "test/hardening/NeverReading.test.ts", "test/hardening/Memory.test.ts"]
  }
]
