/** How the axis of a chart is divided, how far it goes, and how wide its labels are. */

/** Calls and micro-USD have no parts. */
const wholeSteps = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()

/** `undefined` where there are figures between whole ones. */
export const stepsOf = (values: ReadonlyArray<number | null>): Array<number> | undefined =>
  values.every((value) => value === null || Number.isInteger(value)) ? wholeSteps : undefined

/** From zero, so that bars are not cut; to one unit where there is nothing else. */
export const rangeOf = (low: number, high: number, unit: number): [number, number] => [
  Math.min(0, low ?? 0),
  high > 0 ? high * 1.1 : unit
]

const digitWidth = 7
const minDigits = 5
const margin = 20

export const widthOf = (labels: ReadonlyArray<string> | null): number =>
  margin + digitWidth * Math.max(minDigits, ...(labels ?? []).map(({ length }) => length))
