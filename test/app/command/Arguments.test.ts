import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { microUsdOf, parse, type Syntax, textOf } from "../../../src/app/command/Arguments.ts"

const syntax: Syntax = {
  positionals: ["FILE", "[OTHER]"],
  options: { name: { about: "", value: "NAME" }, json: { about: "", value: null } }
}

const given = (...words: ReadonlyArray<string>) =>
  Either.match(parse(words, syntax), {
    onLeft: ({ message }) => message,
    onRight: ({ positionals, switches, values }) => [positionals, Object.fromEntries(values), [...switches]]
  })

describe("a command line", () => {
  it("takes options before, between and after words, in both spellings", () => {
    expect(given("--json", "a", "--name", "x", "b")).toEqual([["a", "b"], { name: "x" }, ["json"]])
    expect(given("a", "--name=x=y")).toEqual([["a"], { name: "x=y" }, []])
    expect(given("a", "--name=")).toEqual([["a"], { name: "" }, []])
    expect(given("--", "--json")).toEqual([["--json"], {}, []])
    expect(given("-")).toEqual([["-"], {}, []])
  })

  it.each([
    [[], "FILE is missing"],
    [["a", "b", "c"], "unexpected 'c'"],
    [["a", "--nmae", "x"], "unknown option --nmae; did you mean --name?"],
    [["a", "--constructor"], "unknown option --constructor"],
    [["a", "--name"], "--name needs a value: --name NAME"],
    [["a", "--name", "x", "--name", "y"], "--name is given twice"],
    [["a", "--json=yes"], "--json takes no value"]
  ])("%j is refused: %s", (words, message) => {
    expect(given(...words)).toBe(message)
  })
})

describe("an amount in dollars", () => {
  it.each([
    ["25", 25_000_000],
    ["0.5", 500_000],
    ["$1.234567", 1_234_567],
    ["0.000001", 1],
    ["1000000", 1_000_000_000_000]
  ])("%s is %s micro-USD, exactly", (text, expected) => {
    expect(microUsdOf("usd", text)).toEqual(Either.right(expected))
  })

  it.each(["", "0", "0.0000001", "-1", "1e3", "1,5", "1000000.01", "ten"])("%j is none", (text) => {
    expect(Either.isLeft(microUsdOf("usd", text))).toBe(true)
  })
})

describe("a name or a note", () => {
  it.each([
    ["  a key ", "a key"],
    ["é".repeat(200), "é".repeat(200)]
  ])("%j is taken as the account API takes it", (text, taken) => {
    expect(Either.getOrThrow(textOf("name", text))).toBe(taken)
  })

  it.each(["", "  ", "a".repeat(201), "a\u0000b"])("%j is refused", (text) => {
    expect(Either.flip(textOf("name", text)).pipe(Either.getOrThrow).message).toBe(
      "--name must have 1 to 200 characters, not only spaces"
    )
  })
})
