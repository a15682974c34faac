import type { Answer } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alive, labelled } from '../base/alive.ts'
import { modelServer } from '../real/model-server.ts'
import { Machine, nativeOn } from './program.ts'
import { forbiddenSandbox, noSandbox } from '../safety/no-sandbox.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

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
  const run = (leash: string, more: Record<string, string> = {}) =>
    machine.run(['-p', 'how many emails are in people.json?', '--think', 'script', '--leash', leash], {
      env: { ANTHROPIC_API_KEY: 'made-up-key', TEST_LABEL: label, ...more },
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
    const { code, out, err } = await run('all')
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

const writing = "require('node:fs').writeFileSync('made', 'x')"

test(
  'script: without a person to allow it, it writes nothing, because the wall refuses',
  { ...options, skip: noSandbox },
  async (t) => {
    const { machine, run } = await counting(t, writing)
    const { code, out, err } = await run('edit')
    assert.deepEqual({ code, out }, { code: 0, out: 'Two, I think.\n' }, err)
    golden(t, story(machine))
    assert.equal(existsSync(join(machine.project, 'made')), false)
  },
)

test(
  'script: without a sandbox and a person to allow it, it is not run',
  { ...options, skip: process.platform !== 'linux' },
  async (t) => {
    const { machine, run } = await counting(t, writing)
    const { code, out, err } = await run('edit', forbiddenSandbox(machine.folder))
    assert.deepEqual({ code, out }, { code: 0, out: 'Two, I think.\n' }, err)
    golden(t, story(machine))
    assert.equal(existsSync(join(machine.project, 'made')), false)
  },
)
