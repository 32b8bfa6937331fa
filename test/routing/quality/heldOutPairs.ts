/**
 * Pairs of the same kinds as `variedPairs`, written at the same time, whose failures nobody looked at. Whoever wrote them also wrote
 * prompts for training afterwards.
 */
export const heldOutPairs: Readonly<Record<string, ReadonlyArray<readonly [string, string]>>> = {
  code: [
    [
      "How can I make a Git commit without running the hooks?",
      "What is the way to skip hooks when committing with git?"
    ],
    [
      "Turn this for loop into a list comprehension: out = []\nfor x in xs:\n    if x > 0:\n        out.append(x * 2)",
      "Could you rewrite this as a list comprehension?\nout = []\nfor x in xs:\n    if x > 0:\n        out.append(x * 2)"
    ],
    [
      "My Docker container exits immediately after start. What could be the reason?",
      "Why would a Docker container stop right after it was started?"
    ],
    [
      "Write a SQL query for the three best paid employees of each department.",
      "Per department, which three employees earn most? I need that as SQL."
    ]
  ],
  "code, longer": [
    [
      "Please review this function and tell me what is wrong:\n\ndef mean(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total / len(xs) if xs else total / 0",
      "Have a look at this function. Where is the mistake?\n\ndef mean(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total / len(xs) if xs else total / 0"
    ],
    [
      "Write a Python class for a bank account with deposit, withdraw and a transaction history. Raise an error when the balance would become negative.",
      "Create a bank account class in Python. It should support deposits, withdrawals and a list of past transactions, and raise an error if there is not enough money."
    ],
    [
      "Add a retry with exponential backoff to this TypeScript function:\nasync function load(url: string) { const r = await fetch(url); return r.json() }",
      "Change this TypeScript function so that it retries with exponential backoff:\nasync function load(url: string) { const r = await fetch(url); return r.json() }"
    ],
    [
      'My unit test passes locally but fails in CI with "connection refused" to localhost:5432. What should I check?',
      'In CI one of my unit tests fails with "connection refused" at localhost:5432, though it works on my machine. Where do I look?'
    ]
  ],
  math: [
    [
      "Find the slope of the line through (2, 3) and (5, 11).",
      "A line goes through (2, 3) and (5, 11). What is its slope?"
    ],
    ["How many seconds are there in three days?", "Three days are how many seconds?"],
    [
      "What is the probability of exactly two heads in five coin tosses?",
      "Five coins are tossed. How likely is it that exactly two show heads?"
    ],
    ["What is 7 factorial?", "Compute 7!."]
  ],
  "word problems": [
    [
      "A tank holds 900 litres and loses 12 litres per hour. After how many hours is it half empty?",
      "How long until a 900 litre tank is half empty if 12 litres leak out each hour?"
    ],
    [
      "Two trains start 360 km apart and drive toward each other at 80 and 100 km/h. When do they meet?",
      "How much time passes until two trains meet that start 360 km apart and approach each other at 80 and 100 km/h?"
    ],
    [
      "A recipe for 4 people needs 300 g of flour. How much for 10 people?",
      "For 4 people a recipe takes 300 g flour. What amount do I need for 10?"
    ],
    [
      "The mean of five numbers is 14. Four of them are 10, 12, 15 and 16. What is the fifth?",
      "Five numbers have an average of 14; 10, 12, 15 and 16 are four of them. Find the last one."
    ]
  ],
  reasoning: [
    [
      "If today is Wednesday, what day will it be in 100 days?",
      "It is Wednesday. Which weekday is it 100 days from now?"
    ],
    [
      "Three boxes are labelled wrongly: apples, oranges, both. You may take one fruit from one box. How do you label them all correctly?",
      "You have three boxes with the labels apples, oranges and both, all of them wrong. By taking a single fruit from one box, how can you find the right labels?"
    ],
    [
      "Bridge crossing: four people need 1, 2, 5 and 10 minutes, one torch, two at a time. What is the fastest way?",
      "Four people who take 1, 2, 5 and 10 minutes must cross a bridge in pairs with a single torch. How do they do it in the least time?"
    ],
    [
      "A study finds that people who own lighters get lung cancer more often. Do lighters cause cancer?",
      "People with lighters have lung cancer more often, says a study. Does it mean that lighters are the cause?"
    ]
  ],
  knowledge: [
    ["Who discovered penicillin?", "Penicillin was discovered by which scientist?"],
    ["What is the difference between a virus and a bacterium?", "How does a virus differ from a bacterium?"],
    ["How does a refrigerator keep food cold?", "By which mechanism does a fridge cool food?"],
    ["What is opportunity cost in economics?", "Explain the economic term opportunity cost."]
  ],
  "knowledge, longer and multiple choice": [
    [
      "A patient has fatigue, pale skin and low ferritin. What is the most likely diagnosis and what should be tested next?",
      "What diagnosis is most likely for a patient who is tired and pale and has a low ferritin, and which test comes next?"
    ],
    [
      "Explain to a ten-year-old why the moon has phases.",
      "How would you tell a child of ten why the moon changes its shape over the month?"
    ],
    [
      "In two paragraphs, describe what led to the First World War.",
      "What were the causes of the First World War? Two paragraphs, please."
    ],
    [
      "What are the side effects of ibuprofen, and when should it not be taken?",
      "Tell me which side effects ibuprofen has and who should avoid it."
    ]
  ],
  extraction: [
    [
      "Summarize this in ten words: The ferry to the island is cancelled today because of strong winds, and passengers get their money back.",
      "In ten words, what does this say? The ferry to the island is cancelled today because of strong winds, and passengers get their money back."
    ],
    [
      "Turn into JSON with the keys product, price and quantity: 3 notebooks at 2.50 each.",
      "Give me JSON (product, price, quantity) for: 3 notebooks at 2.50 each."
    ],
    [
      "Pick the three keywords of this abstract: We study how tree roots change the drainage of clay soils in wet climates.",
      "Which three keywords describe this abstract best? We study how tree roots change the drainage of clay soils in wet climates."
    ],
    [
      "What topic does this question belong to: billing, shipping or returns? My parcel has not arrived yet.",
      "Choose billing, shipping or returns for this question: My parcel has not arrived yet."
    ]
  ],
  "extraction, longer": [
    [
      "From this log, extract the timestamp and the error code of each failure:\n10:02:11 ok\n10:02:15 fail E17\n10:03:40 fail E02",
      "Make a list of timestamp and error code for every failure in the log:\n10:02:11 ok\n10:02:15 fail E17\n10:03:40 fail E02"
    ],
    [
      "Write a short abstract of the following text: Bees dance to tell others where flowers are. The angle of the dance shows the direction, its length the distance. Other bees follow and find the place.",
      "Please give a brief abstract of this text: Bees dance to tell others where flowers are. The angle of the dance shows the direction, its length the distance. Other bees follow and find the place."
    ],
    [
      "Find the total in this receipt: bread 2.10, cheese 4.35, tax 0.45, total 6.90, cash 10.00",
      "Receipt: bread 2.10, cheese 4.35, tax 0.45, total 6.90, cash 10.00. What is the total?"
    ],
    [
      "Take the address out of this signature: Dr. Lena Voss, Head of Sales, 14 Harbour Street, Bristol BS1 4QA",
      "What is the address in this signature? Dr. Lena Voss, Head of Sales, 14 Harbour Street, Bristol BS1 4QA"
    ]
  ],
  chat: [
    ["Write a haiku about winter.", "Please write me a haiku on the winter."],
    ["Give me three ideas for a rainy Sunday.", "What are three things to do on a Sunday when it rains?"],
    ["Write a wedding toast for my brother.", "I need a toast for my brother's wedding."],
    ["Thank you, goodbye!", "Thanks, bye!"]
  ],
  writing: [
    [
      "Rewrite this in a more professional tone: Sorry for the mess, we'll fix it soon.",
      "Make this sound more professional: Sorry for the mess, we'll fix it soon."
    ],
    [
      "Draft a complaint to the airline about my lost suitcase.",
      "Help me complain to the airline that lost my suitcase."
    ],
    [
      "Write a dialogue between a cat and a vacuum cleaner.",
      "A cat talks with a vacuum cleaner. Write their dialogue."
    ],
    [
      "Write a short motivational message for a runner before a marathon.",
      "My friend runs a marathon tomorrow. Write a few motivating words for her."
    ]
  ],
  translation: [
    ['How do you say "thank you for your help" in Polish?', '"Thank you for your help": how is that said in Polish?'],
    [
      "Please translate to English: Wo finde ich den nächsten Geldautomaten?",
      "English version, please: Wo finde ich den nächsten Geldautomaten?"
    ],
    [
      "Translate this menu into French: grilled trout with potatoes, apple pie, coffee.",
      "Write this menu in French: grilled trout with potatoes, apple pie, coffee."
    ],
    [
      "Translate into informal Spanish: Could you call me back tomorrow?",
      "Render in informal Spanish: Could you call me back tomorrow?"
    ]
  ],
  German: [
    ["Wie hoch ist der Mount Everest?", "Welche Höhe hat der Mount Everest?"],
    [
      "Schreib mir eine kurze Einladung zum Sommerfest.",
      "Ich brauche einen kurzen Einladungstext für unser Sommerfest."
    ],
    [
      "Fasse zusammen: Die Bahn fährt wegen Bauarbeiten bis Sonntag nur stündlich.",
      "Gib eine Kurzfassung: Die Bahn fährt wegen Bauarbeiten bis Sonntag nur stündlich."
    ],
    ["Löse nach x auf: 4x - 9 = 15.", "Für welches x gilt 4x - 9 = 15?"]
  ],
  "French, Spanish": [
    [
      "Écris une fonction JavaScript qui trie un tableau d'objets par date.",
      "J'ai besoin d'une fonction en JavaScript pour trier des objets par date."
    ],
    ["Raconte-moi une blague sur les chats.", "Tu connais une blague sur les chats ?"],
    [
      "Escribe una consulta SQL que cuente los clientes por país.",
      "Necesito una consulta SQL con el número de clientes de cada país."
    ],
    ['¿Cómo se dice "buenas noches" en italiano?', "Traduce al italiano: buenas noches."]
  ],
  "Italian, Portuguese, Dutch, Polish": [
    ["Qual è la radice quadrata di 196?", "Calcola la radice quadrata di 196."],
    ["Escreva um e-mail educado para adiar a reunião.", "Preciso de um e-mail educado que adie a reunião."],
    ["Schrijf een functie in Python die een tekst omkeert.", "Maak een Python-functie om een tekst om te keren."],
    ["Ile to jest 23 razy 14?", "Oblicz 23 razy 14."]
  ],
  "Japanese, Chinese, Russian": [
    ["Pythonでリストの重複を取り除く関数を書いてください。", "リストから重複を削除するPython関数を作ってください。"],
    ["用Python写一个计算斐波那契数列的函数。", "请给我一个Python函数,用来计算斐波那契数列。"],
    ["一个正方形的边长是6厘米,面积是多少?", "边长6厘米的正方形面积是多少?"],
    ["Напиши стихотворение о весне.", "Сочини стихи про весну."]
  ]
}
