import type { Answer } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alive, labelled } from '../base/alive.ts'
import { firstLine } from '../../src/mind/think/prompt-text.ts'
import { modelServer } from '../real/model-server.ts'
import { Machine, nativeOn } from './program.ts'
import { noSandbox } from '../safety/no-sandbox.ts'

const options = { timeout: 60_000 }

const people = [{ email: 'a@b.c' }, {}, { email: 'd@e.f' }]
const load = "const people = JSON.parse(require('node:fs').readFileSync('people.json', 'utf8'))"

const coded = (code: string): Answer => ({
  text: `Well.\n\`\`\`json\n${JSON.stringify({ language: 'node', code, why: 'it counts' })}\n\`\`\``,
})

/** A project with some data, and an agent of ours whose model writes these scripts and answers by what it is told. */
async function counting(t: TestContext, ...codes: string[]) {
  const machine = new Machine(t)
  const server = await modelServer(({ body }) => {
    const { messages } = body as { messages: { content: unknown }[] }
    const prompt = JSON.stringify(messages.at(-1)!.content)
    if (prompt.includes('You write a throw-away script')) return coded(codes.shift()!)
    const [, result] = /<result>\\n(.*?)\\n<\/result>/.exec(prompt) ?? []
    return { text: prompt.includes('with its result') ? `The script says ${result}.` : 'Two, I think.' }
  })
  t.after(() => server.close())
  const agent = nativeOn(server)
  machine.settings({ metaInstruction: false, agents: [agent] })
  writeFileSync(join(machine.project, 'people.json'), JSON.stringify(people))
  const { label } = labelled()
  const run = (...flags: string[]) =>
    machine.run(['-p', 'how many emails are in people.json?', '--think', 'script', ...flags], {
      env: { ANTHROPIC_API_KEY: 'made-up-key', TEST_LABEL: label },
    })
  return { machine, run, left: () => alive(label) }
}

/** The kept course of the turn, as short texts. */
const story = (machine: Machine) =>
  machine.history().flatMap((entry): string[] => {
    if (entry.type === 'note' || entry.type === 'reply') return [`${entry.by}: ${entry.text}`]
    if (entry.type === 'call') return [`${entry.by} ${entry.tool}: ${(entry.input as { code: string }).code}`]
    if (entry.type === 'result') return [entry.text]
    return entry.type === 'verdict' ? [`${entry.by}, passed: ${entry.passed}, ${entry.calls} asked`] : []
  })

test(
  'script: the computed result is the answer, a failed script is mended, and no interpreter stays',
  options,
  async (t) => {
    const first = `${load}\npeople.map(({ email }) => email.length)`
    const second = `people.filter(({ email }) => email).length`
    const { machine, run, left } = await counting(t, first, second)
    const { code, out, err } = await run('--leash', 'all')
    assert.deepEqual({ code, out }, { code: 0, out: 'The script says 2.\n' }, err)
    assert.deepEqual(story(machine), [
      'termaite: thinking: script, you chose it',
      `termaite repl: ${first}`,
      "TypeError: Cannot read properties of undefined (reading 'length')\n    at script-1.js:2:33\n    at Array.map (<anonymous>)\n    at script-1.js:2:8",
      "termaite: the script failed (TypeError: Cannot read properties of undefined (reading 'length')); one fixes it",
      `termaite repl: ${second}`,
      '2',
      'one: The script says 2.',
      'one, passed: true, 2 asked',
    ])
    assert.deepEqual(await left(), [])
  },
)

test(
  'script: without a person to allow it, it writes nothing: the wall refuses, or it is not run',
  options,
  async (t) => {
    const write = "require('node:fs').writeFileSync('made', 'x')"
    const { machine, run } = await counting(t, write)
    const { code, out, err } = await run('--leash', 'edit')
    assert.deepEqual({ code, out }, { code: 0, out: 'Two, I think.\n' }, err)
    const none = `there is no sandbox (${noSandbox}), so termaite asks before each command`
    const refused = `repl was refused: ${none}; termaite cannot tell what this code does before it runs, and nobody was there to say yes`
    const unwalled = [
      `${refused}. Do not try it again in this turn.`,
      `termaite: the script was not allowed (${firstLine(refused)}); answering directly`,
      'one: Two, I think.',
      'one, passed: undefined, 1 asked',
    ]
    const walled = [
      "Error: EROFS: read-only file system, open 'made'\n    at script-1.js:1:20 {\n  errno: -30,\n  code: 'EROFS',\n  syscall: 'open',\n  path: 'made'\n}",
      "termaite: the script failed (Error: EROFS: read-only file system, open 'made'); one fixes it",
      'termaite: no script (it counts); answering directly',
      'one: Two, I think.',
      'one, passed: false, 2 asked',
    ]
    assert.deepEqual(story(machine), [
      'termaite: thinking: script, you chose it',
      `termaite repl: ${write}`,
      ...(noSandbox === false ? walled : unwalled),
    ])
    assert.equal(existsSync(join(machine.project, 'made')), false)
  },
)
