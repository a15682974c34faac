import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { strayVariables, variables } from '../src/core/variables.ts'
import { hubProtocol } from '../src/hub/model/hub-protocol.ts'
import { homeTable } from '../src/home/home-table.ts'
import { referenceFolder } from '../scripts/references/page.ts'
import { operationEntries } from '../src/hub/model/operations/operations.ts'
import { references } from '../scripts/references.ts'
import type { ServerPath } from '../src/hub/http/access/server-paths.ts'
import { serverPaths } from '../src/hub/http/access/server-paths.ts'
import { goldenOf } from './golden.ts'

const golden = goldenOf(import.meta.filename)

const root = join(import.meta.dirname, '..')
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

test('the references and the manual page are what the code says; node scripts/references.ts writes them', () => {
  for (const [path, text] of Object.entries(references))
    assert.equal(text(), textOf(path), `${path} differs from the code; run: node scripts/references.ts`)
  assert.deepEqual(
    readdirSync(join(root, referenceFolder)).sort(),
    Object.keys(references)
      .filter((path) => path.startsWith(`${referenceFolder}/`))
      .map((path) => path.slice(referenceFolder.length + 1))
      .sort(),
  )
})

test('the manual page has no fault that groff knows', { skip: !has('groff') }, () => {
  const { stderr, status } = spawnSync('groff', ['-man', '-ww', '-Tutf8', 'man/termaite.1'], { cwd: root })
  assert.deepEqual([status, String(stderr)], [0, ''])
})

function has(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined
}

test('the description of the hub’s API holds together', () => {
  type Operation = {
    operationId: string
    tags: string[]
    parameters?: { name: string; in: string }[]
    responses: Record<string, { $ref?: string; description?: string }>
  }
  const api = JSON.parse(textOf(`${referenceFolder}/hub-openapi.json`)) as {
    openapi: string
    info: { title: string; version: string }
    tags: { name: string }[]
    paths: Record<string, Record<string, Operation>>
  }
  assert.equal(api.openapi, '3.1.0')
  assert.equal(api.info.version, String(hubProtocol))
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
  const sockets = Object.values(serverPaths).filter(({ answer }) => answer === 'socket').length
  assert.equal(operations.length, operationEntries.length + Object.keys(serverPaths).length - sockets)
  const ids = operations.map(({ operationId }) => operationId)
  assert.deepEqual([...new Set(ids)], ids)
  const tags = api.tags.map(({ name }) => name)
  const keyed: string[] = []
  for (const { path, method, tags: own, parameters = [], responses } of operations) {
    const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => `{${name}}`)
    assert.deepEqual(path.match(/\{\w+\}/g) ?? [], inPath, path)
    assert.equal(new Set(parameters.map(({ name }) => name)).size, parameters.length, path)
    assert.ok(own.every((tag) => tags.includes(tag)))
    assert.ok(responses['200']?.description, path)
    const takesKey = parameters.some((each) => each.in === 'header' && each.name === 'Idempotency-Key')
    if (takesKey) keyed.push(`${method} ${path}`)
  }
  // Every other POST leads to the same state again, or needs no key of the hub.
  const changes = operations.filter(({ method }) => method === 'post').map(({ path }) => `post ${path}`)
  assert.deepEqual(
    changes.filter((change) => !keyed.includes(change)),
    [
      'post /api/agents',
      'post /api/agents/{id}/wait',
      'post /api/agents/{id}/status',
      'post /api/agents/{id}/spent',
      'post /api/agents/{id}/ask',
      'post /api/agents/{id}/withdraw',
      'post /api/tasks/{id}/ack',
      'post /api/tasks/{id}/texts',
      'post /api/attachments',
      'post /api/sign-in',
      'post /api/join',
      'post /mcp',
    ],
  )
  for (const [, pointer = ''] of JSON.stringify(api).matchAll(/"\$ref":"#\/([^"]+)"/g))
    assert.ok(
      pointer.split('/').reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], api),
      pointer,
    )
})

test('the addresses of the server name every parameter of a query that it reads itself, and no other', () => {
  const files = globSync('src/hub/http/{routes/*,event-streams}.ts', { cwd: root })
  const read = files.flatMap((file) =>
    [...textOf(file).matchAll(/(?:query|searchParams)\.(?:get|has)\('(\w+)'\)/g)].map(([, name]) => name!),
  )
  const served: readonly ServerPath[] = Object.values(serverPaths)
  const named = served.flatMap(({ query = {} }) => Object.keys(query))
  assert.deepEqual([...new Set(named)].sort(), [...new Set(read)].sort())
})

test('the table of variables has every one that the code reads, and no other', () => {
  const source = globSync(['src/**/*.{ts,cjs}', 'bin/*.cjs'], { cwd: root, exclude: ['src/page/browser/**'] })
    .filter((file) => file !== 'src/core/variables.ts')
    .map((file) => textOf(file).replaceAll(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, ''))
    .join('\n')
  const read = new Set(
    [
      ...[...source.matchAll(/\benv\??\.([A-Z][A-Z\d_]+)\b/g)].map(([, name]) => name!),
      ...[
        ...source.matchAll(
          /\{ ([A-Z][A-Z\d_]+(?:: \w+)?(?:, [A-Z][A-Z\d_]+(?:: \w+)?)*) \}(?: = env|: (?:Env|Readonly))/g,
        ),
      ]
        .flatMap(([, names]) => names!.split(', '))
        .map((name) => name.split(':')[0]!),
      ...[...source.matchAll(/'(TERMAITE_[A-Z_]+)'|\b(TERMAITE_[A-Z_]+):/g)].map(([, text, key]) => text ?? key!),
    ].filter((name) => !['TERMAITE_VERSION'].includes(name)),
  )
  const known = variables.flatMap(({ rows }) => rows.map(({ name }) => name))
  assert.deepEqual([...new Set(known)], known)
  assert.deepEqual([...read].filter((name) => !known.includes(name)).sort(), [])
  const written = (name: string) => new RegExp(`\\b${name}\\b`).test(source)
  assert.deepEqual(
    known.filter((name) => !written(name)),
    [],
  )
})

test('a variable that is nearly one of ours is named, with the one that was meant', (t) => {
  golden(t, strayVariables({ TERMAITE_LEESH: 'all', TERMAITE_HOME: '/h', HOME: '/h', TERMAITE_XYZZY: '1' }))
})

test('each row of a file in the home knows its own name', () => {
  const plain = homeTable.filter(({ path }) => !/[<*]/.test(path))
  assert.deepEqual(
    plain.filter(({ path, name }) => !name.test(path.replace(/\/$/, ''))),
    [],
  )
})
