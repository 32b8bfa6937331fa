/**
 * Two ways to ask for the same, written before anything that the classifier learns from was read; whoever wrote prompts for it
 * since had read them.
 */
export const knownPairs: ReadonlyArray<readonly [string, string]> = [
  ["Say hello.", "Please greet me."],
  ["Good evening!", "Hi, good evening to you."],
  ["Thanks, that helped a lot.", "Thank you very much, this was helpful."],
  ["Tell me something nice about autumn.", "Say a few kind words on autumn."],
  ["I feel tired today. Any advice?", "What would you advise me? I am tired today."],
  ["Invent a name for a coffee shop near the sea.", "What could a seaside coffee shop be called?"],
  ["Write four lines of verse on a lighthouse.", "Compose a four-line poem about a lighthouse."],
  ["Which gift is good for a colleague who retires?", "My colleague retires. What present would suit?"],
  [
    "Make this sentence sound friendlier: Send me the file today.",
    "Rephrase in a kinder tone: Send me the file today."
  ],
  ["Plan a weekend in Lisbon for two people.", "We are two and go to Lisbon for a weekend. What should we do?"],
  ["Implement binary search in Rust.", "Write a Rust implementation of binary search."],
  [
    "My SQL query is slow because of a missing index. How do I find out which one?",
    "How can I find which index a slow SQL query is missing?"
  ],
  [
    "Convert this callback code to promises: fs.readFile(path, (err, data) => done(err, data))",
    "Rewrite with promises: fs.readFile(path, (err, data) => done(err, data))"
  ],
  [
    "What does this do? for (const k in o) if (!o.hasOwnProperty(k)) delete o[k]",
    "Explain this code: for (const k in o) if (!o.hasOwnProperty(k)) delete o[k]"
  ],
  ["Write a Dockerfile for a Node service that listens on port 3000.", "I need a Dockerfile: Node service, port 3000."],
  ["Why does git say that HEAD is detached?", "What does a detached HEAD mean in git?"],
  ["Implement an LRU cache with a capacity in Java.", "Give me Java code of an LRU cache that has a capacity."],
  [
    "TypeError: cannot read properties of undefined (reading 'map'). How do I fix it?",
    "How do I get rid of \"TypeError: cannot read properties of undefined (reading 'map')\"?"
  ],
  [
    "Write a bash script that removes files older than 30 days.",
    "Bash script to delete every file older than thirty days, please."
  ],
  [
    "Add type annotations to: def area(w, h): return w * h",
    "Please annotate the types here: def area(w, h): return w * h"
  ],
  ["Solve 3x + 7 = 22 for x.", "Find x such that 3x + 7 = 22."],
  ["What is the derivative of x^3 sin(x)?", "Differentiate x^3 sin(x) with respect to x."],
  [
    "A train goes 180 km in 2.5 hours. What is its average speed?",
    "What average speed has a train which needs 2.5 hours for 180 km?"
  ],
  ["Prove that the square root of 3 is irrational.", "Show that sqrt(3) is not a rational number."],
  ["How many ways are there to choose 4 people out of 10?", "In how many ways can one pick 4 of 10 people?"],
  ["Compute the integral of 1/(1+x^2) from 0 to 1.", "Evaluate \\int_0^1 1/(1+x^2) dx."],
  [
    "Two dice are thrown. What is the probability that the sum is 9?",
    "Find the probability of a sum of 9 with two dice."
  ],
  [
    "All roses are flowers and some flowers fade quickly. Does it follow that some roses fade quickly?",
    "Some flowers fade quickly, and every rose is a flower. Can we conclude that some roses fade quickly?"
  ],
  [
    "Ann is taller than Bob, Bob is taller than Cem. Who is the shortest?",
    "Who is shortest if Ann is taller than Bob and Bob is taller than Cem?"
  ],
  [
    "Which law explains why a rocket moves forward when gas leaves backwards?",
    "A rocket moves forward as gas leaves backwards: which physical law is behind it?"
  ],
  ["When did the Thirty Years' War end?", "In which year was the Thirty Years' War over?"],
  ["What is the capital of Mongolia?", "Name the capital city of Mongolia."],
  ["Explain how vaccines train the immune system.", "How do vaccines prepare the immune system?"],
  ["What is the difference between a patent and a trademark?", "How do patents and trademarks differ?"],
  ["Which vitamin does sunlight help the body to make?", "Sunlight helps the body to produce which vitamin?"],
  ["Who wrote One Hundred Years of Solitude?", "Who is the author of One Hundred Years of Solitude?"],
  [
    "Extract all dates: The lease starts on 1 May 2023 and ends on 30 April 2026.",
    "Which dates are in this text? The lease starts on 1 May 2023 and ends on 30 April 2026."
  ],
  [
    "Return name and city as JSON: Maria lives in Porto.",
    "Give me a JSON object with name and city from: Maria lives in Porto."
  ],
  [
    "Is this review positive or negative? The battery died after a week.",
    "Classify the sentiment of this review: The battery died after a week."
  ],
  ["Put these into a table: apples 3, pears 5, plums 2.", "Make a table out of this: apples 3, pears 5, plums 2."],
  [
    "Summarize in two sentences: The board met, discussed the budget, and put off the vote until June because figures were missing.",
    "Give me a two sentence summary: The board met, discussed the budget, and put off the vote until June because figures were missing."
  ],
  [
    "List the email addresses in: Write to anna@example.org or to sales@example.com.",
    "Find every email address here: Write to anna@example.org or to sales@example.com."
  ],
  ["Translate to Spanish: Where is the nearest pharmacy?", "Put this into Spanish: Where is the nearest pharmacy?"],
  ['What is "Schmetterling" in English?', 'Translate "Schmetterling" into English.'],
  ["Translate this to Japanese: I will arrive tomorrow.", "Japanese translation, please: I will arrive tomorrow."],
  ["Übersetze ins Englische: Der Zug fährt um acht Uhr ab.", "Bitte auf Englisch: Der Zug fährt um acht Uhr ab."],
  ["How would an Italian say: We would like the bill?", "Translate to Italian: We would like the bill."],
  ["Draft a short reply that accepts the invitation.", "Write a brief answer which accepts the invitation."]
]
