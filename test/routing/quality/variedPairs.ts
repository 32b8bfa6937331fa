/**
 * Two ways to ask for the same, by kind of prompt and language. Written before the classifier was changed for them, and read while
 * it was.
 */
export const variedPairs: Readonly<Record<string, ReadonlyArray<readonly [string, string]>>> = {
  code: [
    [
      "Write a Go function that checks whether two strings are anagrams.",
      "I need a function in Go which tells if one string is an anagram of another."
    ],
    ["Explain this regular expression: ^\\d{4}-\\d{2}-\\d{2}$", "What does the regex ^\\d{4}-\\d{2}-\\d{2}$ match?"],
    ["Write a React component that shows a countdown timer.", "Build me a countdown timer as a React component."],
    ["How do I parse JSON in Rust with serde?", "Show me how JSON gets parsed in Rust using serde."]
  ],
  "code, longer": [
    [
      "I have a REST API in Express and every request to /users takes about four seconds. The handler runs one query per user to load the address. How can I make this faster?",
      "Our Express endpoint /users needs four seconds per request, because the handler loads each user's address with its own query. What should be changed to speed it up?"
    ],
    [
      "We want to store events in PostgreSQL, about 20 million rows a day, and query the last week by customer. Which partitioning and indexes do you suggest?",
      "About 20 million events a day go into our PostgreSQL database and are queried by customer for the past week. How should we partition the table and what indexes does it need?"
    ],
    [
      "This CSS does not center my button vertically, why?\n.box { display: flex; justify-content: center; height: 200px; }",
      "Why is the button not centered vertically with this CSS?\n.box { display: flex; justify-content: center; height: 200px; }"
    ],
    [
      "Given a binary tree, return the sum of all left leaves. Write it in Java and state the complexity.",
      "Java: sum up the left leaves of a binary tree, and tell me the complexity of the solution."
    ]
  ],
  math: [
    ["What is the sum of the first 50 odd numbers?", "Add up the first fifty odd numbers."],
    ["Calculate the determinant of [[3, 1], [4, 2]].", "What is the determinant of the matrix [[3, 1], [4, 2]]?"],
    ["Simplify (x^2 - 9)/(x - 3).", "Write (x^2 - 9)/(x - 3) in its simplest form."],
    ["Solve the inequality 2x - 5 < 9.", "For which x does 2x - 5 < 9 hold?"]
  ],
  "word problems": [
    [
      "Maria reads 24 pages a day. Her book has 312 pages. How many days does she need?",
      "A book has 312 pages, and Maria manages 24 of them a day. After how many days is she done?"
    ],
    [
      "Tickets cost 8 euros for adults and 5 euros for children. A group of 14 paid 91 euros. How many children were there?",
      "A group of 14 people paid 91 euros for tickets, 8 euros per adult and 5 euros per child. Find the number of children."
    ],
    [
      "I invest 2000 dollars at 4 percent interest compounded yearly. How much is it after 5 years?",
      "What do 2000 dollars grow to in 5 years at 4 percent a year with compound interest?"
    ],
    [
      "Three painters need 8 days for a house. How many days would four painters need?",
      "If a house is painted by three painters in 8 days, how many days does it take four of them?"
    ]
  ],
  reasoning: [
    [
      "Everyone in the club plays chess or bridge. Nora is in the club and does not play bridge. What can we conclude?",
      "Nora belongs to a club in which everybody plays chess or bridge, but she does not play bridge. What follows?"
    ],
    [
      "Which word does not belong: apple, banana, carrot, cherry?",
      "Find the one that does not fit: apple, banana, carrot, cherry."
    ],
    [
      "Is this argument valid? If the alarm rings, someone opened the door. The alarm did not ring. So nobody opened the door.",
      "Check the logic: when the alarm rings, somebody has opened the door. It did not ring, so nobody has opened it."
    ],
    ["What is the next letter in the sequence A, C, F, J, O?", "A, C, F, J, O: which letter comes next?"]
  ],
  knowledge: [
    ["What is the longest river in Europe?", "Which European river is the longest?"],
    ["Why does ice float on water?", "What is the reason that ice floats in water?"],
    ["What did the Treaty of Versailles decide?", "Which terms were set by the Treaty of Versailles?"],
    ["What are the main organs of the European Union?", "Name the most important institutions of the European Union."]
  ],
  "knowledge, longer and multiple choice": [
    [
      "Which of the following is a noble gas?\nA. Oxygen\nB. Argon\nC. Nitrogen\nD. Chlorine",
      "Name the noble gas among these:\nA. Oxygen\nB. Argon\nC. Nitrogen\nD. Chlorine"
    ],
    [
      "Under which conditions is an oral contract binding in English law?",
      "When does English law treat a spoken agreement as a binding contract?"
    ],
    [
      "Describe how the central bank raises interest rates and what it does to mortgages.",
      "What happens to mortgages when the central bank raises rates, and how does it raise them?"
    ],
    [
      'Which philosopher said "I think, therefore I am", and what did he mean?',
      '"I think, therefore I am": whose sentence is this and what is its meaning?'
    ]
  ],
  extraction: [
    [
      "Extract the phone number: You can reach Mr Berger at 030 1234567 after four.",
      "What phone number is given here? You can reach Mr Berger at 030 1234567 after four."
    ],
    [
      "Classify this email as spam or not spam: You have won a free cruise, click here to claim it.",
      "Is this email spam? You have won a free cruise, click here to claim it."
    ],
    [
      "List every person mentioned: Yesterday Olga met Henrik and his sister Mia in Bergen.",
      "Who is mentioned in this text? Yesterday Olga met Henrik and his sister Mia in Bergen."
    ],
    [
      "Reformat these dates as YYYY-MM-DD: 3/4/2021, May 6 2022, 12 Dec 2020.",
      "Write the following dates in the form YYYY-MM-DD: 3/4/2021, May 6 2022, 12 Dec 2020."
    ]
  ],
  "extraction, longer": [
    [
      "Read the following minutes and list the decisions.\n\nPresent: Ruiz, Okafor, Lind. The team agreed to postpone the launch to 9 May. Okafor will ask the printer for a new offer. The logo stays as it is.",
      "Which decisions were taken according to these minutes?\n\nPresent: Ruiz, Okafor, Lind. The team agreed to postpone the launch to 9 May. Okafor will ask the printer for a new offer. The logo stays as it is."
    ],
    [
      "Make a markdown table of this: Tokyo has 37 million inhabitants, Delhi 33 million, Shanghai 29 million.",
      "Put the following into a markdown table: Tokyo has 37 million inhabitants, Delhi 33 million, Shanghai 29 million."
    ],
    [
      "Does the customer in this message want a refund? Answer yes or no.\nThe shoes are fine but the wrong colour, can you send me the black ones instead?",
      "Answer with yes or no: is the customer asking for a refund?\nThe shoes are fine but the wrong colour, can you send me the black ones instead?"
    ],
    [
      'Rate the tone of each sentence as formal or informal: "We regret to inform you." "Hey, what\'s up?"',
      'For each sentence say whether its tone is formal or informal: "We regret to inform you." "Hey, what\'s up?"'
    ]
  ],
  chat: [
    ["Hello, can you help me with something?", "Hi there, I could use some help."],
    ["What should I call my new kitten?", "I have a new kitten. Any name for it?"],
    ["I had a fight with my best friend. What should I do?", "My best friend and I had a fight. What would you do?"],
    ["Make up a funny excuse for being late to work.", "Invent an amusing excuse for why I came late to work."]
  ],
  writing: [
    [
      "Write a LinkedIn post about our new office in Oslo.",
      "Our company has a new office in Oslo. Draft a LinkedIn post on it."
    ],
    [
      "Write a 200-word story in which a clockmaker meets time itself.",
      "A clockmaker meets time itself: tell that as a story of 200 words."
    ],
    [
      "Plan a vegetarian menu for a dinner with six guests.",
      "Six guests are coming for dinner. Suggest a vegetarian menu."
    ],
    [
      "Give me a catchy headline for an article on city gardens.",
      "I am writing an article on city gardens. What would be a catchy headline?"
    ]
  ],
  translation: [
    ["Translate into Swedish: I forgot my umbrella at home.", "What is the Swedish for: I forgot my umbrella at home."],
    [
      "Translate the following to Chinese: The contract must be signed by Friday.",
      "I need a Chinese translation of this: The contract must be signed by Friday."
    ],
    ['What does "bonne chance" mean?', 'What is the meaning of "bonne chance" in English?'],
    ['Give me the Korean word for "library".', 'What is "library" in Korean?']
  ],
  German: [
    [
      "Schreibe eine Python-Funktion, die prüft, ob ein Jahr ein Schaltjahr ist.",
      "Ich brauche eine Funktion in Python, mit der man Schaltjahre erkennt."
    ],
    [
      "Ein Rechteck ist 8 cm lang und 5 cm breit. Wie groß ist die Fläche?",
      "Berechne den Flächeninhalt eines Rechtecks von 8 cm Länge und 5 cm Breite."
    ],
    ["Warum ist der Himmel blau?", "Woran liegt es, dass der Himmel blau ist?"],
    [
      "Übersetze ins Französische: Ich hätte gern zwei Fahrkarten.",
      "Wie heißt das auf Französisch: Ich hätte gern zwei Fahrkarten."
    ]
  ],
  "French, Spanish": [
    ["Quelle est la capitale du Portugal ?", "Comment s'appelle la capitale du Portugal ?"],
    ["Combien font 15 % de 80 ?", "Calcule 15 pour cent de 80."],
    ["¿Quién pintó el Guernica?", "¿De qué pintor es el Guernica?"],
    [
      "Resume en una frase: El museo abre los lunes, pero la biblioteca está cerrada.",
      "Haz un resumen de una frase: El museo abre los lunes, pero la biblioteca está cerrada."
    ]
  ],
  "Italian, Portuguese, Dutch, Polish": [
    ["Scrivi una poesia breve sul mare.", "Vorrei una breve poesia sul mare."],
    ["Como funciona um motor elétrico?", "Explique o funcionamento de um motor elétrico."],
    ["Wat is de hoofdstad van Australië?", "Hoe heet de hoofdstad van Australië?"],
    ["Napisz krótki wiersz o jesieni.", "Poproszę o krótki wiersz o jesieni."]
  ],
  "Japanese, Chinese, Russian": [
    ["日本で一番高い山は何ですか。", "日本の最高峰はどこですか。"],
    ["次の文を英語に訳してください。電車が遅れています。", "英語に翻訳してください:電車が遅れています。"],
    ["中国的首都是哪里?", "哪个城市是中国的首都?"],
    ["Кто написал «Войну и мир»?", "Кто автор романа «Война и мир»?"]
  ]
}
