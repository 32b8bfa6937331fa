import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { gunzipSync } from "node:zlib"

/** Graded answers of several models to the same prompts. */
export interface GradedSet {
  readonly name: string
  readonly models: ReadonlyArray<string>
  readonly prompts: ReadonlyArray<GradedPrompt>
}

export interface GradedPrompt {
  readonly id: string
  /** The kind of task, as finely as the set names it. */
  readonly label: string
  readonly task: string
  readonly text: string
  /** 0 to 1, by model. */
  readonly scores: ReadonlyArray<number>
  /** Of this one call, by model. */
  readonly costs: ReadonlyArray<number>
  /** Completion tokens, by model, where the set has them. */
  readonly outputTokens: ReadonlyArray<number> | null
}

export const byLabel = (prompts: ReadonlyArray<GradedPrompt>): ReadonlyMap<string, ReadonlyArray<GradedPrompt>> => {
  const labelled = new Map<string, Array<GradedPrompt>>()
  for (const prompt of prompts) {
    const own = labelled.get(prompt.label)
    if (own === undefined) labelled.set(prompt.label, [prompt])
    else own.push(prompt)
  }
  return labelled
}

interface Line {
  readonly id: string
  readonly task: string
  readonly sub?: string
  readonly prompt: string
  readonly scores: ReadonlyArray<number>
  readonly costs: ReadonlyArray<number>
  readonly outTok?: ReadonlyArray<number>
}

interface Recipe {
  readonly _meta: {
    readonly dataset: string
    readonly models: ReadonlyArray<string>
    readonly derivedFrom: ReadonlyArray<string>
    readonly pairs: ReadonlyArray<ReadonlyArray<string>>
  }
}

/** Several files of one set are one set; all have to name the same models in the same order. */
export const readSets = (files: ReadonlyArray<string>): GradedSet => {
  const [first, ...rest] = files.map(readSet)
  if (first === undefined) throw new Error("no file is named")
  for (const other of rest) {
    if (other.models.join("\n") !== first.models.join("\n")) {
      throw new Error(`the files of one set have to name the same models: ${other.name} does not`)
    }
  }
  return { ...first, prompts: [first, ...rest].flatMap((set) => set.prompts) }
}

const readSet = (file: string): GradedSet => (file.endsWith(".ids.json") ? derived(file) : lines(file))

const lines = (file: string): GradedSet => {
  const bytes = readFileSync(file)
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString("utf8")
  const [head = "{}", ...rest] = text.split("\n").filter((line) => line !== "")
  const { _meta: meta } = JSON.parse(head) as { _meta?: { dataset: string; models: ReadonlyArray<string> } }
  if (meta === undefined) throw new Error(`${file}: the first line is not {"_meta": …}`)
  const prompts = rest.map((line, index) => {
    const { costs, id, outTok, prompt, scores, sub, task } = JSON.parse(line) as Line
    if (scores.length !== meta.models.length || costs.length !== meta.models.length) {
      throw new Error(`${file}: line ${index + 2} does not have one score and one cost per model`)
    }
    return { id, task, label: sub ?? task, text: prompt, scores, costs, outputTokens: outTok ?? null }
  })
  return { name: meta.dataset, models: meta.models, prompts }
}

/** A set that is made of others: of each, the models that they have in common. */
const derived = (file: string): GradedSet => {
  const { _meta: meta } = JSON.parse(readFileSync(file, "utf8")) as Recipe
  const split = /\.([a-z]+)\.ids\.json$/.exec(file)?.[1]
  if (split === undefined) throw new Error(`${file}: the name does not say which split it is`)
  const prompts = meta.derivedFrom.flatMap((name, source) => {
    const set = lines(join(dirname(file), `${name}.${split}.jsonl.gz`))
    const places = meta.pairs.map((pair) => set.models.indexOf(pair[source] ?? ""))
    if (places.includes(-1)) throw new Error(`${file}: ${name} lacks one of the models`)
    const pick = (values: ReadonlyArray<number>) => places.map((place) => values[place] ?? 0)
    return set.prompts.map((one) => ({
      ...one,
      scores: pick(one.scores),
      costs: pick(one.costs),
      outputTokens: one.outputTokens === null ? null : pick(one.outputTokens)
    }))
  })
  return { name: meta.dataset, models: meta.models, prompts }
}
