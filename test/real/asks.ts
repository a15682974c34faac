import type { FileChange } from '../../src/core/talk/entry.ts'
import type { Question, Shown } from '../../src/core/talk/question.ts'
import type { Script, Trouble } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

type Call = { tool: string; input: unknown }

/** The facts of one CLI in the tests of all that can ask. */
export type Ways = {
  /** A call that needs a yes under the leash `ask`. */
  run(command: string): Call
  /** Calls that put `ho` where a.txt has `hi`, under a yes. */
  edit: Call[]
  /** The parts that the question about the call shows. */
  shows: Shown[]
  changes: FileChange[]
  denial: string
  /** How its provider says that a quota is spent. */
  spent: { trouble: Trouble; kind: 'quota' }
}

const said = { text: 'That is all.' }
const calls =
  (...all: Call[]): Script =>
  ({ count }) =>
    count <= all.length ? { call: all[count - 1]! } : said

/** A person who gives these answers, and what that person was asked. */
function person(...answers: (string[] | undefined)[]) {
  const asked: Question[] = []
  const ask = async (question: Question) => {
    asked.push(question)
    return answers.shift()
  }
  return { asked, ask }
}

const made = (it: Awaited<ReturnType<typeof talk>>, file = 'made.txt') => existsSync(join(it.place().cwd, file))
const commandsIn = ({ shows = [] }: Question) => shows.flatMap((one) => (one.type === 'command' ? [one.command] : []))
const finished = { ok: true, text: 'That is all.' }

/** The contract of every real CLI that asks before it acts. */
export function realAsks(cli: string, ways: Ways) {
  const skip = skipped(cli)
  const touch = ways.run('touch made.txt')

  test(`${cli} asks before it runs a command, and a yes is for that one`, { skip }, async () => {
    const { asked, ask } = person(['once'], ['no'])
    await using it = await talk(cli, calls(touch, ways.run('touch other.txt')), { ask })
    const outcome = outcomeOf(await it.say('Make made.txt.', 'ask'))
    assert.deepEqual(asked.flatMap(commandsIn), ['touch made.txt', 'touch other.txt'])
    assert.deepEqual(
      { outcome, made: [made(it), made(it, 'other.txt')] },
      { outcome: { ...finished, denials: [ways.denial] }, made: [true, false] },
    )
  })

  test(`${cli} is told why not, in the person's words`, { skip }, async () => {
    const { ask } = person(['Put it into the other folder.'])
    await using it = await talk(cli, calls(touch), { ask })
    await it.say('Make made.txt.', 'ask')
    const told = it.server.turns().at(-1)!.text
    assert.deepEqual([made(it), told.includes('Put it into the other folder.')], [false, true])
  })

  test(`${cli} does not ask again for what was granted, for as long as it was granted`, { skip }, async () => {
    for (const [pick, next] of [
      ['turn', ['touch made.txt']],
      ['always', []],
    ] as const) {
      const { asked, ask } = person([pick])
      const script: Script = ({ count }) =>
        ({ 1: { call: touch }, 2: { call: touch }, 4: { call: touch } })[count] ?? said
      await using it = await talk(cli, script, { ask })
      await it.say('Make made.txt.', 'ask')
      assert.ok(asked[0]?.options.find(({ id }) => id === pick)?.grants, `${pick} says what it covers`)
      assert.deepEqual([pick, asked.length, made(it)], [pick, 1, true])
      await it.say('Make it once more.', 'ask')
      assert.deepEqual([pick, asked.slice(1).flatMap(commandsIn)], [pick, next])
    }
  })

  test(`${cli} shows the difference before it edits, and its changes after`, { skip }, async () => {
    const { asked, ask } = person(['once'])
    await using it = await talk(cli, calls(...ways.edit), { ask })
    const { cwd } = it.place()
    writeFileSync(join(cwd, 'a.txt'), 'hi\nthere\n')
    const events = await it.say('Change a.txt.', 'ask')
    assert.deepEqual(
      asked.map(({ shows }) => shows),
      [ways.shows],
    )
    const results = events.filter((event) => event.type === 'result' && event.data !== undefined)
    assert.deepEqual(
      [results.map((event) => event.type === 'result' && event.data), readFileSync(join(cwd, 'a.txt'), 'utf8')],
      [[ways.changes], 'ho\nthere\n'],
    )
  })

  test(`${cli} edits in the project without asking when its leash says so`, { skip }, async () => {
    const { asked, ask } = person()
    await using it = await talk(cli, calls(...ways.edit), { ask })
    writeFileSync(join(it.place().cwd, 'a.txt'), 'hi\nthere\n')
    const outcome = outcomeOf(await it.say('Change a.txt.', 'edit'))
    assert.deepEqual([outcome, asked], [finished, []])
    assert.equal(readFileSync(join(it.place().cwd, 'a.txt'), 'utf8'), 'ho\nthere\n')
  })

  test(`${cli} is cancelled at a question, leaves no process, and goes on with its thread`, { skip }, async () => {
    const stop = new AbortController()
    const ask = async () => {
      stop.abort()
      return undefined
    }
    const script: Script = ({ count }) => (count === 2 ? { call: touch } : { text: `Answer ${count}.` })
    await using it = await talk(cli, script, { ask })
    assert.deepEqual(outcomeOf(await it.say('The first question.', 'ask')), { ok: true, text: 'Answer 1.' })
    assert.deepEqual(outcomeOf(await it.say('Make made.txt.', 'ask', stop.signal)), {
      ok: false,
      failure: { kind: 'aborted', message: `${cli} was cancelled` },
    })
    assert.deepEqual([await it.left(), made(it)], [[], false])
    assert.deepEqual(outcomeOf(await it.say('The third question.', 'ask')), { ok: true, text: 'Answer 3.' })
    const last = it.server.turns().at(-1)!.text
    assert.deepEqual(
      ['The first question.', 'Answer 1.', 'The third question.'].map((text) => last.split(text).length - 1),
      [1, 1, 1],
    )
  })

  test(`${cli} is steered: between two steps, and by what comes with its last words`, { skip }, async () => {
    const { steer, type, handed } = typist()
    const ask = async () => {
      await type('Make it blue.')
      return ['once']
    }
    const script: Script = async ({ count }) => {
      if (count === 1) return { call: touch }
      // The model answers only once the person has typed again: too late for this step.
      if (count === 2) await type('And round.')
      return { text: `Answer ${count}.` }
    }
    await using it = await talk(cli, script, { ask, steer })
    const events = await it.say('Make made.txt.', 'ask')
    const told = it.server.turns().map(({ text }) => ['Make it blue.', 'And round.'].map((part) => text.includes(part)))
    assert.deepEqual(told, [
      [false, false],
      [true, false],
      [true, true],
    ])
    const steered = events.filter((event) => event.type === 'steer').map((event) => 'text' in event && event.text)
    const outcome = outcomeOf(events)
    // Codex drops a request that was not answered yet when somebody types: then there is no second answer.
    const last = outcome?.ok && outcome.text.replace(/^Answer 2\.\n\n/, '')
    assert.deepEqual([steered, handed(), last], [['Make it blue.', 'And round.'], 2, 'Answer 3.'])
  })

  test(`${cli} out of quota in the midst of a turn says so`, { skip }, async () => {
    const { ask } = person(['once'])
    const script: Script = ({ count }) => (count === 1 ? { call: touch } : { error: ways.spent.trouble })
    await using it = await talk(cli, script, { ask })
    const outcome = outcomeOf(await it.say('Make made.txt.', 'ask'))
    assert.deepEqual([outcome?.ok === false && outcome.failure.kind, made(it)], [ways.spent.kind, true])
  })
}

/** A person who types while a turn runs; `type` resolves once the text is on its way to the CLI. */
function typist() {
  const texts: string[] = []
  const onWay: (() => void)[] = []
  let wake = () => {}
  let handed = 0
  const steer = async (over?: AbortSignal): Promise<string[]> => {
    // An agent that asks for the next text has written the one before.
    for (const done of onWay.splice(0)) done()
    while (texts.length === 0 && over && !over.aborted)
      await new Promise<void>((resolve) => {
        wake = resolve
        over.addEventListener('abort', () => resolve(), { once: true })
      })
    const given = texts.splice(0)
    handed += given.length
    return given
  }
  const type = (text: string) =>
    new Promise<void>((resolve) => {
      texts.push(text)
      onWay.push(resolve)
      wake()
    })
  return { steer, type, handed: () => handed }
}
