import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { quarantineEntries, takeAway } from '../../src/safety/wall/quarantine.ts'
import { goldenOf } from '../golden.ts'
import { Machine } from './program.ts'

const golden = goldenOf(import.meta.filename)

const notLinux = process.platform === 'linux' ? false : 'only Linux moves files to the quarantine'

test('what is in the quarantine is listed and put back by one command', { skip: notLinux }, async (t) => {
  const machine = new Machine(t)
  const root = realpathSync(machine.project)
  mkdirSync(join(root, '.github/hooks'), { recursive: true })
  const [hook, env] = [join(root, '.github/hooks/x.json'), join(root, '.env')]
  writeFileSync(hook, 'hook')
  writeFileSync(env, 'made by a command')
  const { taken } = takeAway(machine.home, root, [hook, env])
  assert.deepEqual([existsSync(hook), existsSync(env)], [false, false])
  writeFileSync(env, 'the person’s')
  const listed = JSON.parse((await machine.run(['quarantine', '--json'])).out) as { id: string; files: string[] }[]
  assert.deepEqual(
    listed.map(({ id, files }) => [id, files]),
    [[taken!.id, ['.github/hooks/x.json', '.env']]],
  )
  const back = await machine.run(['quarantine', 'restore', taken!.id])
  assert.deepEqual([back.code, readFileSync(hook, 'utf8'), readFileSync(env, 'utf8')], [0, 'hook', 'made by a command'])
  // The file that stood there is exchanged, and not lost.
  const left = JSON.parse((await machine.run(['quarantine', '--json'])).out) as { id: string; files: string[] }[]
  assert.deepEqual(
    left.map(({ files }) => files),
    [['.env']],
  )
  assert.equal((await machine.run(['quarantine', 'restore', left[0]!.id])).code, 0)
  assert.equal(readFileSync(env, 'utf8'), 'the person’s')
  const wrong = [await machine.run(['quarantine', 'restore']), await machine.run(['quarantine', 'restore', 'nothing'])]
  golden(
    t,
    [back, ...wrong].map(({ code, out, err }) => ({ code, out, err })),
    { [root]: '<root>' },
  )
})

test('forget erases what the quarantine has of a project, and nothing of others', { skip: notLinux }, async (t) => {
  const machine = new Machine(t)
  machine.agents({ echo: 'cat >/dev/null; echo hello' })
  await machine.run(['-p', 'hello'])
  const root = realpathSync(machine.project)
  const other = join(realpathSync(machine.folder), 'other')
  for (const project of [root, other]) {
    mkdirSync(join(project, '.husky'), { recursive: true })
    writeFileSync(join(project, '.husky/pre-commit'), '')
    chmodSync(join(project, '.husky'), 0o555)
    takeAway(machine.home, project, [join(project, '.husky')])
  }
  assert.equal((await machine.run(['forget', '--yes'])).code, 0)
  assert.deepEqual(
    quarantineEntries(machine.home).map((taken) => taken.root),
    [other],
  )
})
