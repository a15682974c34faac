import type { FoundServer, ServerValue } from '../../src/core/profile/belongings.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { hookRunsProjectFile, runsProjectFile, serverEntry } from '../../src/people/belongings/server-entry.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const started = (command: string, args: string[] = [], cwd?: string): FoundServer => ({
  ...{ name: 's', command, args, env: {} },
  ...(cwd === undefined ? {} : { cwd }),
})

test('values that cannot be secrets are kept, and a variable takes the place of every other one', () => {
  const kept = {
    ...{ A: 'true', B: '8080', LOG: 'debug', ENV: 'production', DATA: '/home/me/notes.json', MORE: '~/x' },
    ...{ API: 'https://api.example/v1', EMPTY: '', LANG: 'en_US.UTF-8' },
  }
  const left = {
    ...{
      TOKEN: 'true',
      API_KEY: '8080',
      PASSWORD: 'debug',
      NAME: 'hunter2',
      NUMBER: '1234567',
      DSN: 'postgres://a:b@h/d',
    },
    ...{
      URL: 'https://api.example/v1?key=1',
      USER_URL: 'https://me:pw@api.example',
      HOOK: `https://x.example/${'a1'.repeat(20)}`,
    },
    ...{ PATHLIKE: `/x/ghp_${'a1B2'.repeat(9)}`, SESSION_FILE: '/x' },
  }
  const literal = (values: Record<string, string>): Record<string, ServerValue> =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, { literal: text }]))
  const made = serverEntry({ name: 's', command: 'x', args: [], env: literal({ ...kept, ...left }) })
  assert.ok(typeof made === 'object')
  assert.deepEqual(made.entry.env, {
    ...kept,
    ...Object.fromEntries(Object.keys(left).map((name) => [name, `\${${name}}`])),
  })
  assert.deepEqual(
    made.secrets.map(({ field }) => field),
    Object.keys(left),
  )
  assert.deepEqual(
    serverEntry({
      name: 'my-api',
      url: 'https://h.example',
      type: 'http',
      headers: { 'X-Api.Key': { literal: 'v' }, 'X-B': { reference: '${B:-secret-default}' } },
    }),
    {
      entry: { type: 'http', url: 'https://h.example', headers: { 'X-Api.Key': '${MY_API_X_API_KEY}', 'X-B': '${B}' } },
      secrets: [{ field: 'X-Api.Key', variable: 'MY_API_X_API_KEY' }],
    },
  )
})

test('a server with a secret in its words is not offered', (t) => {
  for (const server of [
    started('x', ['--api-key', 'hunter2']),
    started('x', [`--token=ghp_${'a1B2'.repeat(9)}`]),
    started('mysql', ['mysql://root:hunter2@db/x']),
    { name: 's', url: 'https://h.example/mcp?api_key=hunter2', type: 'http' as const, headers: {} },
    { name: 's', url: 'https://me:hunter2@h.example/mcp', type: 'http' as const, headers: {} },
  ])
    golden(t, String(serverEntry(server)))
  for (const server of [
    started('x', ['--api-key', '${KEY}']),
    started('x', ['--keyboard', '-v']),
    started('npx', ['-y', '@a/b@1.2.3', '/home/me/x']),
  ])
    assert.equal(typeof serverEntry(server), 'object', JSON.stringify(server))
})

test('a program of whichever project is open is told from a program of the machine', () => {
  const inProject = [
    started('./run'),
    started('bin/run'),
    started('node', ['server.js']),
    started('python', ['../x.py']),
    started('sh', ['-c', './go']),
  ]
  const onMachine = [
    ...[
      started('npx', ['-y', '@scope/server']),
      started('/opt/run'),
      started('~/run'),
      started('${HOME}/run'),
      started('uvx', ['mcp-x']),
    ],
    ...[
      started('node', ['/opt/s.js']),
      started('node', ['server.js'], '/opt'),
      started('docker', ['run', 'ghcr.io/a/b:1']),
    ],
  ]
  assert.deepEqual(
    [inProject.map(runsProjectFile), onMachine.map(runsProjectFile)],
    [inProject.map(() => true), onMachine.map(() => false)],
  )
  const hooks = ['./check.sh', '.claude/hooks/x.sh', 'bash ./x.sh', '"$CLAUDE_PROJECT_DIR"/x.sh', 'cd x && ../y']
  const others = ['~/.claude/hooks/x.sh', '/usr/bin/notify done', 'prettier --check src/a.ts', 'npm test', 'jq .x']
  assert.deepEqual(
    [hooks.map(hookRunsProjectFile), others.map(hookRunsProjectFile)],
    [hooks.map(() => true), others.map(() => false)],
  )
})
