/**
 * Two ways to ask for the same, written after the prompts that the classifier learned from then, and read since: what it learns
 * from now was written by a person who knew how they fail.
 */
export const readPairs: ReadonlyArray<readonly [string, string]> = [
  ["Greetings, friend!", "Hey friend, hello there!"],
  ["I just got promoted!", "Guess what, I was promoted today!"],
  ["Pick a movie for tonight.", "Which film should we watch this evening?"],
  ["Write a limerick about a penguin.", "A limerick on a penguin, please."],
  ["My neighbour is too loud. What can I tell him?", "How do I talk to a neighbour who makes too much noise?"],
  ["Come up with a title for a novel set in Venice.", "Find a good title for my novel, which takes place in Venice."],
  ["Write a thank-you note to my teacher.", "Help me thank my teacher in a short note."],
  ["Describe a perfect morning in three sentences.", "In three sentences, what does a perfect morning look like?"],
  ["Give me a healthy lunch idea.", "What could I eat for a healthy lunch?"],
  ["Implement quicksort in JavaScript.", "Quicksort as a JavaScript function, please."],
  ["How do I list all open ports on Linux?", "Which Linux command shows the open ports?"],
  ["Why is my Python loop so slow?", "My loop in Python takes for ever, why?"],
  [
    "Write a TypeScript type for a non-empty array.",
    "I need a TypeScript type that stands for arrays with at least one element."
  ],
  ["Remove duplicates from a list in C#.", "How can I drop the duplicates of a list in C#?"],
  ["What is the bug here? if (x = 5) { run() }", "Find the mistake in this code: if (x = 5) { run() }"],
  ["Write a GitHub Actions workflow that runs npm test.", "GitHub Actions: make a workflow which runs npm test."],
  ["How do I add a foreign key in MySQL?", "What is the MySQL statement that adds a foreign key?"],
  [
    "Make this Java method static and explain why: int twice(int a) { return 2 * a; }",
    "Explain why this Java method should be static, and make it so: int twice(int a) { return 2 * a; }"
  ],
  ["What is 144 divided by 12?", "Divide 144 by 12."],
  ["Find the roots of 2x^2 - 8x + 6.", "For which x is 2x^2 - 8x + 6 equal to zero?"],
  [
    "A shirt costs 40 dollars after a discount of 20 percent. What did it cost before?",
    "After 20 percent off a shirt is 40 dollars. What was the price before?"
  ],
  ["What is the volume of a sphere with radius 3?", "Calculate how much volume a sphere of radius 3 has."],
  ["How many three-digit numbers are divisible by 7?", "Count the numbers with three digits that 7 divides."],
  ["Prove by induction that 1 + 2 + ... + n = n(n+1)/2.", "Show with induction: 1 + 2 + ... + n = n(n+1)/2."],
  [
    "If all pilots can swim and Eva cannot swim, is Eva a pilot?",
    "All pilots can swim. Eva cannot. Can she be a pilot?"
  ],
  [
    "Paul is older than Rita but younger than Sam. Who is the oldest?",
    "Sam is older than Paul, and Paul is older than Rita. Which of them is the oldest?"
  ],
  ["Which ocean is the deepest?", "What is the deepest ocean?"],
  ["Who painted the ceiling of the Sistine Chapel?", "The ceiling of the Sistine Chapel was painted by whom?"],
  ["What does the liver do?", "Which tasks has the liver in the body?"],
  ["When was the first moon landing?", "In what year did people first land on the moon?"],
  ["Why do leaves turn red in autumn?", "What makes leaves red in autumn?"],
  ["Explain what a black swan event is.", "What is meant by a black swan event?"],
  ["How many bones does an adult have?", "What is the number of bones in an adult body?"],
  [
    "Tag this ticket as bug or feature: The export button does nothing.",
    "Bug or feature? The export button does nothing."
  ],
  [
    "Pull the surname and the town out of: Jan Kowalski, 12 Mill Lane, Gdansk.",
    "What are the surname and the town in: Jan Kowalski, 12 Mill Lane, Gdansk."
  ],
  [
    "Summarize: The museum will be closed in March because the heating is replaced. Tickets stay valid.",
    "Give a short version of this: The museum will be closed in March because the heating is replaced. Tickets stay valid."
  ],
  [
    "Convert to CSV: Anna is 31 and from Bern, Luis is 45 and from Quito.",
    "Make CSV of this: Anna is 31 and from Bern, Luis is 45 and from Quito."
  ],
  [
    "Which product does this complaint name? The kettle leaks since Tuesday.",
    "Name the product in this complaint: The kettle leaks since Tuesday."
  ],
  ["Translate into Portuguese: The keys are on the table.", "I need this in Portuguese: The keys are on the table."],
  ["What is the Danish word for bridge?", "How do you call a bridge in Danish?"],
  ["Traduis en allemand : Je suis fatigué.", "En allemand, s'il te plaît : Je suis fatigué."],
  ["Give me this sentence in Greek: The ferry is late.", "Translate to Greek: The ferry is late."]
]
