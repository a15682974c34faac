import type { Answer } from '../real/model-server.ts'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, inflateSync } from 'node:zlib'
import { modelServer } from '../real/model-server.ts'
import { Machine, type Ran } from './program.ts'

const options = { timeout: 120_000 }

/** Made up, each for the place it is planted in; none is of use anywhere. */
const secrets = {
  key: 'planted-key-41a7c09e',
  kept: 'put-away-99c1f2d4',
  login: 'opaque-login-7731bb',
  token: ['ghp', 'Q7w8E9r0T1y2U3i4O5p6A7s8D9f0G1h2J3k4'].join('_'),
  dotenv: 'correct horse 8 staple',
  server: 'server-env-2b6d8e01',
}

const env = { PLANTED: secrets.key, DEPLOY_TOKEN: secrets.token, TERMAITE_DEBUG: '1' }

const found = (text: string) =>
  Object.entries(secrets)
    .filter(([, value]) => text.includes(value))
    .map(([name]) => name)

/** Every file below our home that holds one; keys and settings are where the person put them. */
function leaks(home: string): string[] {
  const places = readdirSync(home, { recursive: true, withFileTypes: true })
  return places
    .filter((one) => one.isFile() && !/^(?:credentials|settings)\.json$/.test(one.name))
    .map((one) => join(one.parentPath, one.name))
    .flatMap((path) => found(bodyOf(path)).map((name) => `${name} in ${path.slice(home.length + 1)}`))
}

/** Reads a file, inflated where it is an object of a snapshot. */
function bodyOf(path: string): string {
  const body = readFileSync(path)
  try {
    return inflateSync(body).toString('latin1')
  } catch {
    return body.toString('latin1')
  }
}

const shownIn = (runs: readonly Ran[]) => runs.flatMap(({ out, err }) => [...found(out), ...found(err)])

async function listening(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  t.after(() => server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function machineWith(t: TestContext, model: string, baseURL: string, more: object = {}): Machine {
  const machine = new Machine(t)
  const agent = { name: 'native', kind: 'native', contextWindowTokens: 200_000, leash: 'all', model, baseURL, ...more }
  const says = 'echo "it says $OWN and $PLANTED" >&2; exit 1'
  const chatty = { command: 'sh', args: ['-c', says], env: { OWN: secrets.server, PLANTED: secrets.key } }
  machine.settings({ metaInstruction: false, agents: [agent], mcpServers: { chatty } })
  const kept = { openai: secrets.kept, 'mcp web': JSON.stringify({ tokens: { access_token: secrets.login } }) }
  writeFileSync(join(machine.home, 'credentials.json'), JSON.stringify(kept), { mode: 0o600 })
  return machine
}

test(
  'secrets that tools read stay in the work; our own keys are nowhere, and no secret is in an export, a log or a trace',
  options,
  async (t) => {
    const bash = (command: string): Answer => ({ call: { tool: 'bash', input: { command } } })
    const read = (path: string): Answer => ({ call: { tool: 'file_reader', input: { file_path: path } } })
    const edits = [{ old_string: 'two = 2', new_string: 'two = 3' }]
    const answers: Answer[] = [
      bash('cat .env; echo "$PLANTED $DEPLOY_TOKEN"; env'),
      bash(
        `echo "${secrets.kept.slice(0, 4)}${'"'}"${secrets.kept.slice(4)}" "${secrets.login.slice(0, 4)}""${secrets.login.slice(4)}"`,
      ),
      bash('echo "$PLANTED" >&2; for i in $(seq 4000); do echo "$i $DEPLOY_TOKEN"; done; exit 3'),
      read('notes.ts'),
      read('.env'),
      { call: { tool: 'grep_search', input: { pattern: 'one' } } },
      { call: { tool: 'file_editor', input: { file_path: 'notes.ts', edits } } },
      { call: { tool: 'more_tools', input: { name: 'mcp__chatty__x', input: {} } } },
      { call: { tool: 'subagent', input: { task: 'look' } } },
      read('.env'),
      { text: 'seen' },
      { text: 'done' },
    ]
    const server = await modelServer(({ count }) => answers[count - 1]!)
    t.after(() => server.close())
    const traces: string[] = []
    const collector = await listening(t, (request, response) => {
      const zipped = request.headers['content-encoding'] === 'gzip'
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks)
        traces.push((zipped ? gunzipSync(body) : body).toString('latin1'))
        response.end('{}')
      })
    })
    const machine = machineWith(t, 'groq/any', `${server.url}/v1`, { apiKeyEnv: 'PLANTED' })
    writeFileSync(join(machine.project, '.env'), `DATABASE_PASSWORD="${secrets.dotenv}"\n`)
    // The folder is git's own and no part of the project, so that no snapshot has to hold it.
    mkdirSync(join(machine.project, '.git', 'info'), { recursive: true })
    writeFileSync(join(machine.project, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(machine.project, '.git', 'info', 'exclude'), 'notes.ts\n')
    writeFileSync(join(machine.project, 'notes.ts'), `export const one = '${secrets.token}'\nexport const two = 2\n`)
    const traced = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    }
    const run = (...args: string[]) => machine.run(args, { env: { ...env, ...traced } })
    const runs = [await run('-p', 'look', '--debug', '--output-format', 'stream-json')]
    assert.equal(runs[0]!.code, 0, runs[0]!.err)
    assert.equal(server.turns().length, answers.length)
    assert.equal(machine.history().filter(({ type }) => type === 'result').length, 9)
    const [session] = JSON.parse((await run('sessions', 'list', '--json')).out)
    const export_ = (format: string) => run('sessions', 'export', session.id, '--format', format)
    runs.push(
      await export_('markdown'),
      await export_('jsonl'),
      await run('audit', 'export'),
      await run('config', 'print'),
    )
    const [work, ...exports] = runs
    assert.deepEqual([found(work!.out), found(work!.err)], [['token', 'dotenv'], []])
    assert.deepEqual(shownIn(exports), [])
    const told = server.turns().map(({ text }) => text)
    assert.deepEqual(
      found(told.join()),
      ['token', 'dotenv'],
      'a provider is told what its agent read, and no key of ours',
    )
    const kept = leaks(machine.home).map((leak) =>
      leak.replace(/ in projects\/[^/]+\/(history|output)\b.*/, ' in the $1'),
    )
    assert.deepEqual([...new Set(kept)].sort(), [
      'dotenv in termaite.db',
      'dotenv in the history',
      'token in termaite.db',
      'token in the history',
      'token in the output',
    ])
    assert.deepEqual([found(traces.join()), traces.join().includes('file_reader')], [[], true])
    assert.match(
      readFileSync(join(machine.project, 'notes.ts'), 'utf8'),
      /^export const one = 'ghp_\w+'\nexport const two = 3\n$/,
    )
  },
)

for (const [model, path, more] of [
  ['anthropic/any', '/v1', { apiKeyEnv: 'PLANTED' }],
  ['google/any', '/v1beta', { apiKeyEnv: 'PLANTED' }],
  ['groq/any', '/v1', { apiKeyEnv: 'PLANTED' }],
  ['openai/any', '/v1', {}],
] as const)
  test(`a provider's error that repeats the request leaks no key: ${model}`, options, async (t) => {
    const sent: string[] = []
    const url = await listening(t, async (request, response) => {
      const heard = `${JSON.stringify(request.headers)} ${request.url} ${secrets.token} ${await text(request)}`
      sent.push(heard)
      const message = `wrong key: ${heard}`
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
    })
    const machine = machineWith(t, model, url + path, more)
    const runs = [
      await machine.run(['-p', 'hello', '--debug'], { env }),
      await machine.run(['-p', 'hello', '--output-format', 'json'], { env }),
    ]
    assert.deepEqual(
      runs.map(({ code }) => code),
      [1, 1],
    )
    assert.ok(sent[0]!.includes('apiKeyEnv' in more ? secrets.key : secrets.kept), 'the key was sent')
    assert.deepEqual(shownIn(runs), [])
    assert.deepEqual(leaks(machine.home), [])
  })
