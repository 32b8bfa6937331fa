/**
 * Pairs that were written after the last change of the classifier, and measured as they are: nothing was changed because one of
 * them failed. When prompts for training or settings change, these are known, and others have to be written.
 */
export const unseenPairs: Readonly<Record<string, ReadonlyArray<readonly [string, string]>>> = {
  code: [
    ["Explain the difference between a mutex and a semaphore.", "How is a semaphore different from a mutex?"],
    [
      "Write a Ruby method that returns the second largest number of an array.",
      "I need a Ruby method for the second largest number in an array."
    ],
    [
      "My Flask app returns 405 Method Not Allowed on POST. Why?",
      "Why do I get 405 Method Not Allowed when I POST to my Flask app?"
    ],
    [
      'Sort this dict by value: {"a": 3, "b": 1, "c": 2} in python',
      'python: {"a": 3, "b": 1, "c": 2} sorted by value, how?'
    ],
    ["How can I see which process uses port 8080 on a Mac?", "Port 8080 is taken on my Mac. Which process is it?"],
    [
      "Write a Makefile target that builds and runs a C++ program.",
      "I want a Makefile target for building and running a C++ program."
    ]
  ],
  math: [
    ["What is the greatest common divisor of 84 and 126?", "Find the gcd of 84 and 126."],
    ["Solve for y: 5(y - 2) = 3y + 8", "Which y satisfies 5(y - 2) = 3y + 8?"],
    [
      "A farmer has 17 sheep and all but 9 run away. How many remain?",
      "Of a farmer's 17 sheep all but 9 run away. How many are left?"
    ],
    ["Find the area between y = x^2 and y = 4.", "How large is the region enclosed by y = x^2 and y = 4?"],
    [
      "How many different ways can the letters of LEVEL be arranged?",
      "In how many orders can one write the letters of LEVEL?"
    ],
    [
      "A train ticket rose from 40 to 46 euros. By what percentage did it rise?",
      "What is the percent increase of a ticket from 40 to 46 euros?"
    ]
  ],
  reasoning: [
    [
      "If some doctors are tall and all tall people are thin, are some doctors thin?",
      "Some doctors are tall, and everyone tall is thin. Must some doctors be thin?"
    ],
    ["Which number is missing: 3, 9, ?, 81, 243", "Fill the gap in the sequence 3, 9, ?, 81, 243."],
    [
      "Lisa sits left of Tom, Tom sits left of Eva. Is Lisa left of Eva?",
      "Tom is to the right of Lisa and to the left of Eva. Does Lisa sit left of Eva?"
    ],
    [
      "You see a boat full of people, yet there isn't a single person on board. How?",
      "How can a boat be full of people without a single person on board?"
    ]
  ],
  knowledge: [
    ["Who invented dynamite?", "By whom was dynamite invented?"],
    ["Why is the Dead Sea so salty?", "What makes the Dead Sea that salty?"],
    ["What is the function of red blood cells?", "What do red blood cells do?"],
    ["How long does it take light to travel from the sun to the earth?", "In what time does sunlight reach the earth?"],
    ["what's the tallest animal in the world", "which animal is taller than all others?"],
    ["What is the difference between civil law and criminal law?", "How does criminal law differ from civil law?"],
    ["Describe the main ideas of existentialism.", "What are existentialism's central thoughts?"]
  ],
  extraction: [
    [
      "What is the due date on this bill? Amount 88.20 EUR, payable by 15 August, account 4471.",
      "Read the due date from this bill: Amount 88.20 EUR, payable by 15 August, account 4471."
    ],
    [
      "Give me the three main arguments of this comment: Cars are loud, they take up space, and they make cities hot.",
      "Which three main arguments does this comment make? Cars are loud, they take up space, and they make cities hot."
    ],
    [
      "Write this as JSON: title Dune, author Frank Herbert, year 1965",
      "title Dune, author Frank Herbert, year 1965 - please as JSON"
    ],
    [
      'Label the emotion in: "I can\'t believe they forgot me again."',
      'Which emotion is in "I can\'t believe they forgot me again."?'
    ],
    [
      "Shorten to one line: The workshop was moved from Tuesday to Thursday because the room is being painted; please bring your laptops.",
      "One-line version, please: The workshop was moved from Tuesday to Thursday because the room is being painted; please bring your laptops."
    ]
  ],
  chat: [
    ["Tell me a fun story about a lazy dragon.", "I'd love a funny story with a lazy dragon."],
    ["What do you recommend for a first date in winter?", "First date in winter: what do you suggest?"],
    ["good night!", "sleep well, good night"],
    [
      "Write a farewell card for a colleague who moves abroad.",
      "A colleague moves abroad. What shall I write in the farewell card?"
    ],
    ["Give me some tips against stage fright.", "How can I get over my stage fright?"],
    [
      "Make this tweet funnier: Our coffee machine is broken again.",
      "Can you make this tweet more funny? Our coffee machine is broken again."
    ]
  ],
  translation: [
    ["Translate to Norwegian: We are out of milk.", "How would you say in Norwegian: We are out of milk."],
    ['What\'s "gesundheit" in English?', 'What does "gesundheit" translate to in English?'],
    [
      "Put this into plain English: L'entrée est interdite aux mineurs.",
      "L'entrée est interdite aux mineurs. What is that in English?"
    ]
  ],
  "other languages": [
    ["Wie viele Bundesländer hat Österreich?", "Aus wie vielen Bundesländern besteht Österreich?"],
    [
      "Schreibe ein SQL-Statement, das alle Kunden ohne Bestellung findet.",
      "Welches SQL-Statement liefert alle Kunden, die nichts bestellt haben?"
    ],
    [
      "Pourquoi les feuilles tombent-elles en automne ?",
      "Quelle est la raison pour laquelle les feuilles tombent en automne ?"
    ],
    ["Escribe un mensaje de cumpleaños para mi abuela.", "Necesito una felicitación de cumpleaños para mi abuela."]
  ]
}
