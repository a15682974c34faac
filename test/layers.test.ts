import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'
import { folders, rooms } from './rooms.ts'

const root = join(import.meta.dirname, '..', 'src')

/** The most of all lines that one room may have, and the most files of one folder. */
const largest = { share: 0.12, files: 25 }

const texts = new Map(
  globSync('**/*.{ts,tsx}', { cwd: root })
    .sort()
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
)

/** The files that a file imports, statically, by `import()` and as types. */
function imported(file: string, text: string): string[] {
  const parsed = parseSync(file, text)
  assert.deepEqual(parsed.errors, [], file)
  const { staticImports, staticExports } = parsed.module
  const found = [...staticImports, ...staticExports.flatMap(({ entries }) => entries)].map(
    ({ moduleRequest }) => moduleRequest?.value,
  )
  const take = (source: { type: string; value?: unknown }) => found.push(String(source.value))
  // Only the whole tree has the places of `import()`, and reading it takes most of the time.
  if (text.includes('import('))
    new Visitor({ ImportExpression: ({ source }) => take(source), TSImportType: ({ source }) => take(source) }).visit(
      parsed.program,
    )
  const paths = found.filter((path) => path?.startsWith('.'))
  return [...new Set(paths)].map((path) => relative(root, join(root, dirname(file), path!)))
}

const imports = [...texts].flatMap(([from, text]) => imported(from, text).map((to) => ({ from, to })))

/** The names in a path, of which the first is the room's: a room can be a folder in a folder. */
function namesIn(path: string): string[] {
  const room = Object.keys(rooms).find((name) => name.includes('/') && path.startsWith(`${name}/`))
  return room ? [room, ...path.slice(room.length + 1).split('/')] : path.split('/')
}

/** An import as an arrow between two parts of the innermost folder that holds both files; the folder's own files are one part. */
function arrowOf({ from, to }: { from: string; to: string }) {
  const [one, other] = [namesIn(from), namesIn(to)]
  const depth = one.findIndex((name, at) => name !== other[at] || at === one.length - 1 || at === other.length - 1)
  const part = (path: string[]) => (path.length === depth + 1 ? '.' : path[depth]!)
  return { folder: one.slice(0, depth).join('/'), from: part(one), to: part(other) }
}

type Arrow = ReturnType<typeof arrowOf>

const arrows = [
  ...new Map(
    imports
      .map(arrowOf)
      .filter(({ from, to }) => from !== to)
      .map((arrow) => [nameOf(arrow), arrow]),
  ).values(),
]

function nameOf({ folder, from, to }: Arrow): string {
  return `${folder || 'src'}: ${from} → ${to}`
}

test('the order of every folder names its parts, and each of them once', () => {
  const parts = new Map<string, Set<string>>()
  for (const file of texts.keys()) {
    const path = namesIn(file)
    for (const at of path.keys()) {
      const folder = path.slice(0, at).join('/')
      parts.set(folder, (parts.get(folder) ?? new Set()).add(at === path.length - 1 ? '.' : path[at]!))
    }
  }
  const declared = { ...Object.fromEntries(Object.entries(folders).map(([name, order]) => [name, order.flat()])) }
  assert.deepEqual(
    Object.fromEntries(
      Object.entries({ '': Object.keys(rooms), ...declared }).map(([name, all]) => [name, all.sort()]),
    ),
    Object.fromEntries([...parts].filter(([, all]) => all.size > 1).map(([name, all]) => [name, [...all].sort()])),
  )
})

test('a room imports the rooms that it may, and a part of a folder those below it', () => {
  const allowed = ({ folder, from, to }: Arrow) => {
    if (!folder) return rooms[from]!.includes(to)
    const order = folders[folder]!
    const level = (part: string) => order.findIndex((parts) => [parts].flat().includes(part))
    return level(to) < level(from)
  }
  assert.deepEqual(arrows.filter((arrow) => !allowed(arrow)).map(nameOf), [])
})

test('no two parts of a folder import each other', () => {
  const names = new Set(arrows.map(nameOf))
  const back = ({ folder, from, to }: Arrow) => nameOf({ folder, from: to, to: from })
  const pairs = arrows.filter((arrow) => arrow.from < arrow.to && names.has(back(arrow)))
  assert.deepEqual(
    pairs.map(({ folder, from, to }) => `${folder || 'src'}: ${from} ↔ ${to}`),
    [],
  )
})

test('no part of a folder reaches itself over other parts', () => {
  const reaches = ({ folder, from, to }: Arrow) => {
    const seen = new Set([to])
    for (const part of seen)
      for (const arrow of arrows) if (arrow.folder === folder && arrow.from === part) seen.add(arrow.to)
    return seen.has(from)
  }
  const circling = arrows.filter(reaches).map(({ folder, from }) => `${folder || 'src'}: ${from}`)
  assert.deepEqual([...new Set(circling)], [])
})

test('no file reaches itself', () => {
  const graph = Map.groupBy(imports, ({ from }) => from)
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) return void circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file)) return
    for (const { to } of graph.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  assert.deepEqual(circles, [])
})

test('a room is a small part of the whole, and a folder is seen at a glance', () => {
  const linesOf = (text: string) => text.split('\n').length - 1
  const sum = (all: string[]) => all.reduce((lines, text) => lines + linesOf(text), 0)
  const whole = sum([...texts.values()])
  const byRoom = Map.groupBy(texts, ([file]) => namesIn(file)[0]!)
  assert.deepEqual(
    [...byRoom].filter(([, all]) => sum(all.map(([, text]) => text)) > largest.share * whole).map(([room]) => room),
    [],
  )
  const byFolder = Map.groupBy(texts.keys(), (file) => dirname(file))
  assert.deepEqual(
    [...byFolder].filter(([, all]) => all.length > largest.files).map(([folder]) => folder),
    [],
  )
})
