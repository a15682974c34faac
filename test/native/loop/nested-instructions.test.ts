import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { longestNested, NestedInstructions } from '../../../src/native/loop/nested-instructions.ts'
import { groundOf } from './ground.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const binding = (folder: string) =>
  `You have just used a file in ${folder}, which has instructions of its own. Follow them for the files there: they override the instructions of the folders above, and the user’s own words override them all.`

test('instructions of the folders above a touched file, once for each version, the outermost first', (t) => {
  const { at, write, ground } = groundOf(t, {
    'repo/AGENTS.md': 'root',
    'repo/sub/AGENTS.md': 'the working folder',
    'repo/api/AGENTS.md': 'api\n@rules.md',
    'repo/api/rules.md': 'imported',
    'repo/api/v1/CLAUDE.md': 'v1',
    'repo/api/v1/a.ts': '',
    'repo/sub/b.ts': '',
  })
  const nested = new NestedInstructions(ground, 'own')
  nested.touch(at('repo/sub/b.ts'))
  nested.touch(at('repo/AGENTS.md'))
  nested.touch(at('repo/api/v1'))
  nested.touch(at('repo/api/v1/gone.ts'))
  assert.deepEqual(nested.take(), { guides: [], notes: [] }, 'the frame holds those of the working folder')
  nested.touch(at('repo/api/v1/a.ts'))
  const api = {
    type: 'guide' as const,
    name: 'instructions:api',
    text: `${binding('api')}\n<instructions path="${at('repo/api/rules.md')}">\nimported\n</instructions>\n<instructions path="${at('repo/api/AGENTS.md')}">\napi\n</instructions>`,
  }
  const v1 = (text: string) => ({
    type: 'guide' as const,
    name: 'instructions:api/v1',
    text: `${binding('api/v1')}\n<instructions path="${at('repo/api/v1/CLAUDE.md')}">\n${text}\n</instructions>`,
  })
  golden(t, nested.take(), { [ground.root]: '<ground>' })
  nested.touch(at('repo/api/v1/a.ts'))
  assert.deepEqual(nested.take(), { guides: [], notes: [] })
  write('repo/api/v1/CLAUDE.md', 'v2')
  nested.touch(at('repo/api/v1/a.ts'))
  assert.deepEqual(nested.take().guides, [v1('v2')])

  // A later process, or a turn after a summary, goes on from what the conversation keeps.
  const entry = { id: 'a', at: 0, session: 's', turn: 't', by: 'own' }
  const history = [
    { ...entry, ...v1('v2') },
    { ...entry, type: 'summary' as const, text: '', through: 'x', guides: [{ ...api, by: 'own' }] },
  ]
  const later = new NestedInstructions(ground, 'own', history)
  later.touch(at('repo/api/v1/a.ts'))
  assert.deepEqual(later.take(), { guides: [], notes: [] })
  const other = new NestedInstructions(ground, 'another', history)
  other.touch(at('repo/api/v1/a.ts'))
  assert.equal(other.take().guides.length, 2, 'another agent was given none of them')
})

test('no instructions from outside the project, of an untrusted folder, or from anything but a file', (t) => {
  const { at, ground } = groundOf(t, {
    'outside/AGENTS.md': 'stranger',
    'outside/a.ts': '',
    'repo/linked/a.ts': '',
    'repo/pipe/a.ts': '',
    'repo/api/AGENTS.md': 'api',
    'repo/api/a.ts': '',
  })
  symlinkSync(at('outside'), at('repo/out'))
  symlinkSync(at('outside/AGENTS.md'), at('repo/linked/AGENTS.md'))
  execFileSync('mkfifo', [at('repo/pipe/AGENTS.md')])
  const nested = new NestedInstructions(ground, 'own')
  for (const path of ['repo/out/a.ts', 'outside/a.ts', 'repo/linked/a.ts', 'repo/pipe/a.ts']) nested.touch(at(path))
  golden(t, nested.take(), { [at('.')]: '<folder>' })
  nested.touch(at('repo/pipe/a.ts'))
  assert.deepEqual(nested.take(), { guides: [], notes: [] }, 'said once')
  const untrusted = new NestedInstructions({ ...ground, trusted: false }, 'own')
  untrusted.touch(at('repo/api/a.ts'))
  golden(t, untrusted.take())
})

test('long instructions are cut, and named alone once all of them together are too long', (t) => {
  const files = Array.from({ length: 6 }, (_, at) => [`repo/p${at}/AGENTS.md`, 'x'.repeat(1024 * 1024)] as const)
  const { at, write, ground } = groundOf(t, Object.fromEntries(files))
  const nested = new NestedInstructions(ground, 'own')
  for (let p = 0; p < files.length; p++) {
    write(`repo/p${p}/a.ts`, '')
    nested.touch(at(`repo/p${p}/a.ts`))
  }
  const { guides, notes } = nested.take()
  const lengths = guides.map(({ text }) => text.length)
  assert.ok(lengths.slice(0, 3).every((one) => one > longestNested.folder && one < longestNested.folder + 1_000))
  assert.ok(lengths.reduce((all, one) => all + one) < longestNested.all + 1_000)
  golden(t, guides.at(-1)!.text)
  golden(t, notes)
})
