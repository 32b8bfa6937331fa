import { describe, expect, it } from "vitest"
import { casualPairs } from "./casualPairs.ts"
import { catalogOf, chosen, sameShare, wholeCatalog } from "./choices.ts"
import { heldOutPairs } from "./heldOutPairs.ts"
import { knownPairs } from "./knownPairs.ts"
import { readPairs } from "./readPairs.ts"
import { unseenPairs } from "./unseenPairs.ts"
import { variedPairs } from "./variedPairs.ts"

/** Two ways to ask for the same. */
const pairs: ReadonlyArray<readonly [string, string]> = [
  ...knownPairs,
  ["Write a Python function that reverses a string.", "Please give me Python code which turns a string around."],
  ["How do I center a div in CSS?", "What is the CSS to put a div in the middle of the page?"],
  [
    "Fix this bug: my loop never ends.\nwhile (i < 10) { print(i) }",
    "Why does this loop run forever?\nwhile (i < 10) { print(i) }"
  ],
  ["Implement quicksort in Java.", "I need a Java implementation of the quicksort algorithm."],
  [
    "Write a SQL query that counts orders per customer.",
    "Which SQL statement gives me the number of orders for each customer?"
  ],
  [
    "Explain what a Python decorator does with an example.",
    "Can you show with sample code how decorators work in Python?"
  ],
  ["What is 17 times 23?", "Multiply 17 by 23."],
  ["Solve 3x + 7 = 22.", "Find the x for which 3x + 7 equals 22."],
  ["A car drives 150 km in 2 hours. What is its speed?", "If a car needs 2 hours for 150 km, how fast does it go?"],
  ["Compute the integral of 2x from 0 to 3.", "What do you get if you integrate 2x between 0 and 3?"],
  ["What is 15 % of 240?", "How much is fifteen percent of 240?"],
  ["If all A are B and all B are C, are all A C?", "Every A is a B, every B is a C. Is every A a C?"],
  [
    "Tom is older than Ann, Ann is older than Kim. Who is the youngest?",
    "Ann is younger than Tom and Kim is younger than Ann. Who is youngest?"
  ],
  ["Which number comes next: 1, 4, 9, 16?", "Continue the series 1, 4, 9, 16. What follows?"],
  ["What is the capital of Peru?", "Which city is the capital of Peru?"],
  ["Who wrote Don Quixote?", "Don Quixote was written by whom?"],
  ["When did the Berlin Wall fall?", "In which year did the Berlin Wall come down?"],
  ["How does a heat pump work?", "Explain the way a heat pump works."],
  ["What causes tides?", "Why are there tides?"],
  ["Explain inflation in simple terms.", "Describe simply what inflation is."],
  [
    "Extract all email addresses from: write to a@b.org or c@d.org",
    "List the email addresses in this text: write to a@b.org or c@d.org"
  ],
  [
    "Classify the sentiment: I love this phone.",
    "Is the sentiment of this review positive or negative: I love this phone."
  ],
  [
    "Return name and age as JSON: Eva is 31 years old.",
    "Give me JSON with the name and the age. Text: Eva is 31 years old."
  ],
  [
    "Summarize in one sentence: The council met on Monday and agreed on a new park.",
    "Write a one sentence summary of: The council met on Monday and agreed on a new park."
  ],
  ["Hi, how are you?", "Hello, how are you doing?"],
  ["Write a poem about rain.", "Please compose a poem about the rain."],
  ["Tell me a joke about cats.", "Do you know a funny joke about cats?"],
  ["Write a birthday message for my sister.", "Help me with a birthday greeting for my sister."],
  ["Write a short story about a lost dog.", "Tell me a short story of a dog that got lost."],
  ["Suggest a dinner with chicken and rice.", "What can I cook for dinner with chicken and rice?"],
  ["Translate to French: Good morning.", 'How do you say "Good morning" in French?'],
  ["Translate into German: The train is late.", "Please give me the German translation of: The train is late."],
  ["Traduce al inglés: El gato duerme.", "Translate to English: El gato duerme."],
  ["Write unit tests for a stack class in TypeScript.", "Create TypeScript unit tests which cover a stack class."],
  ["Refactor this function to use async await.", "Rewrite this function with async await instead of callbacks."],
  ["Draft an email that declines a meeting.", "Write a polite email to say no to a meeting."],
  ["What is the boiling point of ethanol?", "At which temperature does ethanol boil?"],
  ["Factor x^2 - 5x + 6.", "Write x^2 - 5x + 6 as a product of two factors."],
  ["List the planets of the solar system.", "Which planets are there in the solar system?"],
  ["Give me a regex for a phone number.", "Write a regular expression that matches phone numbers."]
]

const sets = {
  "that were read while the classifier was made": [...pairs, ...readPairs, ...Object.values(variedPairs).flat()],
  "whose failures nobody looked at": Object.values(heldOutPairs).flat(),
  "that only settings were chosen by": Object.values(casualPairs).flat(),
  "that nobody had read who made the classifier": Object.values(unseenPairs).flat()
}
const all = Object.values(sets).flat()
const kinds: ReadonlyArray<keyof typeof sets> = [
  "that were read while the classifier was made",
  "whose failures nobody looked at",
  "that only settings were chosen by",
  "that nobody had read who made the classifier"
]

const alphas = Array.from({ length: 19 }, (_, at) => (at + 1) / 20)

describe("The same question in other words", () => {
  it.each(kinds)("goes to the same model in at least 90 %% of the pairs %s, at every alpha", (kind) => {
    const own = sets[kind]
    expect(own.length).toBeGreaterThan(40)
    for (const alpha of alphas)
      expect(sameShare(wholeCatalog, own, alpha), `alpha ${alpha}`).toBeGreaterThanOrEqual(0.9)
  })

  it.each(["openai", "anthropic", "google", "mistral"])("does so with the models of %s alone", (provider) => {
    const own = catalogOf(provider)
    for (const alpha of alphas) expect(sameShare(own, all, alpha), `alpha ${alpha}`).toBeGreaterThanOrEqual(0.9)
  })

  // it would be no achievement if every prompt went to one model
  it.each([0.3, 0.4, 0.6, 0.65])("is not the only one that goes to its model at alpha %d", (alpha) => {
    for (const own of Object.values(sets)) {
      expect(new Set(own.map(([one]) => chosen(wholeCatalog, one, alpha))).size).toBeGreaterThan(1)
    }
  })
})
