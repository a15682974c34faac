import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { closeNative } from '../../src/native/native-parts.ts'
import { frameworkTools } from '../../src/think/turn/framework-tools.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

async function used(turn: Turn, hands: ReturnType<typeof frameworkTools>, tool: string, input: unknown) {
  const events: Event[] = []
  const stream = hands.use(tool, input, turn)
  for (;;) {
    const next = await stream.next()
    if (next.done) return { events: events.filter(({ type }) => type !== 'progress'), result: next.value }
    events.push(next.value)
  }
}

const turnIn = (cwd: string): Turn => ({
  id: 't',
  prompt: '',
  history: [],
  attempts: [],
  steered: [],
  cwd,
  leash: 'all',
  signal: new AbortController().signal,
  clock: realClock,
  ask: nobody,
  budget: noBudget,
  steer: async () => [],
})

test('tools of frameworks run under the rules of our own agent, signed by termaite; an interpreter keeps its state until the run ends', async (t) => {
  const seat = await seated(t, { agents: [], sandbox: { enabled: false } })
  // Processes end in their own time.
  const app = { ...seat.app, native: { ...seat.app.native, clock: realClock } }
  const hands = frameworkTools(app)
  const turn = turnIn(app.place.cwd)
  const { events, result } = await used(turn, hands, 'bash', { command: 'echo hello' })
  assert.deepEqual(result, { ok: true, text: 'hello', data: { exit: 0 } })
  assert.deepEqual(
    events.map(({ type, by }) => [type, by]),
    [
      ['call', 'termaite'],
      ['result', 'termaite'],
    ],
  )
  await used(turn, hands, 'repl', { language: 'node', code: 'var known = 41' })
  const later = await used(turn, hands, 'repl', { language: 'node', code: 'known + 1' })
  assert.match(later.result.text, /^42/)
  const refused = await used({ ...turn, leash: 'read' }, hands, 'bash', { command: 'touch made.txt' })
  assert.equal(refused.result.ok, false)
  await closeNative(app.native)
  assert.equal(app.native.state.tools.toolboxes.size, 0)
})

test('a proposed command runs on the leash `all` only where every agent has that leash', async (t) => {
  const agent = (name: string, leash: string) => ({ name, command: 'cat', leash, contextWindowTokens: 1000 })
  const asked: (string | undefined)[] = []
  const ask: Turn['ask'] = async (question) => void asked.push(question.agent)
  const ran = async (other: string) => {
    const agents = [agent('one', 'all'), agent('two', other)]
    const { app } = await seated(t, { agents, sandbox: { enabled: false } })
    const hands = frameworkTools({ ...app, native: { ...app.native, clock: realClock } })
    const inTurn = (command: string) => used({ ...turnIn(app.place.cwd), ask }, hands, 'bash', { command })
    const results = [await inTurn('touch made.txt; ls'), await inTurn('rm -rf ./made.txt; echo gone')]
    await closeNative(app.native)
    return results.map(({ result }) => result.text)
  }
  assert.deepEqual(await ran('all'), ['made.txt', 'gone'])
  for (const text of await ran('read'))
    assert.match(
      text,
      /^bash was refused: .*, and nobody was there to say yes\. Do not try it again in this turn\. The rule bash\(.*\) among permissions\.allow in the user's settings, or with --allow, would allow it\.$/,
    )
  assert.deepEqual(asked, ['termaite', 'termaite'])
})

test(
  'behind a wall a proposal looks without a question, and the project’s own programs may write',
  { skip: noSandbox },
  async (t) => {
    const agents = [{ name: 'one', command: 'cat', leash: 'read', contextWindowTokens: 1000 }]
    const { app } = await seated(t, { agents })
    const at = (name: string) => join(app.place.cwd, name)
    writeFileSync(at('package.json'), JSON.stringify({ scripts: { test: 'node make.mjs' } }))
    writeFileSync(
      at('make.mjs'),
      "import { writeFileSync } from 'node:fs'\nwriteFileSync('built', 'x')\nconsole.log('built')\n",
    )
    writeFileSync(at('sly.sh'), 'echo x > sly; echo tried')
    const hands = frameworkTools({ ...app, native: { ...app.native, clock: realClock } })
    const asked: string[] = []
    const ask: Turn['ask'] = async (question) => void asked.push(question.text)
    const run = async (command: string, leash: Turn['leash']) =>
      (await used({ ...turnIn(app.place.cwd), ask, leash }, hands, 'bash', { command })).result.text
    assert.match(await run('npm test --silent', 'edit'), /^built$/)
    rmSync(at('built'))
    assert.match(await run('npm test --silent', 'ask'), /EROFS/)
    assert.match(await run('eval "$(cat sly.sh)"', 'edit'), /Read-only file system/)
    assert.deepEqual([existsSync(at('built')), existsSync(at('sly')), asked], [false, false, []])
    golden(t, await run('touch made.txt', 'edit'), { [at('.')]: '<folder>' })
    await closeNative(app.native)
  },
)

test('a check reads only files of the project: none outside, no secret, and none through a link', async (t) => {
  const { app } = await seated(t, { agents: [] })
  const at = (name: string) => join(app.place.cwd, name)
  writeFileSync(at('plain.txt'), 'words')
  writeFileSync(at('.env'), 'KEY=1')
  symlinkSync('/etc/passwd', at('link'))
  const { read } = frameworkTools(app)
  assert.deepEqual(await Promise.all(['plain.txt', 'none.txt', '.env', 'link', '../../etc/passwd', '.'].map(read)), [
    'words',
    ...Array.from({ length: 5 }, () => undefined),
  ])
})

test(
  'code about the machine is asked for, and then sees the machine; code behind the wall does not',
  { skip: noSandbox },
  async (t) => {
    const agents = [{ name: 'one', command: 'cat', leash: 'edit', contextWindowTokens: 1000 }]
    const { app } = await seated(t, { agents })
    const hands = frameworkTools({ ...app, native: { ...app.native, clock: realClock } })
    const asked: string[] = []
    const answer = (picks: string[] | undefined): Turn['ask'] => {
      return async (question) => (asked.push(question.text), picks)
    }
    const code = `require('node:fs').existsSync('/proc/${process.pid}/cmdline')`
    const sees = async (outside: boolean, picks?: string[]) => {
      const turn = { ...turnIn(app.place.cwd), leash: 'edit' as const, ask: answer(picks) }
      const input = outside ? { language: 'node', code, outside } : { language: 'node', code }
      return (await used(turn, hands, 'repl', input)).result.text
    }
    assert.equal(await hands.hidesMachine!({ ...turnIn(app.place.cwd), leash: 'edit' }), true)
    assert.equal(await sees(false), 'false')
    assert.deepEqual(asked, [])
    assert.equal(await sees(true, ['once']), 'true')
    golden(t, await sees(true))
    assert.deepEqual(asked.length, 2)
    golden(t, asked[0]!)
    await closeNative(app.native)
  },
)
