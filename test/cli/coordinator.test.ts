import type { Answer, Asked } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fullOnly } from '../full.ts'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** Our own agent as the coordinator and as its workers: a worker's request holds its task. */
async function coordinating(
  t: TestContext,
  coordinator: (asked: Asked, request: number) => Answer,
  worker: (asked: Asked) => Answer | Promise<Answer>,
  settings: object = {},
) {
  let led = 0
  const server = await modelServer((asked) => {
    const isWorker = JSON.stringify(asked.body).includes('You are a worker:')
    return isWorker ? worker(asked) : coordinator(asked, ++led)
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  const agent = {
    name: 'native',
    kind: 'native',
    model: 'anthropic/claude-sonnet-4-5',
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }
  machine.settings({ metaInstruction: false, agents: [agent], ...settings })
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }
  return { server, machine, run: (...args: string[]) => machine.run(args, { env }) }
}

const wish = (name: string, role: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  prompt: `Task ${name}`,
  role,
  ...more,
})
const done = (more: object = {}): Answer => ({
  text: JSON.stringify({
    what_was_done: 'Did it.',
    evidence: ['a.txt:1'],
    unresolved_risks: [],
    exact_next_step: 'None.',
    status: 'completed',
    ...more,
  }),
})

test('a coordinator without a screen sends two workers, hears both, and answers once', options, async (t) => {
  const { machine, run, server } = await coordinating(
    t,
    (_, request) => {
      if (request === 1)
        return {
          call: {
            tool: 'spawn_workers_batch',
            input: { workers: [wish('one', 'explorer'), wish('two', 'implementer', { scope: ['two.txt'] })] },
          },
        }
      if (request === 2) return { call: { tool: 'await_workers', input: {} } }
      return { text: 'Both are done: worker_1 looked, worker_2 wrote two.txt.' }
    },
    ({ body }) => {
      const said = JSON.stringify(body)
      if (!said.includes('Task two')) return done()
      if (said.includes('tool_result')) return done({ changed_paths: ['two.txt'] })
      return {
        call: { tool: 'file_creator', input: { file_path: join(machine.project, 'two.txt'), content: 'two\n' } },
      }
    },
  )
  writeFileSync(join(machine.project, 'a.txt'), 'one\n')
  const { code, out, err } = await run('--mode', 'coordinator', '-p', 'do both', '--leash', 'edit')
  assert.deepEqual({ code, out }, { code: 0, out: 'Both are done: worker_1 looked, worker_2 wrote two.txt.\n' }, err)
  assert.equal(readFileSync(join(machine.project, 'two.txt'), 'utf8'), 'two\n')
  const led = server.turns().filter(({ body }) => !JSON.stringify(body).includes('You are a worker:'))
  // The digest is in the requests and in no kept conversation, and no worker's steps are in a request of the coordinator.
  assert.match(JSON.stringify(led[1]!.body), /The state of your workers now: 2 running/)
  assert.equal(JSON.stringify(machine.history()).includes('The state of your workers'), false)
  assert.equal(JSON.stringify(led.at(-1)!.body).includes('file_creator was'), false)
  const tools = (led[0]!.body.tools as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(
    ['spawn_worker', 'await_workers', 'todo_write', 'subagent'].map((name) => tools.includes(name)),
    [true, true, false, false],
  )
})

test('the conversation of the coordinator is kept apart from that of the other modes', options, async (t) => {
  const { run, server } = await coordinating(
    t,
    () => ({ text: 'Noted.' }),
    () => done(),
  )
  const ran: number[] = []
  for (const args of [
    ['-p', 'the word is apple'],
    ['--mode', 'coordinator', '-p', 'the word is pear'],
    ['--mode', 'coordinator', '-p', 'and now?'],
    ['-p', 'and now?'],
  ])
    ran.push((await run(...args)).code ?? -1)
  assert.deepEqual(ran, [0, 0, 0, 0])
  const words = server.turns().map(({ body }) => {
    const said = JSON.stringify(body.messages)
    return ['apple', 'pear'].filter((word) => said.includes(word))
  })
  assert.deepEqual(words, [['apple'], ['pear'], ['pear'], ['apple']])
})

test('a worker that writes outside of its scope is refused, and the handoff says so', options, async (t) => {
  const { machine, run, server } = await coordinating(
    t,
    (_, request) => {
      if (request === 1)
        return { call: { tool: 'spawn_worker', input: wish('two', 'implementer', { scope: ['src'] }) } }
      if (request === 2) return { call: { tool: 'await_workers', input: {} } }
      return { text: 'worker_1 could not do it.' }
    },
    ({ body }) =>
      JSON.stringify(body).includes('tool_result')
        ? done()
        : { call: { tool: 'file_creator', input: { file_path: join(machine.project, 'other.txt'), content: 'x' } } },
  )
  const { code } = await run('--mode', 'coordinator', '-p', 'do it', '--leash', 'edit')
  assert.equal(code, 0)
  assert.throws(() => readFileSync(join(machine.project, 'other.txt')))
  const told = server.turns().map(({ body }) => JSON.stringify(body.messages))
  const refused = told.find((text) => text.includes('You are a worker:') && text.includes('tool_result'))
  golden(t, refused!, { [machine.folder]: '<machine>' })
  golden(t, told.at(-1)!, { [machine.folder]: '<machine>' })
})

test(
  'the coordinator’s conversation is listed, found, summarised and undone like any other one',
  options,
  async (t) => {
    const { machine, run, server } = await coordinating(
      t,
      ({ body }, request) => {
        const said = JSON.stringify(body.messages)
        if (said.includes('Summarise the conversation below')) return { text: 'The user wanted both done.' }
        if (said.includes('what did worker_2 do?'))
          return said.includes('worker_2\\",\\"name') || said.includes('Handoff of worker_2')
            ? { text: 'worker_2 wrote the file.' }
            : { call: { tool: 'get_worker_result', input: { worker_id: 'worker_2' } } }
        if (request === 1)
          return {
            call: {
              tool: 'spawn_workers_batch',
              input: { workers: [wish('one', 'explorer'), wish('two', 'implementer', { scope: ['two.txt'] })] },
            },
          }
        return request === 2 ? { call: { tool: 'await_workers', input: {} } } : { text: 'worker_1, worker_2: quince.' }
      },
      ({ body }) => {
        const said = JSON.stringify(body)
        if (!said.includes('Task two')) return done({ what_was_done: 'Looked at the orchard.' })
        if (said.includes('tool_result')) return done({ what_was_done: 'Wrote the orchard.' })
        const file = join(machine.project, 'two.txt')
        return {
          text: 'transcript-of-two',
          call: { tool: 'file_creator', input: { file_path: file, content: 'two\n' } },
        }
      },
    )
    const lead = (prompt: string) => run('--mode', 'coordinator', '-p', prompt, '--leash', 'edit')
    assert.equal((await lead('do both')).out, 'worker_1, worker_2: quince.\n')
    assert.equal((await lead('and now?')).code, 0)
    // The list marks the conversation. Its words are found, and so are those that a worker showed.
    const listed = JSON.parse((await run('sessions', '--json')).out) as { id: string; mode?: string; turns: number }[]
    assert.deepEqual(
      listed.map(({ mode, turns }) => [mode, turns]),
      [['coordinator', 2]],
    )
    assert.match((await run('sessions')).out, /coordinator: do both/)
    assert.match((await run('sessions', 'search', 'quince')).out, /quince/)
    assert.match((await run('sessions', 'search', 'transcript-of-two')).out, /transcript-of-two/)
    golden(t, (await run('sessions', 'resume', listed[0]!.id)).out, { [machine.folder]: '<machine>' })
    assert.equal((await run('sessions', 'rename', listed[0]!.id, 'fruit')).code, 0)
    golden(t, (await run('--session', 'fruit', '-p', 'x')).err)
    // The steps of a worker are in its own requests alone.
    const others = server.turns().filter(({ body }) => !JSON.stringify(body).includes('You are a worker:'))
    assert.deepEqual(
      others.filter(({ body }) => JSON.stringify(body).includes('transcript-of-two')),
      [],
    )
    // After a summary the ledger of the workers is told, and each handoff can be read again.
    const compacted = await run('compact', '--mode', 'coordinator')
    assert.equal(compacted.code, 0, compacted.err)
    assert.deepEqual((await lead('what did worker_2 do?')).out, 'worker_2 wrote the file.\n')
    const [summarised, read] = server.turns().slice(-2)
    const told = (summarised!.body.messages as { content: unknown }[]).at(-1)!.content
    golden(t, String(told))
    assert.match(JSON.stringify(read!.body.messages), /Handoff of worker_2, .*Wrote the orchard/)
    // The changes of all workers of a turn are taken back as one turn.
    const file = join(machine.project, 'two.txt')
    assert.equal(readFileSync(file, 'utf8'), 'two\n')
    const undone = await run('undo', '--yes')
    assert.equal(undone.code, 0, undone.err)
    assert.throws(() => readFileSync(file))
    const words = 'The state of your workers|You have read these handoffs'
    assert.equal(spawnSync('grep', ['-rlaE', words, machine.home], { encoding: 'utf8' }).stdout, '')
  },
)

test('a question of a worker is a refusal in its handoff where nobody can be asked', options, async (t) => {
  const { machine, run, server } = await coordinating(
    t,
    (_, request) => {
      if (request === 1) return { call: { tool: 'spawn_worker', input: wish('two', 'implementer') } }
      return request === 2 ? { call: { tool: 'await_workers', input: {} } } : { text: 'worker_1 was not allowed to.' }
    },
    ({ body }) =>
      JSON.stringify(body).includes('tool_result')
        ? done()
        : { call: { tool: 'file_creator', input: { file_path: join(machine.project, 'two.txt'), content: 'x' } } },
  )
  assert.equal((await run('--mode', 'coordinator', '-p', 'do it', '--leash', 'ask')).code, 0)
  assert.throws(() => readFileSync(join(machine.project, 'two.txt')))
  const handoff = JSON.stringify(server.turns().at(-1)!.body.messages)
  golden(t, handoff, { [machine.folder]: '<machine>' })
  assert.match(handoff, /partial/)
})

test('a call beyond the budget is not made, and the words say what ran out and how to go on', options, async (t) => {
  const { run, server } = await coordinating(
    t,
    () => ({ text: 'never' }),
    () => done(),
    { coordinator: { tokens: 1000 } },
  )
  const { code, err } = await run('--mode', 'coordinator', '-p', 'do it', '--session', 'my work')
  assert.deepEqual([code, server.turns().length], [1, 0])
  assert.match(
    err,
    /^termaite: stopped before the work was done: the next call needs about \d+ tokens, but only 1000 of 1000 are left; raise coordinator\.tokens in the settings to continue\nWhat was done is kept\. To continue: termaite --mode coordinator --session 'my work' -p "go on"\n$/,
  )
})

test('an agent with an unknown price is no worker where a cost is to be held', options, async (t) => {
  const { machine, run, server } = await coordinating(
    t,
    (_, request) =>
      request === 1
        ? { call: { tool: 'spawn_worker', input: wish('two', 'explorer', { agent: 'other' }) } }
        : { text: 'I did it myself.' },
    () => done(),
  )
  const settings = join(machine.home, 'settings.json')
  const { agents, ...rest } = JSON.parse(readFileSync(settings, 'utf8')) as { agents: object[] }
  const other = { name: 'other', command: 'cat', contextWindowTokens: 1000 }
  machine.settings({ ...rest, agents: [...agents, other], coordinator: { cost: 5 } })
  const { code, err } = await run('--mode', 'coordinator', '-p', 'do it')
  assert.equal(code, 0, err)
  golden(t, JSON.stringify(server.turns().at(-1)!.body.messages))
})

test(
  'fifty workers of the built program are held, heard and accounted for',
  { ...options, skip: fullOnly },
  async (t) => {
    let [atOnce, most] = [0, 0]
    const names = Array.from({ length: 50 }, (_, n) => `w${n + 1}`)
    const { run } = await coordinating(
      t,
      (_, request) => {
        if (request === 1)
          return {
            call: { tool: 'spawn_workers_batch', input: { workers: names.map((name) => wish(name, 'explorer')) } },
          }
        return request === 2 ? { call: { tool: 'await_workers', input: {} } } : { text: 'All is well.' }
      },
      async () => {
        most = Math.max(most, ++atOnce)
        await new Promise((resolve) => setTimeout(resolve, 20))
        atOnce--
        return done()
      },
      { coordinator: { workers: 50 } },
    )
    const began = performance.now()
    const { code, out, err } = await run('--mode', 'coordinator', '-p', 'do all', '--leash', 'edit')
    t.diagnostic(`50 workers, ${most} requests at once, ${Math.round(performance.now() - began)} ms`)
    assert.equal(code, 0, err)
    assert.ok(most <= 10, `${most} workers asked at once, and crew.perWorkspace allows 10`)
    assert.deepEqual(
      out.split('\n').flatMap((line) => /^- (worker_\d+) \(explorer, \w+; .*\): completed\./.exec(line)?.[1] ?? []),
      names.map((_, n) => `worker_${n + 1}`),
    )
  },
)
