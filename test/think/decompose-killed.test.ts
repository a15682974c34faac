import { test } from 'node:test'
import { all } from '../all-items.ts'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { keptIn } from '../walks/world.ts'
import { tempFolder } from '../store/temp.ts'
import { projectIn, writes } from './decompose-child.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a process that is killed in the middle of a tree leaves it to the next one, which goes on from there', async (t) => {
  const folder = tempFolder(t)
  const script = join(import.meta.dirname, 'decompose-child.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: folder },
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')

  const prompts: string[] = []
  const { conversation, agent, kept, log, asked } = projectIn(folder, [
    (turn) => {
      prompts.push(turn.prompt)
      return (writes(folder, 'b', 'whole') as (now: typeof turn) => never)(turn)
    },
    writes(folder, 'c', 'whole'),
    [{ say: 'All three are written.' }],
  ])
  const left = await kept.read()
  assert.deepEqual(
    left.map(({ tasks }) => tasks.map(({ id, state }) => `${id} ${state}`)),
    [['a done', 'b running', 'c waiting']],
  )
  assert.notEqual(left[0]!.holder, undefined, 'it is held by a process that is gone')
  await conversation.settle()
  const world = { cwd: folder, leash: 'edit' as const, signal: new AbortController().signal }
  await all(conversation.converse(agent, 'write them all', world))

  golden(t, prompts[0]!)
  assert.deepEqual([await kept.read(), asked()], [[], []])
  const said = (await keptIn(log)).flatMap((fact) => {
    if (fact.type === 'prompt' || fact.type === 'note' || fact.type === 'reply') return [`${fact.by}: ${fact.text}`]
    return fact.type === 'end' ? [fact.outcome.ok ? 'ok' : fact.outcome.failure.message] : []
  })
  golden(t, said)
})
