import type { Answer, Asked, Script } from '../real/model-server.ts'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

/** Made up and put together here, so that no scanner takes them for real keys. */
const pem = (edge: string) => `-----${edge} PRIVATE KEY-----`
const secrets = {
  aws: `AKIA${'Q3EGRSTU5VWXYZ7A'}`,
  github: `ghp_${'Q7w8E9r0T1y2U3i4O5p6A7s8D9f0G1h2J3k4'}`,
  block: 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zaaB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0za',
  password: 'correct-horse-8',
}
const file = [
  `export const id = '${secrets.aws}'`,
  `export const token = '${secrets.github}'`,
  `export const pem = \`${pem('BEGIN')}`,
  secrets.block,
  `${pem('END')}\``,
  `export const password = '${secrets.password}'`,
  '',
].join('\n')

const found = (text: string) =>
  Object.entries(secrets)
    .filter(([, value]) => text.includes(value))
    .map(([name]) => name)
const all = Object.keys(secrets)

async function collector(t: TestContext): Promise<{ url: string; posts: string[] }> {
  const posts: string[] = []
  const server = createServer(async (request, response) => {
    posts.push(await text(request))
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return { posts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Our own agents of two vendors and a stranger's command, on a model that follows a script. */
async function worked(t: TestContext, script: Answer[] | Script, names = ['first', 'sibling', 'second', 'stranger']) {
  const server = await modelServer(
    typeof script === 'function' ? script : ({ count }) => script[count - 1] ?? { text: 'fine' },
  )
  t.after(() => server.close())
  const machine = new Machine(t)
  const own = { kind: 'native', baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }
  const agents = [
    { name: 'first', model: 'groq/any', ...own },
    { name: 'sibling', model: 'groq/other', ...own },
    { name: 'second', model: 'openai/any', ...own },
    { name: 'stranger', command: 'cat', contextWindowTokens: 200_000 },
  ]
  machine.settings({
    metaInstruction: false,
    leash: 'all',
    rotationStrategy: 'exhaustion',
    agents: agents.filter(({ name }) => names.includes(name)),
  })
  writeFileSync(join(machine.project, 'config.ts'), file)
  const { posts, url } = await collector(t)
  const env = {
    GROQ_API_KEY: 'made-up-groq-key',
    OPENAI_API_KEY: 'made-up-openai-key',
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  }
  const run = (...args: string[]) => machine.run(args, { env })
  return { machine, server, posts, run }
}

const read: Answer = { call: { tool: 'file_reader', input: { file_path: 'config.ts' } } }
const edit = (before: string, after: string): Answer => ({
  call: { tool: 'file_editor', input: { file_path: 'config.ts', edits: [{ old_string: before, new_string: after }] } },
})
const messages = ({ body }: Asked) => JSON.stringify(body.messages)

test(
  'a secret is shown where the work is, an edit of its line works, and it is masked wherever it leaves',
  options,
  async (t) => {
    const line = `export const token = '${secrets.github}'`
    const { machine, server, posts, run } = await worked(t, [
      read,
      edit(line, `export const githubToken = '${secrets.github}'`),
      { call: { tool: 'bash', input: { command: 'cat config.ts' } } },
      { text: `The password = ${secrets.password} and the token ${secrets.github} are in it.` },
    ])
    const first = await run('-p', 'rename the token', '-a', 'first', '--debug')
    assert.equal(first.code, 0, first.err)
    assert.equal(
      readFileSync(join(machine.project, 'config.ts'), 'utf8'),
      file.replace('const token', 'const githubToken'),
      'the line is edited, and no mask is written',
    )
    const asked = server.turns()
    assert.deepEqual(found(messages(asked[1]!)), all, 'file_reader shows everything to the agent that works')
    assert.deepEqual(found(messages(asked[3]!)), all)
    assert.equal(messages(asked[3]!).includes('[masked]'), false)

    await run('-p', 'go on', '-a', 'first')
    const [before, after] = [messages(asked[3]!), messages(server.turns()[4]!)]
    assert.equal(after.slice(0, before.length - 1), before.slice(0, -1), 'the next turn begins with the same bytes')
    assert.deepEqual(found(JSON.stringify(machine.history())), all, 'the history keeps what the model saw')
    assert.equal(statSync(machine.file('history.jsonl')).mode & 0o777, 0o600)

    await run('-p', 'and you', '-a', 'sibling')
    assert.deepEqual(found(messages(server.turns()[5]!)), all, 'another agent of the same vendor may have it')
    await run('-p', 'and you', '-a', 'second')
    const handed = server.turns()[6]!.text
    assert.deepEqual([found(handed), handed.includes('config.ts'), handed.includes('ghp_…[masked]')], [[], true, true])
    const stranger = await run('-p', 'and you', '-a', 'stranger')
    assert.deepEqual([found(stranger.out), stranger.out.includes('ghp_…[masked]')], [[], true])

    const [session] = JSON.parse((await run('sessions', 'list', '--json')).out)
    for (const format of ['markdown', 'json', 'jsonl']) {
      const { out } = await run('sessions', 'export', session.id, '--format', format)
      assert.deepEqual([found(out), out.includes('ghp_…[masked]')], [[], true], format)
    }
    const audit = await run('audit', 'export')
    assert.deepEqual([found(audit.out), audit.out.includes('ghp_…[masked]')], [[], true])
    assert.deepEqual([found(first.err), first.err.includes('[debug]')], [[], true])
    assert.deepEqual([found(posts.join()), posts.join().includes('config.ts')], [[], true])
  },
)

test(
  'a failed agent’s work, a summary and a request for advice are masked for the vendor that comes next',
  options,
  async (t) => {
    const echo: Answer = { call: { tool: 'bash', input: { command: `echo ${secrets.github}` } } }
    const script: Script = ({ count, wire }) =>
      wire !== 'chat' ? { text: 'I went on.' } : ([read, echo][count - 1] ?? { error: 'quota' })
    const { machine, server, run } = await worked(t, script, ['first', 'second'])
    const failed = await run('-p', `look, the password=${secrets.password} is given`, '-a', 'first')
    assert.equal(failed.code, 0, failed.err)
    assert.deepEqual(found(failed.err), [])
    const attempts = machine.history().filter(({ type }) => type === 'attempt')
    assert.deepEqual([attempts.length, found(JSON.stringify(attempts))], [1, []])
    const taken = server.turns().find(({ wire }) => wire !== 'chat')
    assert.deepEqual(found(taken!.text), ['password'], 'the person’s own words go to the agent that takes the turn')

    await run('-p', `use the id ${secrets.aws}`, '-a', 'second', '--think', 'reflect')
    const [acted, advised] = [false, true].map((so) =>
      server
        .turns()
        .slice(4)
        .filter(({ text }) => text.includes('Answer with one JSON object') === so)
        .map(({ text }) => text),
    )
    assert.deepEqual([acted!.length > 0, acted!.every((text) => text.includes(secrets.aws))], [true, true])
    assert.deepEqual([advised!.length > 0, advised!.some((text) => text.includes(secrets.aws))], [true, false])

    const summed = await run('compact')
    assert.equal(summed.code, 0, summed.err)
    const summary = server.turns().at(-1)!.text
    assert.deepEqual([found(summary), summary.includes('password=…[masked]')], [[], true])
  },
)

test('termaite’s own keys are shown to no model, and their mark is never written', options, async (t) => {
  const { machine, server, run } = await worked(t, [
    { call: { tool: 'file_reader', input: { file_path: 'keys.ts' } } },
    {
      call: {
        tool: 'file_editor',
        input: {
          file_path: 'keys.ts',
          edits: [{ old_string: 'two = 2', new_string: "two = '[masked key of groq]'" }],
        },
      },
    },
    { call: { tool: 'bash', input: { command: 'env' } } },
    { text: 'done' },
  ])
  const body = "export const one = 'made-up-groq-key'\nexport const two = 2\n"
  writeFileSync(join(machine.project, 'keys.ts'), body)
  const { err } = await run('-p', 'look', '-a', 'first')
  assert.equal(server.turns().length, 4, err)
  const told = server
    .turns()
    .map(({ text }) => text)
    .join()
  assert.deepEqual([told.includes('made-up-groq-key'), told.includes('made-up-openai-key')], [false, false])
  assert.equal(readFileSync(join(machine.project, 'keys.ts'), 'utf8'), body)
  assert.deepEqual(
    machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.ok] : [])),
    [true, false, true],
  )
})

test('a file that is a key is not read without a yes, by any tool, and the refusal says so', options, async (t) => {
  const calls: Answer[] = [
    { call: { tool: 'file_reader', input: { file_path: '.env' } } },
    { call: { tool: 'file_reader', input: { file_path: 'notes.txt' } } },
    { call: { tool: 'grep_search', input: { pattern: 'horse', path: '.env' } } },
    { call: { tool: 'grep_search', input: { pattern: 'horse' } } },
    { call: { tool: 'bash', input: { command: 'cat .env' } } },
    { call: { tool: 'bash', input: { command: 'cat < .en*' } } },
  ]
  const script: Script = ({ count }) => calls[(count - 1) % (calls.length + 1)] ?? { text: 'done' }
  const { machine, server, run } = await worked(t, script, ['first'])
  rmSync(join(machine.project, 'config.ts'))
  writeFileSync(join(machine.project, '.env'), `DATABASE_PASSWORD=${secrets.password}\n`)
  symlinkSync('.env', join(machine.project, 'notes.txt'))
  for (const leash of ['read', 'ask', 'edit']) {
    const from = server.turns().length
    const { code, err } = await run('-p', 'read @.env', '-a', 'first', '--leash', leash, '--new')
    assert.deepEqual([code, server.turns().length - from], [77, calls.length + 1], err)
    golden(t, err.split('\n')[0])
  }
  assert.deepEqual(
    found(
      server
        .turns()
        .map(({ text }) => text)
        .join(),
    ),
    [],
  )
  const results = machine.history().flatMap((entry) => (entry.type === 'result' ? [entry] : []))
  // A command that cannot be judged runs behind the wall, where there is one, and the file is empty there.
  const judged = results.filter((_, at) => at % calls.length < 5)
  assert.deepEqual(
    judged.map(({ ok }) => ok),
    ['read', 'ask', 'edit'].flatMap(() => [false, false, false, true, false]),
  )
  golden(t, [results[0]!.text, results[calls.length]!.text], { [machine.folder]: '<machine>' })
})

test('in the chat, a file with keys is attached after a yes alone', { ...options, ...inTerminal }, async (t) => {
  const { machine } = await worked(t, [], ['stranger'])
  writeFileSync(join(machine.project, '.env'), `DATABASE_PASSWORD=${secrets.password}\n`)
  await typed(
    machine,
    [],
    [
      [/Type a request, or \/help\.[^]*Allow that in [^]*> /, '1\r'],
      [/> $/, 'first @.env\r'],
      [/\.env may hold keys\.[^]*2 No, leave it out[^]*> /, '2\r'],
      [/was not attached[^]*Done by stranger/, 'second @.env\r'],
      [/\.env may hold keys\.[^]*1 Yes, attach it to this prompt[^]*> /, '1\r'],
      [/Done by stranger/, '/exit\r'],
    ],
    { TERM: 'dumb' },
  )
  const prompts = machine.history().flatMap((entry) => (entry.type === 'prompt' ? [entry.text] : []))
  assert.deepEqual(
    prompts.map((prompt) => found(prompt)),
    [[], ['password']],
  )
})
