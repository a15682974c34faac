import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

/** The notes in a text that say what happened to the files. */
const newsIn = (text: string) =>
  [...text.matchAll(/<note>\n([^]*?)\n<\/note>/g)].flatMap(([, lines]) => lines!.split('\n'))

test(
  'agents get to know of an undo, its undo, edits by the person and other conversations, once each',
  options,
  async (t) => {
    const machine = new Machine(t)
    writeFileSync(join(machine.project, 'a.txt'), 'one\n')
    const seen = join(machine.folder, 'seen')
    const agent = (work: string) =>
      machine.agents({ mine: `cat > ${seen}; ${work}; echo done` }, { metaInstruction: false, leash: 'edit' })
    const say = async (prompt: string, ...more: string[]) => {
      const { code, err } = await machine.call(['-p', prompt, ...more])
      assert.equal(code, 0, err)
      return newsIn(readFileSync(seen, 'utf8'))
    }
    const undo = async (...turn: string[]) => {
      const { code, out, err } = await machine.call(['undo', ...turn, '--yes', '--json'])
      assert.equal(code, 0, err)
      return (JSON.parse(out) as { turn: string }).turn
    }
    agent('echo two >> a.txt; echo b > b.txt')
    assert.deepEqual(await say('change it'), [])
    agent('true')
    assert.deepEqual(await say('again'), [])
    const undone = await undo()
    const first = await say('undone')
    await undo(undone)
    appendFileSync(join(machine.project, 'a.txt'), 'by hand\n')
    const second = await say('redone')
    agent('echo c > c.txt')
    const session = machine.history().at(-1)!.session
    assert.deepEqual(await say('elsewhere', '--new'), [])
    agent('true')
    const third = await say('here', '--session', session)
    agent('echo d > d.txt')
    await say('elsewhere', '--new')
    await undo()
    agent('true')
    assert.deepEqual(await say('here', '--session', session), third)
    golden(t, { first, second, third })
  },
)

test('our own agent gets to know of them too, and each of its requests is a prefix of the next', options, async (t) => {
  const machine = new Machine(t)
  writeFileSync(join(machine.project, 'a.txt'), 'one\n')
  const server = await modelServer(({ count }) =>
    count === 1
      ? { call: { tool: 'file_creator', input: { file_path: 'made.txt', content: 'x\n' } } }
      : { text: 'Done.' },
  )
  t.after(() => server.close())
  const model = { model: 'groq/any', baseURL: `${server.url}/v1`, contextWindowTokens: 100_000 }
  machine.settings({ metaInstruction: false, thinking: 'off', agents: [{ name: 'native', kind: 'native', ...model }] })
  const say = async (prompt: string) => {
    const { code, err } = await machine.run(['-p', prompt, '--leash', 'edit'], { env: { GROQ_API_KEY: 'made-up' } })
    assert.equal(code, 0, err)
    return (server.turns().at(-1)!.body.messages as { content: unknown }[]).map((message) => JSON.stringify(message))
  }
  const made = await say('make it')
  assert.equal((await machine.call(['undo', '--yes'])).code, 0)
  appendFileSync(join(machine.project, 'a.txt'), 'by hand\n')
  const told = await say('and now')
  const later = await say('and then')
  assert.deepEqual(told.slice(0, made.length), made)
  assert.deepEqual(later.slice(0, told.length), told)
  const texts = later.map((message) => (JSON.parse(message) as { content: unknown }).content)
  golden(
    t,
    texts.flatMap((content) => newsIn(typeof content === 'string' ? content : JSON.stringify(content))),
  )
})
