import { beforeAll, describe, expect, it } from "vitest"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../support/AccountService.ts"
import { type AnalysedProject, analysedProject, type Detail, reportOf } from "../support/AnalysisProject.ts"

const conversations = 25
const turns = 5
/** About 1,500 tokens, as a simulated provider counts them. */
const rules = Array.from(
  { length: 100 },
  (_, at) => `Rule ${at}: check each result of a tool, and say what you do.`
).join("\n")
const fixedMillis = Date.UTC(2026, 4, 1, 9)

/** What a coding agent sends: the same long instructions, and a conversation that grows by an answer and a result. */
const agent = async (project: AnalysedProject, name: string, instructionsAt: (call: number) => string) => {
  let calls = 0
  let cached = 0
  await Promise.all(
    Array.from({ length: conversations }, async (_, conversation) => {
      const messages: Array<{ readonly role: string; readonly content: string }> = [
        { role: "user", content: `Task ${name} ${conversation}: mend the parser.` }
      ]
      for (let turn = 0; turn < turns; turn++) {
        const { usage } = await project.chat({
          model: "sim/best",
          max_tokens: 20,
          messages: [{ role: "system", content: instructionsAt(calls++) }, ...messages]
        })
        cached += (usage as { readonly prompt_tokens_details: { readonly cached_tokens: number } })
          .prompt_tokens_details.cached_tokens
        messages.push(
          { role: "assistant", content: `Step ${turn} of task ${conversation}.` },
          { role: "user", content: `Result ${turn} of task ${conversation}: ${"ok ".repeat(40)}` }
        )
      }
    })
  )
  return cached
}

describe.each(databaseKinds)("the token doctor on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "on" })
  let owner: Person
  let project: AnalysedProject
  beforeAll(async () => {
    owner = await newPerson(node)
    project = await analysedProject(node, owner, await operatorOf(node))
  })

  it("names what breaks the beginning of prompts with an amount, and its next report shows that it was mended", async () => {
    // seconds in the instructions, which no two calls share
    const broken = await agent(project, "one", (call) => {
      const now = new Date(fixedMillis + 7_000 * call).toISOString()
      return `You are a coding agent. Current time: ${now}\n${rules}`
    })
    expect(broken).toBe(0)
    const first = await project.analyse()
    expect(first.status).toBe("succeeded")
    const report = reportOf(first)
    expect(report.scope).toMatchObject({ source: "captured", conversations, calls_covered: conversations * turns })
    const [cause] = report.causes
    expect(cause).toMatchObject({
      id: "prefix_volatile",
      tier: "rebilled",
      owner: "client",
      action_id: "prefix_volatile"
    })
    const { avoidable_microusd, spent_microusd } = report.headline.observed
    // four of five calls could have read nearly all of their prompt for a tenth
    expect(cause?.share_microusd).toBeGreaterThan(0.5 * spent_microusd)
    expect(report.causes.reduce((sum, { share_microusd }) => sum + share_microusd, 0)).toBe(avoidable_microusd)
    expect(report.headline.projected?.at_least_microusd).toBeGreaterThan(0)
    for (const { share } of report.scope.model_error) expect(share).toBeLessThan(0.02)
    const hint = report.actions.find(({ id }) => id === "prefix_volatile")
    expect(hint).toMatchObject({ kind: "client_hint", patch: { text: expect.stringContaining("instructions") } })

    const path = `/api/analyses/${first.id}/actions/prefix_volatile`
    expect(await project.ask("POST", `${path}/preview`)).toMatchObject({ kind: "client_hint", config_version: null })
    const applied = await project.ask<Detail>("POST", `${path}/apply`, {})
    expect(applied.actions_taken).toMatchObject([
      { action_id: "prefix_volatile", kind: "client_hint", undone_at: null }
    ])

    const start = first.range_end
    const read = await agent(project, "two", () => `You are a coding agent. Today is 2026-05-01.\n${rules}`)
    expect(read).toBeGreaterThan(conversations * (turns - 1) * 1_000)
    const second = reportOf(await project.analyse({ start }))
    expect(second.scope.conversations).toBe(conversations)
    expect(second.causes.map(({ id }) => id)).not.toContain("prefix_volatile")
    expect(second.headline.observed.spent_microusd).toBeLessThan(0.5 * spent_microusd)
    expect(second.headline.observed.avoidable_microusd).toBeLessThan(0.05 * avoidable_microusd)

    const undone = await project.ask<Detail>("POST", `${path}/undo`)
    expect(undone.actions_taken[0]?.undone_at).not.toBeNull()
  }, 120_000)

  it("says what is avoidable in a month of the calls that opt in, whatever the others cost", async () => {
    const other = await analysedProject(node, owner, await operatorOf(node))
    await agent(other, "three", (call) => `Call ${new Date(fixedMillis + 7_000 * call).toISOString()}\n${rules}`)
    const before = reportOf(await other.analyse())
    for (let call = 0; call < 3; call++) {
      const messages = [{ role: "user", content: `Write 8000 words, for the time number ${call}.` }]
      await other.chat({ model: "sim/best", max_tokens: 32_000, token_doctor: false, messages })
    }
    const after = reportOf(await other.analyse())
    const { opted_in, spent_microusd } = after.scope.traffic
    expect(spent_microusd).toBeGreaterThan(2 * before.scope.traffic.spent_microusd)
    const { avoidable_microusd } = after.headline.observed
    // everything that opts in was collected, and the range has 30 days
    expect(after.headline.projected?.monthly_microusd).toBeLessThanOrEqual(avoidable_microusd)
    expect(after.headline.projected?.at_least_microusd).toBeGreaterThan(0.5 * avoidable_microusd)
    expect(after.headline.projected?.monthly_microusd).toBe(before.headline.projected?.monthly_microusd)
    expect(opted_in).toEqual({ calls: before.scope.traffic.calls, spent_microusd: before.scope.traffic.spent_microusd })
  }, 120_000)
})
