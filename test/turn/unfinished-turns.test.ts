import type { Entry } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ownerMark } from '../../src/base/process/owner.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { openProject } from '../../src/home/project.ts'
import { unfinishedIn } from '../../src/turn/unfinished-turns.ts'

test('a turn at work stays seen, however much others say after it', async () => {
  const project = openProject(memoryStore(), '/somewhere')
  const own = { at: 1, session: 's', by: 'user' }
  const prompt = (turn: string): Entry => ({ id: turn, ...own, turn, type: 'prompt', text: turn, owner: ownerMark() })
  const result: Entry = {
    id: 'r',
    ...own,
    turn: 'other',
    type: 'result',
    call: 'c',
    ok: true,
    text: 'x'.repeat(40_000),
  }
  const seen = async () => (await unfinishedIn(project, 2)).map(({ turn }) => turn)
  for (let i = 0; i < 20; i++) await project.log.append(result)
  await project.log.append(prompt('first'))
  assert.deepEqual(await seen(), ['first'])
  for (let i = 0; i < 80; i++) await project.log.append(result)
  await project.log.append(prompt('second'))
  assert.deepEqual(await seen(), ['first', 'second'])
  await project.log.append({ id: 'e', ...own, turn: 'first', type: 'end', outcome: { ok: true, text: '' } })
  assert.deepEqual(await seen(), ['second'])
})

test('a turn of another machine whose clock was ahead does not stay at work until that time has come', async () => {
  const project = openProject(memoryStore(), '/somewhere')
  const [now, day] = [Date.parse('2026-11-15T12:00:00Z'), 86_400_000]
  const prompt = (turn: string, at: number): Entry => {
    const own = { id: turn, at, session: 's', by: 'user', turn }
    return { ...own, type: 'prompt', text: turn, owner: 'another machine,boot,1,' }
  }
  await project.log.append(prompt('ahead', now + 30 * day))
  await project.log.append(prompt('fresh', now - 1_000))
  assert.deepEqual(
    (await unfinishedIn(project, now)).map(({ turn }) => turn),
    ['fresh'],
  )
})
