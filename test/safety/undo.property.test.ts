import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from '../cases.ts'
import { Project, turn } from './project.ts'
import { sized } from '../full.ts'

type Act =
  | { do: 'write'; path: string; body: string }
  | { do: 'link'; path: string; to: string }
  | { do: 'delete'; path: string }
  | { do: 'chmod'; path: string }
  | { do: 'folder'; path: string }
  | { do: 'rename'; path: string; to: string }

const name = fc.constantFrom('a', 'b', 'c', 'ü', '-x', ' s', 'n\nl')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const body = fc.oneof(fc.constantFrom('', 'same', 'a\r\nb\n'), fc.string({ unit: 'binary', maxLength: 40 }))
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), path, body }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('link' as const), path, to: path }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'chmod' as const, 'folder' as const), path }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rename' as const), path, to: path }) },
)

/** Does an act that a shell might do; where it is impossible, nothing happens. */
function perform(root: string, act: Act): void {
  const at = join(root, act.path)
  try {
    if (act.do === 'delete') return rmSync(at, { recursive: true })
    if (act.do === 'chmod') return lstatSync(at).isFile() ? chmodSync(at, lstatSync(at).mode ^ 0o111) : undefined
    if (act.do === 'folder') return void mkdirSync(at, { recursive: true })
    if (act.do === 'rename') {
      mkdirSync(dirname(join(root, act.to)), { recursive: true })
      return renameSync(at, join(root, act.to))
    }
    // No act leaves the project through a link that another made.
    for (let folder = dirname(at); folder !== root; folder = dirname(folder))
      if (existsSync(folder) && lstatSync(folder).isSymbolicLink()) return
    mkdirSync(dirname(at), { recursive: true })
    if (act.do === 'link') return symlinkSync(act.to, at)
    if (!existsSync(at) || lstatSync(at).isFile()) writeFileSync(at, act.body)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

test('property: an undo restores the files from before any turn, and its undo restores those after it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { maxLength: 12 }),
      fc.array(act, { minLength: 1, maxLength: 12 }),
      async (first, second) => {
        using project = new Project()
        const store = project.snapshots()
        for (const one of first) perform(project.root, one)
        const before = project.tree()
        await turn(project, store, 't', () => {
          for (const one of second) perform(project.root, one)
        })
        const after = project.tree()
        const plan = await store.planUndo('t')
        assert.deepEqual([plan.conflicts, plan.left], [[], []])
        const undone = await store.undo(plan)
        assert.deepEqual(undone, { turn: undone.turn, left: [] })
        assert.deepEqual(project.tree(), before)
        await store.undo(await store.planUndo(undone.turn))
        assert.deepEqual(project.tree(), after)
      },
    ),
    { numRuns: sized(8, 20) },
  )
})
