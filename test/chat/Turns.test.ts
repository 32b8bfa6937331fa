import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Turns } from "../../src/chat/Turns.ts"
import { ConversationId } from "../../src/domain/Ids.ts"
import { postgresServer } from "../ledger/databases.ts"
import { type AccountNode, operatorOf, type Person, sendTo } from "../support/AccountService.ts"
import { jsonOf, openService, Reader, startTalker, type Talker, talkOf } from "../support/Chat.ts"

/** A sequence that is the same in every run. */
const numbers = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const alphabet = ["a", "é", "漢", "👩‍🚀", "\n", "ß", "🇫🇷", " "]
const turns = 10
const attaches = 29
const piecesPerTurn = 40

describe.skipIf(postgresServer === undefined)("answers on two nodes", () => {
  let talker: Talker
  let service: Awaited<ReturnType<typeof openService>>
  let nodes: ReadonlyArray<AccountNode> = []
  let people: ReadonlyArray<Person> = []
  let project = ""
  let used = 0
  beforeAll(async () => {
    talker = await startTalker()
    service = await openService("PostgreSQL", talker)
    const first = await service.node()
    nodes = [first, await service.node()]
    const person = await operatorOf(first)
    const headers = { authorization: `Bearer ${person.token}` }
    people = nodes.map(({ url }) => ({ ...person, send: sendTo(url, headers) }))
    const me = await jsonOf<{ readonly default_project_id: string }>(person.send("GET", "/api/me"))
    project = me.default_project_id
  }, 120_000)
  afterAll(async () => {
    for (const node of nodes) await node.stop()
    await talker.stop()
    await service.close()
  })
  const at = <A>(list: ReadonlyArray<A>, index: number): A => {
    const found = list[index]
    if (found === undefined) throw new Error("there are two nodes")
    return found
  }

  it("are the same to whoever attaches at any moment, at either of them", async () => {
    const random = numbers(42)
    let attached = 0
    let [gaps, wrong, ended] = [0, 0, 0]
    const left = new Set<Reader>()
    for (let turn = 0; turn < turns; turn++) {
      const writer = talkOf(at(people, turn % 2))
      const { id } = await writer.create(project)
      const { assistant_message, cursor } = await writer.ask(id, `turn ${turn}`)
      const talk = await talker.talk(used++)
      const readers: Array<Reader> = []
      let whole = ""
      const readersNow = turn < attaches % turns ? Math.ceil(attaches / turns) : Math.floor(attaches / turns)
      const moments = Array.from({ length: readersNow }, () => Math.floor(random() * piecesPerTurn))
      for (let piece = 0; piece < piecesPerTurn; piece++) {
        const text = Array.from({ length: 1 + Math.floor(random() * 30) }, () =>
          at(alphabet, Math.floor(random() * alphabet.length))
        ).join("")
        whole += text
        talk.say(text)
        for (const _ of moments.filter((moment) => moment === piece)) {
          const index = random() < 0.5 ? 0 : 1
          const before = readers.at(-1)
          const resumes = before?.lastId !== undefined && random() < 0.5
          const from = resumes ? before.lastId : random() < 0.5 ? cursor : undefined
          if (resumes) {
            await before.leave()
            left.add(before)
          }
          const reader = new Reader(resumes ? before : undefined)
          readers.push(await reader.open(at(nodes, index).url, at(people, index), id, from))
          attached++
        }
      }
      talk.finish()
      for (const reader of readers) {
        await reader.done
        gaps += reader.gaps
      }
      await expect.poll(async () => (await writer.read(id)).running).toBe(false)
      const stored = (await writer.read(id)).messages[1]?.content
      expect(stored).toBe(whole)
      // whoever has left has a part of the text; all others have its end
      const stayed = readers.filter((reader) => !left.has(reader))
      ended += stayed.filter((reader) => reader.texts.get(assistant_message.id) === whole).length
      wrong += readers.filter((reader) => {
        const known = deltasOf(reader, assistant_message.id, whole)
        return left.has(reader) ? !whole.startsWith(known) : known !== whole
      }).length
    }
    expect({ attached, gaps, wrong }).toEqual({ attached: attaches, gaps: 0, wrong: 0 })
    expect(ended).toBe(attaches - left.size)
  }, 120_000)

  it("stop at the other node with exactly the text that was shown", async () => {
    const { id } = await talkOf(at(people, 0)).create(project)
    const { assistant_message } = await talkOf(at(people, 0)).ask(id, "count")
    const talk = await talker.talk(used++)
    const reader = await new Reader().open(at(nodes, 0).url, at(people, 0), id)
    talk.say("eins, zwei, drei 🌍")
    await reader.until(({ texts }) => texts.get(assistant_message.id) === "eins, zwei, drei 🌍")
    expect(await talkOf(at(people, 1)).stop(id)).toMatchObject({ running: false })
    await reader.done
    expect(reader.named("message")[0]?.data).toMatchObject({ status: "stopped", content: "eins, zwei, drei 🌍" })
    expect((await talkOf(at(people, 1)).read(id)).messages[1]).toMatchObject({
      status: "stopped",
      content: "eins, zwei, drei 🌍"
    })
  })

  it("end where another node has ended them, and leave the next one alone", async () => {
    const writer = talkOf(at(people, 0))
    const { id } = await writer.create(project)
    const stored = async () => (await writer.read(id)).messages.at(-1)?.content
    /** As the other node does where it has not heard of this one for a minute. */
    const endElsewhere = (message: string) =>
      at(nodes, 1).run(
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* sql`update chat_message set status = 'interrupted' where id = ${message}`
          yield* sql`update conversation set turn_id = null, node_id = null where id = ${id}`
        })
      )
    const first = await writer.ask(id, "one")
    const silent = await talker.talk(used++)
    silent.say("a")
    await expect.poll(stored).toBe("a")
    await endElsewhere(first.assistant_message.id)
    silent.say("b")
    // nobody reads what it would go on to pay for
    expect(await silent.received.closed).toBe("aborted")

    const second = await writer.ask(id, "two")
    const replaced = await talker.talk(used++)
    replaced.say("c")
    await expect.poll(stored).toBe("c")
    await endElsewhere(second.assistant_message.id)
    const third = await writer.ask(id, "three")
    expect(await replaced.received.closed).toBe("aborted")
    const last = await talker.talk(used++)
    last.say("d")
    await expect.poll(stored).toBe("d")
    const running = Effect.map(Turns, (turns) => turns.running(ConversationId.make(id))?.answer.id)
    expect(await at(nodes, 0).run(running)).toBe(third.assistant_message.id)
    last.finish()
    await expect.poll(async () => (await writer.read(id)).running).toBe(false)
    expect((await writer.read(id)).messages.at(-1)).toMatchObject({ status: "complete", content: "d" })
  })

  it("end with their conversation, in the transaction that deletes it", async () => {
    const writer = talkOf(at(people, 0))
    const { id } = await writer.create(project)
    await writer.ask(id, "count")
    const talk = await talker.talk(used++)
    talk.say("eins")
    await expect.poll(async () => (await writer.read(id)).messages.at(-1)?.content).toBe("eins")
    // as if the node that deletes it died with the commit
    await at(nodes, 0).run(
      Effect.flatMap(SqlClient, (sql) =>
        sql.unsafe(`create function die_after_deletion() returns trigger language plpgsql as $$
          begin
            if old.xmin <> pg_current_xact_id()::xid then raise exception 'the node that has deleted it is dead'; end if;
            return new;
          end $$;
          create trigger die_after_deletion before update on conversation for each row
            when (old.deleted_at is not null and new.stop_requested and not old.stop_requested)
            execute function die_after_deletion()`)
      )
    )
    await at(people, 1).send("DELETE", `/api/chat/conversations/${id}`)
    // nobody reads what it would go on to pay for
    await expect.poll(() => Promise.race([talk.received.closed, undefined])).toBe("aborted")
  })

  it("are interrupted when their node is dead, keep their text, and can be regenerated", async () => {
    const writer = talkOf(at(people, 0))
    const { id } = await writer.create(project)
    const node = "00000000-0000-7000-8000-00000000dead"
    const [question, answer] = ["00000000-0000-7000-8000-000000000a01", "00000000-0000-7000-8000-000000000a02"]
    /** Both nodes have been heard for so long, without a gap: after a minute they say of others that they are dead. */
    const heardFor = (interval: string) =>
      Effect.flatMap(SqlClient, (sql) => sql`update node set heard_since = now() - ${interval}::interval`)
    await at(nodes, 0).run(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* heardFor("0 minutes")
        yield* sql`insert into chat_message (id, conversation_id, position, role, status, content, created_at)
          values (${question}, ${id}, 0, 'user', 'complete', 'q', now()),
            (${answer}, ${id}, 1, 'assistant', 'streaming', 'half of it', now())`
        yield* sql`update conversation set turn_id = ${answer}, node_id = ${node} where id = ${id}`
      })
    )
    // until then it cannot be asked anything
    const { messages, running } = await writer.read(id)
    expect([running, messages[1]?.status]).toEqual([true, "streaming"])
    await at(nodes, 0).run(heardFor("2 minutes"))
    const reads: Array<unknown> = []
    await expect
      .poll(
        async () => {
          const { messages, running } = await writer.read(id)
          reads.push([running, messages[1]?.status])
          return messages[1]
        },
        { timeout: 15_000 }
      )
      .toMatchObject({ status: "interrupted", content: "half of it", cost: { amount_microusd: 0 } })
    expect(reads).not.toContainEqual([false, "streaming"])
    const retried = await at(people, 1).send("POST", `/api/chat/conversations/${id}/messages/${answer}/retry`, {
      model: "acme/large",
      artifacts: false
    })
    expect(retried.status).toBe(202)
    ;(await talker.talk(used++)).finish()
    await expect.poll(async () => (await writer.read(id)).running).toBe(false)
  })
})

/** What the deltas alone make of the answer, beginning with what the reader knew. */
const deltasOf = (reader: Reader, message: string, whole: string): string => {
  let text: string | undefined
  for (const { data, name } of reader.events) {
    if (name === "snapshot") {
      const messages = data["messages"] as ReadonlyArray<{ readonly id: string; readonly content: string }>
      text = messages.find(({ id }) => id === message)?.content ?? ""
    }
    if (name !== "delta") continue
    const { offset, text: more } = data as { readonly offset: number; readonly text: string }
    text ??= whole.slice(0, offset)
    text = text.slice(0, offset) + more
  }
  // a reader that began at the end, or has left at once, was sent no text
  return text ?? (reader.named("message").length > 0 ? whole : "")
}
