import { buckets, featuresOf } from "../../src/routing/quality/Features.ts"
import { applyLinear, columns, type Linear } from "../../src/routing/quality/Linear.ts"
import { softmax } from "../../src/routing/quality/Softmax.ts"
import { hullOf, qualityAt } from "./Curve.ts"
import { byLabel, type GradedSet } from "./Data.ts"
import { shrunk } from "./LabelAverages.ts"
import { meansOf } from "./Means.ts"
import { type Matrix, matrixOf, ridge, weightsOf } from "./Sparse.ts"
import { wordCountsOf } from "./WordCounts.ts"

/** Quality and cost of each model for a text. The arrays are valid until the next prediction. */
export interface Prediction {
  readonly quality: Float64Array
  readonly cost: Float64Array
}

export interface Predictor {
  readonly predict: (text: string) => Prediction
  /** The kinds of task that were told apart. */
  readonly classes: ReadonlyArray<ReadonlyArray<string>>
}

/** More kinds of task than this are merged, those first whose models score alike: each costs time for every prompt. */
const maxClasses = 16
const classPenalty = 2
/** By cross validation: classes are told apart in 80 to 97 % of the prompts, and the rest should not be decided. */
const sharpness = 8
/** Where the kinds of task are known, what is left is small and noisy; where they are not, the text has to tell them apart. */
const residualPenalty = { withClasses: 30, withoutClasses: 10 }
const costPenalty = 10
/**
 * A text that is less like the training texts than all but this share of them are to their own kind counts less, down to
 * nothing where it is much less like them.
 */
const familiarShare = 0.05
const strangeShare = 0.01
const strangeFactor = 0.8
/**
 * By cross validation and on tasks left out: the best of many predictions is too high by chance, and differences between known
 * kinds of task hold for a new one in part.
 */
const textShare = 0.65
/** A class that is less likely is not worth the time. */
const minProbability = 0.02
/** A model that is this little below the hull of the averages can be on that of another kind of task. */
const maxGap = 0.03
/** What lifts it above its neighbours on the hull, so that it is the choice at some price. */
const clearance = 0.003

/**
 * quality = mean + unlike · lift + gate · share · (Σ P(class) · row[class] + residual − mean), where `unlike` is the share of the
 * training texts of the likeliest class that are more like their class; cost by a regression of its logarithm. Most of it is
 * linear in the features but for the softmax, so that one pass over a prompt yields everything; for a class in which the numbers of
 * words say more, the residual is theirs.
 */
export const train = ({ models, prompts }: GradedSet): Predictor => {
  const texts = prompts.map(({ text }) => text)
  const bucketWeights = weightsOf(texts)
  const matrix = matrixOf(texts, bucketWeights)
  const size = models.length
  const means = meansOf(prompts.map(({ scores }) => scores))
  const groups = mergedClasses({ prompts }, means)
  const classOf = new Map(groups.flatMap(({ labels }, index) => labels.map((label) => [label, index] as const)))
  const classes = prompts.map(({ label }) => classOf.get(label) ?? 0)
  const count = groups.length
  const rows = groups.map((group) => shrunk(group.row, group.size, means))
  const regressed = (targets: ReadonlyArray<ReadonlyArray<number>>, penalty: number) =>
    regression(matrix, targets, penalty)

  const classifier = regressed(
    classes.map((own) => groups.map((_, index) => (index === own ? 1 : 0))),
    classPenalty
  )
  const deviations = prompts.map(({ scores }, at) =>
    scores.map((score, m) => score - (rows[classes[at] ?? 0]?.[m] ?? 0))
  )
  // without classes the same words are in texts of different kinds
  const wordCounts = groups.map((_, k) => {
    const isOwn = (_: unknown, at: number) => classes[at] === k
    return count > 1 ? wordCountsOf(texts.filter(isOwn), deviations.filter(isOwn)) : undefined
  })
  const residual = regressed(deviations, count > 1 ? residualPenalty.withClasses : residualPenalty.withoutClasses)
  const cost = regressed(
    prompts.map(({ costs }) => costs.map((value) => Math.log1p(value))),
    costPenalty
  )
  const likeness = centroids(matrix, classes, count)
  const linear = joined(bucketWeights, [classifier, residual, cost, likeness])
  const outputs = new Float64Array(linear.outputs)
  const byWords = new Float64Array(size)
  const residualAt = count
  const costAt = count + size
  const likenessAt = count + 2 * size

  const read = (text: string): void => {
    const features = featuresOf(text)
    applyLinear(linear, features, outputs)
    softmax(outputs, 0, count, sharpness)
    let counted = 0
    byWords.fill(0)
    for (const [k, own] of wordCounts.entries()) {
      const probability = outputs[k] ?? 0
      if (own === undefined || probability < minProbability) continue
      counted += probability
      own.add(features, probability, byWords)
    }
    for (let m = 0; m < size; m++)
      outputs[residualAt + m] = (1 - counted) * (outputs[residualAt + m] ?? 0) + (byWords[m] ?? 0)
  }
  const familiarity = (): number => {
    let closest = 0
    for (let k = 0; k < count; k++) closest = Math.max(closest, outputs[likenessAt + k] ?? 0)
    return closest
  }
  const likeliest = (): number => {
    let best = 0
    for (let k = 1; k < count; k++) if ((outputs[k] ?? 0) > (outputs[best] ?? 0)) best = k
    return best
  }
  // thresholds and the mean of predicted costs are those of the training texts
  const familiar = new Float64Array(texts.length)
  const likenesses = groups.map((): Array<number> => [])
  const predicted = new Float64Array(size)
  texts.forEach((text, at) => {
    read(text)
    familiar[at] = familiarity()
    const own = classes[at] ?? 0
    likenesses[own]?.push(outputs[likenessAt + own] ?? 0)
    for (let m = 0; m < size; m++)
      predicted[m] = (predicted[m] ?? 0) + Math.expm1(outputs[costAt + m] ?? 0) / texts.length
  })
  familiar.sort()
  for (const own of likenesses) own.sort((a, b) => a - b)
  const full = quantile(familiar, familiarShare)
  const none = Math.min(quantile(familiar, strangeShare) * strangeFactor, full * 0.999)
  const costMeans = meansOf(prompts.map(({ costs }) => costs))
  const costFactors = costMeans.map((mean, m) => ((predicted[m] ?? 0) > 0 ? mean / (predicted[m] ?? 1) : 1))
  const lifts = liftsOf(means, costMeans)

  const quality = new Float64Array(size)
  const costs = new Float64Array(size)
  return {
    classes: groups.map(({ labels }) => labels),
    predict: (text) => {
      read(text)
      const weight = textShare * Math.max(0, Math.min(1, (familiarity() - none) / (full - none)))
      const own = likeliest()
      const unlike = 1 - shareBelow(likenesses[own] ?? [], outputs[likenessAt + own] ?? 0)
      for (let m = 0; m < size; m++) {
        let expected = outputs[residualAt + m] ?? 0
        for (let k = 0; k < count; k++) expected += (outputs[k] ?? 0) * (rows[k]?.[m] ?? 0)
        const mean = means[m] ?? 0
        quality[m] = Math.max(0, Math.min(1, mean + unlike * (lifts[m] ?? 0) + weight * (expected - mean)))
        costs[m] = Math.max(0, Math.expm1(outputs[costAt + m] ?? 0) * (costFactors[m] ?? 1))
      }
      return { quality, cost: costs }
    }
  }
}

/** What each model gets to stand above the hull of the averages, where it is near it. */
const liftsOf = (means: ReadonlyArray<number>, costMeans: ReadonlyArray<number>): ReadonlyArray<number> => {
  const hull = hullOf(means.map((quality, m) => ({ quality, cost: costMeans[m] ?? 0 })))
  return means.map((mean, m) => {
    const gap = qualityAt(hull, costMeans[m] ?? 0) - mean
    return gap > 0 && gap <= maxGap ? gap + clearance : 0
  })
}

interface ClassGroup {
  readonly labels: ReadonlyArray<string>
  readonly size: number
  readonly row: ReadonlyArray<number>
}

const mergedClasses = (
  { prompts }: Pick<GradedSet, "prompts">,
  means: ReadonlyArray<number>
): ReadonlyArray<ClassGroup> => {
  let groups: Array<ClassGroup> = [...byLabel(prompts)].map(([label, own]) => ({
    labels: [label],
    size: own.length,
    row: meansOf(own.map(({ scores }) => scores))
  }))
  while (groups.length > maxClasses) {
    let closest = { a: 0, b: 1, distance: Number.POSITIVE_INFINITY }
    for (const [a, first] of groups.entries()) {
      for (const [offset, second] of groups.slice(a + 1).entries()) {
        const weight = (first.size * second.size) / (first.size + second.size)
        const distance = weight * first.row.reduce((sum, score, m) => sum + (score - (second.row[m] ?? 0)) ** 2, 0)
        if (distance < closest.distance) closest = { a, b: a + 1 + offset, distance }
      }
    }
    const { a, b } = closest
    const first = groups[a]
    const second = groups[b]
    if (first === undefined || second === undefined) break
    const size = first.size + second.size
    groups = groups.filter((_, at) => at !== b)
    groups[a] = {
      labels: [...first.labels, ...second.labels],
      size,
      row: means.map((_, m) => ((first.row[m] ?? 0) * first.size + (second.row[m] ?? 0) * second.size) / size)
    }
  }
  return groups
}

interface Regression {
  readonly outputs: number
  readonly weights: Float64Array
  readonly intercepts: ReadonlyArray<number>
}

const regression = (matrix: Matrix, targets: ReadonlyArray<ReadonlyArray<number>>, penalty: number): Regression => {
  const intercepts = meansOf(targets)
  const outputs = intercepts.length
  const centred = new Float64Array(matrix.rows * outputs)
  for (const [at, row] of targets.entries()) {
    for (const [k, value] of row.entries()) centred[at * outputs + k] = value - (intercepts[k] ?? 0)
  }
  return { outputs, intercepts, weights: ridge(matrix, centred, outputs, penalty) }
}

/** The direction of each class's mean: a text's product with it is the cosine between the two. */
const centroids = (matrix: Matrix, classes: ReadonlyArray<number>, count: number): Regression => {
  const weights = new Float64Array(columns * count)
  const { indexes, starts, values } = matrix
  classes.forEach((own, row) => {
    for (let at = starts[row] ?? 0; at < (starts[row + 1] ?? 0); at++) {
      if ((indexes[at] ?? 0) < buckets)
        weights[(indexes[at] ?? 0) * count + own] = (weights[(indexes[at] ?? 0) * count + own] ?? 0) + (values[at] ?? 0)
    }
  })
  const squares = new Float64Array(count)
  for (let at = 0; at < weights.length; at++) squares[at % count] = (squares[at % count] ?? 0) + (weights[at] ?? 0) ** 2
  for (let at = 0; at < weights.length; at++)
    weights[at] = (weights[at] ?? 0) / (Math.sqrt(squares[at % count] ?? 0) || 1)
  return { outputs: count, weights, intercepts: Array.from(squares, () => 0) }
}

const joined = (bucketWeights: Float32Array, parts: ReadonlyArray<Regression>): Linear => {
  const outputs = parts.reduce((sum, part) => sum + part.outputs, 0)
  const weights = new Float32Array(columns * outputs)
  let offset = 0
  for (const part of parts) {
    for (let column = 0; column < columns; column++) {
      for (let k = 0; k < part.outputs; k++) {
        weights[column * outputs + offset + k] = part.weights[column * part.outputs + k] ?? 0
      }
    }
    offset += part.outputs
  }
  return { outputs, bucketWeights, weights, intercepts: Float64Array.from(parts.flatMap((part) => part.intercepts)) }
}

/** Of sorted values. */
const shareBelow = (sorted: ReadonlyArray<number>, value: number): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low / sorted.length
}

const quantile = (sorted: Float64Array, share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
