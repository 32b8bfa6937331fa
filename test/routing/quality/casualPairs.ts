/**
 * Pairs as people type them, written after the last prompt for training. The settings of the classifier were chosen by how many of
 * them agree among others, no prompt was written for them.
 */
export const casualPairs: Readonly<Record<string, ReadonlyArray<readonly [string, string]>>> = {
  code: [
    ["whats the difference between == and === in js", "in javascript, when is == not the same as ===?"],
    [
      "pls convert this to kotlin: public int add(int a, int b) { return a + b; }",
      "the same in kotlin please: public int add(int a, int b) { return a + b; }"
    ],
    [
      'I keep getting "Segmentation fault (core dumped)" when I run my C program. How do I find out where it happens?',
      'My C program dies with "Segmentation fault (core dumped)". How can the line be found?'
    ],
    [
      "Write a cron expression that runs every weekday at 7:30.",
      "Which cron expression means 7:30 on every working day?"
    ],
    [
      "Can you optimise this query? SELECT * FROM trips t WHERE (SELECT count(*) FROM stops s WHERE s.trip_id = t.id) > 3",
      "Please speed up this query: SELECT * FROM trips t WHERE (SELECT count(*) FROM stops s WHERE s.trip_id = t.id) > 3"
    ],
    [
      "Implement a trie with insert and search in C++.",
      "C++ implementation of a trie that supports inserting and searching."
    ],
    ["What is a closure in Swift? Show an example.", "Show by example what closures are in Swift."],
    [
      "Traceback (most recent call last):\n  File \"app.py\", line 12, in <module>\n    total += row[\"price\"]\nTypeError: unsupported operand type(s) for +=: 'int' and 'str'",
      "I get this error, what now?\nTraceback (most recent call last):\n  File \"app.py\", line 12, in <module>\n    total += row[\"price\"]\nTypeError: unsupported operand type(s) for +=: 'int' and 'str'"
    ],
    ["Set up pagination for my GraphQL API, cursor based.", "I want cursor based pagination in my GraphQL API."],
    ["How to make a table responsive with Tailwind?", "Tailwind: how do I get a responsive table?"]
  ],
  math: [
    ["if i drive 45 minutes at 96 km/h how far do i get", "how many kilometres are 45 minutes at 96 km/h?"],
    ["Find all real solutions of x^4 - 5x^2 + 4 = 0.", "What are the real numbers with x^4 - 5x^2 + 4 = 0?"],
    [
      "Let $a_1 = 1$ and $a_{n+1} = 2a_n + 3$. Find $a_6$.",
      "A sequence starts with $a_1 = 1$ and satisfies $a_{n+1} = 2a_n + 3$. What is $a_6$?"
    ],
    ["What is the remainder when 7^100 is divided by 5?", "Compute 7^100 modulo 5."],
    [
      "A ladder of 5 m leans against a wall, its foot 3 m away. How high does it reach?",
      "How high up a wall does a 5 m ladder reach if its foot stands 3 m from the wall?"
    ],
    ["Evaluate the sum of 1/k(k+1) for k from 1 to 20.", "For k = 1 to 20, what do the fractions 1/k(k+1) add up to?"],
    [
      "A bag has 4 red and 6 blue marbles. Two are drawn without replacement. What's the chance both are red?",
      "Two marbles are taken from 4 red and 6 blue ones without putting them back. How probable are two red ones?"
    ],
    [
      "Janet earns $18 an hour and 1.5 times that for overtime above 40 hours. What does she get for 46 hours?",
      "What is Janet's pay for 46 hours at $18 an hour, if hours above 40 count one and a half times?"
    ]
  ],
  reasoning: [
    [
      "There are 5 machines making 5 widgets in 5 minutes. How long do 100 machines take for 100 widgets?",
      "5 machines need 5 minutes to make 5 widgets. What time do 100 machines need to make 100?"
    ],
    [
      "A is B's brother, B is C's mother. How is A related to C?",
      "B is the mother of C and has a brother A. What is A to C?"
    ],
    [
      "Every time the mayor visits, the market sells more. Should she visit daily? What might be missing in this reasoning?",
      "The market sells more whenever the mayor comes, so she should come every day. What is wrong with that?"
    ],
    [
      "All employees with a badge may enter. Tim may enter. Does Tim have a badge?",
      "Does it follow that Tim has a badge, if all employees with a badge may enter and Tim may enter?"
    ],
    [
      "Four friends finish a race. Ivo is not last, Una beats Ivo, Max comes right after Ivo, Pia is last. Give the order.",
      "Una beats Ivo, Max comes right after him, Pia is last and Ivo is not. In which order do the four finish?"
    ]
  ],
  knowledge: [
    ["what happens if you eat moldy bread", "is eating moldy bread harmful, and what can happen?"],
    ["Who was the first woman to win a Nobel Prize?", "Which woman got a Nobel Prize first?"],
    ["How do noise-cancelling headphones work?", "What is the principle behind noise-cancelling headphones?"],
    ["What's the difference between weather and climate?", "How do climate and weather differ?"],
    [
      "Which amendment of the US constitution protects free speech?",
      "Free speech is protected by which amendment of the US constitution?"
    ],
    ["why did the dinosaurs die out", "what killed the dinosaurs?"],
    [
      "Is it legal to record a phone call in Germany without telling the other person?",
      "In Germany, may I record a phone call secretly?"
    ],
    ["Tell me about the life cycle of a butterfly.", "How does the life of a butterfly go, from egg to adult?"],
    [
      "What is the normal resting heart rate for adults?",
      "How many beats per minute are normal for a resting adult heart?"
    ],
    [
      "A drop in the price of coffee will most likely\nA. raise the demand for tea\nB. lower the demand for tea\nC. raise the price of tea\nD. have no effect",
      "What is most likely when coffee becomes cheaper?\nA. raise the demand for tea\nB. lower the demand for tea\nC. raise the price of tea\nD. have no effect"
    ]
  ],
  extraction: [
    [
      "Pull every hashtag out of this post: Great day at the lake #summer #family, thanks @joe #bbq",
      "Which hashtags are in this post? Great day at the lake #summer #family, thanks @joe #bbq"
    ],
    [
      "tldr: The company said on Monday it would close two of its five plants by the end of next year, citing weak demand, and that 1,200 workers would be offered other jobs or severance pay.",
      "give me the gist: The company said on Monday it would close two of its five plants by the end of next year, citing weak demand, and that 1,200 workers would be offered other jobs or severance pay."
    ],
    [
      "Convert to a JSON array of objects: sku A1 qty 4; sku B7 qty 1",
      "JSON array with one object per line item: sku A1 qty 4; sku B7 qty 1"
    ],
    [
      'On a scale of 1 to 5, how happy is this customer? "It arrived late but support was lovely."',
      '"It arrived late but support was lovely." Rate this customer\'s satisfaction from 1 to 5.'
    ],
    ["Which language is this sentence in: Minä asun Helsingissä.", "Identify the language: Minä asun Helsingissä."],
    [
      "Rewrite as a bulleted list: First preheat the oven, then mix flour and eggs, add milk, bake for 30 minutes.",
      "Make bullet points of the following: First preheat the oven, then mix flour and eggs, add milk, bake for 30 minutes."
    ],
    [
      'Here is a support ticket. Assign a priority (low, medium, high): "All our users are locked out since this morning."',
      'Priority low, medium or high? "All our users are locked out since this morning."'
    ]
  ],
  chat: [
    ["hey whats up", "hi, hows it going"],
    ["my cat died yesterday", "Yesterday my cat passed away."],
    ["Can you roleplay as a medieval innkeeper?", "Please play the role of an innkeeper in the Middle Ages."],
    ["give me a pickup line", "do you have a good pickup line?"],
    [
      "I can't decide between a beach holiday and hiking. Help me choose.",
      "Beach or mountains for my holiday? I need help to decide."
    ],
    ["Write song lyrics about leaving home.", "I want lyrics for a song on leaving home."],
    [
      "Proofread and polish: Dear Sir, I am writting to inform you that I will be abscent on Friday.",
      "Correct and improve this: Dear Sir, I am writting to inform you that I will be abscent on Friday."
    ],
    [
      "Write an Instagram caption for a photo of my first marathon.",
      "Caption for Instagram: the photo shows me at my first marathon."
    ],
    ["what should i get my dad for christmas", "christmas present for my dad, any suggestions?"],
    [
      "Continue the story: The door had been locked for a hundred years.",
      "How does this story go on? The door had been locked for a hundred years."
    ]
  ],
  translation: [
    [
      'How would you translate "to beat around the bush" into German?',
      'German equivalent of "to beat around the bush"?'
    ],
    [
      "Translate to Hindi: Please wait here until your name is called.",
      "Please wait here until your name is called. - in Hindi, please"
    ],
    ['Qu\'est-ce que ça veut dire, "cheers mate" ?', 'Que signifie "cheers mate" en français ?'],
    [
      "turn this into british english: The color of the apartment's elevator is gray.",
      "write this in british english: The color of the apartment's elevator is gray."
    ],
    [
      "Übersetze den Satz ins Türkische: Der Bus kommt gleich.",
      "Wie lautet der Satz auf Türkisch? Der Bus kommt gleich."
    ]
  ],
  "other languages": [
    ["Erkläre mir den Unterschied zwischen TCP und UDP.", "Worin unterscheiden sich TCP und UDP?"],
    ["Kannst du mir ein Rezept für Linsensuppe geben?", "Wie koche ich eine gute Linsensuppe?"],
    ["Combien de temps faut-il pour cuire un œuf dur ?", "Un œuf dur, ça cuit combien de minutes ?"],
    ["Écris un e-mail pour annuler mon abonnement.", "Il me faut un e-mail qui annule mon abonnement."],
    ['¿Cuál es la diferencia entre "por" y "para"?', '¿Cuándo se usa "por" y cuándo "para"?'],
    [
      "Calcula el perímetro de un rectángulo de 7 cm por 4 cm.",
      "Un rectángulo mide 7 cm por 4 cm. ¿Cuál es su perímetro?"
    ],
    ["Qual è la differenza tra latte intero e scremato?", "In che cosa differiscono latte intero e latte scremato?"],
    ["如何在Linux中查找大文件?", "在Linux上怎样找到占用空间大的文件?"],
    ["地震が起きたらどうすればいいですか。", "地震のときは何をすべきですか。"]
  ]
}
