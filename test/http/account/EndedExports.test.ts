import { randomBytes } from "node:crypto"
import { get, type IncomingMessage } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { Capture } from "../../../src/capture/Capture.ts"
import { AccountId, KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import { logCalls } from "../../account/calls.ts"
import { databaseKinds, newPerson, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"

/** Their export is larger than what sockets hold while nobody reads it. */
const calls = 20_000
const capturedCalls = 40
const capturedBytes = 200_000
/** Rights are checked every second; a busy machine may take longer. */
const untilCheckedMillis = 2_500

describe.each(databaseKinds)("an export on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "on" })
  let owner: Person
  let reader: Person
  let project: string
  beforeEach(async () => {
    owner = await newPerson(node)
    reader = await newPerson(node)
    project = (await jsonOf<{ readonly id: string }>(await owner.send("POST", "/api/me/projects", { name: "large" })))
      .id
    const added = await owner.send("POST", `/api/projects/${project}/members`, {
      user_id: reader.userId,
      role: "viewer"
    })
    expect(added.status).toBe(201)
  })

  const called = async () => {
    const key = await jsonOf<{ readonly id: string }>(
      await owner.send("POST", `/api/projects/${project}/keys`, { name: "large" })
    )
    const caller = {
      accountId: AccountId.make(owner.accountId),
      projectId: ProjectId.make(project),
      keyId: KeyId.make(key.id)
    }
    await node.run(logCalls(Array.from({ length: calls }, (_, agoSeconds) => ({ caller, agoSeconds }))))
  }
  /** On a connection of its own: of one that was read before, the system may take all of it while nobody reads. */
  const begun = (of: string) =>
    new Promise<IncomingMessage>((resolve, reject) =>
      get(
        `${node.url}/api/projects/${project}/${of}`,
        { agent: false, headers: { accept: "application/x-ndjson", authorization: `Bearer ${reader.token}` } },
        resolve
      ).on("error", reject)
    )
  /** The lines of what is read of it from now on; `false`: it was broken off. */
  const readOut = async (response: IncomingMessage) => {
    let lines = 0
    try {
      for await (const part of response) lines += (part as Buffer).toString("latin1").split("\n").length - 1
    } catch {
      return { lines, isWhole: false }
    }
    return { lines, isWhole: true }
  }

  it("is whole for who may read it, however slowly", async () => {
    await called()
    const response = await begun("requests")
    await sleep(untilCheckedMillis)
    expect(await readOut(response)).toEqual({ lines: calls, isWhole: true })
  })

  it.each([
    ["the session of its reader has ended", () => reader.send("DELETE", "/api/session")],
    [
      "its reader is no member any more",
      () => owner.send("DELETE", `/api/projects/${project}/members?user_id=${reader.userId}`)
    ]
  ])("is broken off when %s", async (_, end) => {
    await called()
    const response = await begun("requests")
    expect((await end()).status).toBe(204)
    await sleep(untilCheckedMillis)
    const read = await readOut(response)
    expect(read.isWhole).toBe(false)
    expect(read.lines).toBeLessThan(calls)
  })

  it("of captured calls is broken off, too", async () => {
    const operator = await operatorOf(node)
    await operator.send(
      "POST",
      `/api/admin/accounts/${owner.accountId}/credits`,
      { amount_microusd: 100_000_000, note: "for large calls" },
      { "idempotency-key": owner.accountId }
    )
    const members = `/api/projects/${project}/members`
    expect((await owner.send("DELETE", `${members}?user_id=${reader.userId}`)).status).toBe(204)
    expect((await owner.send("POST", members, { user_id: reader.userId, role: "member" })).status).toBe(201)
    const settings = { enabled: true, sampling_rate: 1, config_version: 0 }
    expect((await owner.send("PUT", `/api/projects/${project}/capture`, settings)).status).toBe(200)
    const { api_key } = await jsonOf<{ readonly api_key: string }>(
      await owner.send("POST", `/api/projects/${project}/keys`, { name: "captured" })
    )
    for (let at = 0; at < capturedCalls; at++) {
      const answer = await sendTo(node.url, { authorization: `Bearer ${api_key}` })("POST", "/v1/chat/completions", {
        model: "sim/fast",
        token_doctor: true,
        messages: [{ role: "user", content: randomBytes(capturedBytes / 2).toString("hex") }]
      })
      expect(answer.status).toBe(200)
      await answer.text()
    }
    await node.run(Effect.flatMap(Capture, (capture) => capture.flushed))
    const whole = await readOut(await begun("capture/export"))
    expect(whole).toEqual({ lines: capturedCalls + 1, isWhole: true })
    const response = await begun("capture/export")
    expect((await reader.send("DELETE", "/api/session")).status).toBe(204)
    await sleep(untilCheckedMillis)
    expect((await readOut(response)).isWhole).toBe(false)
  }, 60_000)
})
