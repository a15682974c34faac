import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '..', 'src')
const wings = [
  'store',
  'safety',
  'terminals',
  'profiles',
  'models',
  'tools',
  'agents',
  'mind',
  'machine',
  'crew',
  'hub',
  'traces',
  'worktrees',
  'mcp-config',
  'languages',
]

/** The folders of src that each folder may import, beside itself. */
const allowed: Record<string, string[]> = {
  base: [],
  core: ['base'],
  ...Object.fromEntries(wings.map((wing) => [wing, ['core', 'base']])),
  settings: ['base', 'core', ...wings],
  faces: ['base', 'core', 'crew', 'hub'],
  app: ['base', 'core', ...wings, 'settings', 'faces'],
  desk: ['base', 'core', ...wings, 'settings', 'faces', 'app'],
  cli: ['base', 'core', ...wings, 'settings', 'faces', 'app', 'desk'],
  'main.ts': ['base', 'core', 'cli'],
}

type Import = { from: string; to: string }

function imports(): Import[] {
  return globSync('**/*.{ts,tsx}', { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const found = [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.[^']*)'/g)].map((match) => match[1]!)
    return found.map((path) => ({ from: file, to: relative(root, join(root, dirname(file), path)) }))
  })
}

const room = (path: string) => path.split('/')[0]!

test('a folder imports only the layers below it', () => {
  const files = globSync('**/*.{ts,tsx}', { cwd: root })
  assert.ok(files.length > 20, 'the wall looks at real files')
  assert.deepEqual(
    [...new Set(files.map(room))].filter((folder) => !(folder in allowed)),
    [],
  )
  const crossings = imports().filter(
    ({ from, to }) => room(from) !== room(to) && !allowed[room(from)]!.includes(room(to)),
  )
  assert.deepEqual(crossings, [])
})

/** The rooms of core, each with the ones that it may import. */
const coreRooms: Record<string, string[]> = { screen: [], talk: ['screen'], work: ['screen', 'talk'] }

test('the rooms of core import in one direction', () => {
  const inner = (path: string) => path.split('/')[1]!
  const crossings = imports()
    .filter(({ from, to }) => room(from) === 'core' && room(to) === 'core')
    .filter(({ from, to }) => inner(from) in coreRooms && inner(from) !== inner(to))
    .filter(({ from, to }) => !coreRooms[inner(from)]!.includes(inner(to)))
  assert.deepEqual(crossings, [])
})

test('no import goes in a circle, types included', () => {
  const graph = new Map<string, string[]>()
  for (const { from, to } of imports()) graph.set(from, [...(graph.get(from) ?? []), to])
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) return void circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  assert.deepEqual(circles, [])
})
