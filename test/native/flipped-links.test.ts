import type { TestContext } from 'node:test'
import type { CheckedPlace } from '../../src/core/work/tool.ts'
import type { RipgrepParts } from '../../src/native/tools/file-search.ts'
import type { ToolParts } from '../../src/native/tools/shared/tool-parts.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { locatePath } from '../../src/safety/path-location.ts'
import { sized } from '../full.ts'
import { seat } from './seat.ts'

/** A project in which another process replaces `src` and `plain.txt` by links that lead out, thousands of times. */
async function flipped(t: TestContext, parts: Partial<ToolParts & RipgrepParts> = {}) {
  // Before the seat's own: a folder in which links still flip cannot be removed.
  const over = new AbortController()
  t.after(async () => {
    over.abort()
    await gone
  })
  const tools = seat(t, parts)
  const { place, root, write } = tools
  const outside = join(place, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret.txt'), 'secret one\n')
  writeFileSync(join(outside, 'a.txt'), 'secret two\n')
  write('src/a.txt', 'inside one\n')
  write('plain.txt', 'inside two\n')
  const flipper = spawn(process.execPath, [join(import.meta.dirname, 'link-flipper.ts'), root, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise((resolve) => flipper.once('exit', resolve))
  over.signal.addEventListener('abort', () => flipper.kill('SIGKILL'))
  await once(flipper.stdout, 'data')
  /** Calls a tool as the policy lets it: only where the path led into the project when it was judged. */
  const judged = async (tool: string, path: string, input: object): Promise<string> => {
    const at = resolve(root, path)
    const { real, inside } = await locatePath(at, { root, home: place })
    const places: CheckedPlace[] = [{ path: at, real }]
    const given = 'input' in input || 'path' in input ? input : { file_path: path, ...input }
    return inside ? tools.say(tool, given, { places }) : 'outside'
  }
  const untouched = () => {
    const found = readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), 'utf8')])
    assert.deepEqual(Object.fromEntries(found), { 'secret.txt': 'secret one\n', 'a.txt': 'secret two\n' })
  }
  return { ...tools, judged, untouched, outside }
}

/** The least number of tries; there are as many as it takes to meet both the link and the file. */
const tries = sized(400, 20_000)

/** A search starts programs, so there are fewer. */
const searches = sized(60, 2_000)
const startsPrograms = (tool: string) => tool === 'glob' || tool === 'grep_search'

/** The words of a failure, without the path in them. */
const kindOf = (said: string, root: string) => said.replaceAll(`${root}/`, '').replaceAll(/\d+/g, 'N')

/** Everything that a tool may say while links flip: it did what it was asked, or it says what happened. */
const sayable = [
  /^Wrote src\/N\.txt \(N line\)\.$/,
  /^Made N edit in (?:src\/a|plain)\.txt\.$/,
  /^inside (?:one|two)$/,
  /^outside$/,
  /^! \S+ leads somewhere other than when it was checked: a folder or link on its way was replaced meanwhile$/,
  /^! \S+ (?:does not exist\.|exists already\.|changed since you read it\.|was not read yet\.)/,
  /^! the folder \S+ could not be created: /,
  /^! \S+ could not be (?:written|opened): ENOENT/,
  /^! (?:ENOENT|ENOTDIR): /,
  /^! old_string /,
]

for (const [tool, path, input] of [
  ['file_creator', (n: number) => `src/${n}.txt`, () => ({ content: 'written\n' })],
  ['file_reader', () => 'src/a.txt', () => ({})],
  ['file_reader', () => 'plain.txt', () => ({})],
] as const)
  test(`${tool} touches nothing outside of the project while ${path(0)} is replaced by a link`, async (t) => {
    const { judged, untouched, root } = await flipped(t)
    const said = new Set<string>()
    for (let n = 0; n < tries || said.size < 2; n++) {
      const words = await judged(tool, path(n), input())
      assert.ok(!words.includes('secret'), words)
      said.add(kindOf(words, root))
    }
    untouched()
    assert.deepEqual(
      [...said].filter((words) => !sayable.some((known) => known.test(words))),
      [],
    )
  })

/** Every search and listing of a folder. A path of a missing file is answered with names of its folder. */
const looking: [tool: string, path: string, input: object, Partial<RipgrepParts>?][] = [
  ['file_reader', 'src/secre.txt', {}],
  ['ls', 'src', {}],
  ['glob', 'src', { pattern: '**' }],
  ['glob', '.', { pattern: '*.txt' }],
  ['glob', '.', { pattern: '*.txt' }, { ripgrep: async () => undefined }],
  ['grep_search', 'src', { pattern: '[s]ecret|inside' }],
  ['grep_search', '.', { pattern: '[s]ecret|inside' }],
  ['grep_search', 'plain.txt', { pattern: '[s]ecret|inside' }],
  ['grep_search', '.', { pattern: '[s]ecret|inside' }, { ripgrep: async () => undefined }],
]

for (const [tool, path, input, parts] of looking)
  test(`${tool} in ${path}${parts ? ' without ripgrep' : ''} shows nothing from outside of the project while links flip`, async (t) => {
    const { judged, untouched } = await flipped(t, parts)
    const said = new Set<string>()
    for (let n = 0; n < (startsPrograms(tool) ? searches : tries) || said.size < 2; n++) {
      const words = await judged(tool, path, tool === 'file_reader' ? input : { path, ...input })
      assert.ok(!words.includes('secret'), words)
      said.add(words)
    }
    untouched()
  })

for (const path of ['src/a.txt', 'plain.txt'])
  test(`file_editor writes nothing outside of the project while ${path} is replaced by a link`, async (t) => {
    const { judged, untouched, root } = await flipped(t)
    const said = new Set<string>()
    for (let n = 0; n < tries || said.size < 2; n++) {
      const read = await judged('file_reader', path, {})
      assert.ok(!read.includes('secret'), read)
      const [old_string, new_string] = read.includes('inside') ? ['inside', 'within'] : ['within', 'inside']
      const words = await judged('file_editor', path, { edits: [{ old_string, new_string }] })
      said.add(kindOf(words, root))
    }
    untouched()
    assert.deepEqual(
      [...said].filter((words) => !sayable.some((known) => known.test(words))),
      [],
    )
  })

test('apply_patch adds, changes and deletes nothing outside of the project while links flip', async (t) => {
  const { judged, untouched, root } = await flipped(t)
  const patch = (...lines: string[]) => ({ input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })
  const said = new Set<string>()
  for (let n = 0; n < tries || said.size < 3; n++) {
    const path = `src/${n % 50}.txt`
    for (const lines of [
      [`*** Add File: ${path}`, '+one'],
      [`*** Update File: ${path}`, '@@', '-one', '+two'],
      [`*** Delete File: ${path}`],
    ])
      said.add(kindOf(await judged('apply_patch', path, patch(...lines)), root))
  }
  untouched()
  const known = [
    /^(?:Added src\/N\.txt \(N line\)|Changed src\/N\.txt|Deleted src\/N\.txt)\.$/,
    /\nNothing was written\.$| Nothing was written\.$/,
    /^outside$/,
  ]
  assert.deepEqual(
    [...said].filter((words) => !known.some((one) => one.test(words))),
    [],
  )
})
