import templates from "./seeds/templates.json" with { type: "json" }

export interface Labelled {
  readonly label: string
  readonly text: string
}

/**
 * Prompts written for the classes, most of which have no graded data: every template several times, its slots filled in turn.
 * They teach the classifier what a class looks like; they say nothing about the quality of any model. What is to be translated
 * or extracted from may be about anything: half of it are sentences of the graded sets.
 */
export const seeds = (timesEach: number, sentences: ReadonlyArray<string>): ReadonlyArray<Labelled> => [
  ...Object.entries(templates.classes).flatMap(([label, texts]) =>
    texts.flatMap((template, row) => {
      const variants = Array.from({ length: timesEach }, (_, turn) =>
        filled(template, row * timesEach + turn, sentences)
      )
      return [...new Set(variants)].map((text, turn) => ({ label, text: framed(text, row + turn) }))
    })
  ),
  ...requested(timesEach, "made", sentences),
  ...requested(timesEach, "found", sentences)
]

/** What is asked for in each class, put into the same words: they must not tell one class from another either. */
const requested = (
  timesEach: number,
  kind: "found" | "made",
  sentences: ReadonlyArray<string>
): ReadonlyArray<Labelled> =>
  Object.entries(templates.asked[kind]).flatMap(([label, phrases]) =>
    phrases.flatMap((phrase, row) =>
      Array.from({ length: timesEach }, (_, turn) => {
        const request = templates.requests[kind][(row * 5 + turn) % templates.requests[kind].length] ?? "{asked}"
        const text = request.replace("{asked}", () => filled(phrase, row * timesEach + turn, sentences))
        return { label, text: text.charAt(0).toUpperCase() + text.slice(1) }
      })
    )
  )

const slots: Readonly<Record<string, ReadonlyArray<string>>> = templates.slots

/** How people ask, whatever they ask for: it must not tell one class from another. Half of the prompts are as they were written. */
const frames: ReadonlyArray<string> = templates.frames

const framed = (text: string, turn: number): string => {
  const frame = turn % 2 === 0 ? undefined : frames[((turn - 1) / 2) % frames.length]
  return frame === undefined ? text : frame.replace("{prompt}", () => text)
}

/** Slots for text that an instruction is about. */
const contents: ReadonlySet<string> = new Set(["sentence", "text", "review"])

const filled = (template: string, turn: number, sentences: ReadonlyArray<string>): string => {
  let used = 0
  return template.replace(/\{([a-z]+)\}/g, (whole, name: string) => {
    const values = slots[name]
    if (values === undefined) return whole
    const sentence = sentences[(turn * 7 + used) % Math.max(1, sentences.length)]
    if (contents.has(name) && turn % 2 === 1 && sentence !== undefined) return sentence
    // slots of one text step at different rates, so that their values meet in many combinations
    return values[(turn + 3 * used++ * (1 + turn)) % values.length] ?? whole
  })
}
