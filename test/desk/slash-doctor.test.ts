import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { goldenOf } from '../golden.ts'
import { plain, seated } from '../app/seat.ts'
import { until } from '../until.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { folderOf, seat as screen, sitDown } from './desk.ts'
import { doctorCommand } from '../../src/desk/slash/doctor.ts'

const golden = goldenOf(import.meta.filename)

const agents = plain({ good: 'cat >/dev/null; echo OK', gone: '/nowhere/agent', wrong: 'cat >/dev/null; exit 3' })

test('/doctor says what the command line says: problems first, on one screen; --verbose and a name say everything', async (t) => {
  const seat = await seated(t, agents, {}, realClock)
  const shown: string[] = []
  seat.world.progress = (words) => void shown.push(words)
  // Each machine has its own folder of programs, and may have no sandbox.
  const typed = async (line: string) =>
    (await seat.type(line)).map(([how, text]) => [
      how,
      text
        .replace(/^! sandbox.*\n(?: {4}.*\n)+/m, '')
        .replace(/^✓ Sandbox.*\n/m, '')
        .replace(/\n+Sandbox on this machine:[^]*(?=\n```)/, '')
        .replaceAll(/\S+\/cat$/gm, '<bin>/cat'),
    ])
  golden(t, await typed('/doctor'))
  assert.deepEqual(shown.length, 4)
  golden(t, [shown[0], shown.at(-1)])
  golden(t, (await typed('/doctor good'))[1])
  golden(t, [await typed('/doctor good gone'), await typed('/doctor nobody')])
  assert.deepEqual(await seat.complete('doctor', 'g'), ['good', 'gone'])
})

test('/doctor shows how far it is, and Esc cancels it and the agent that it asks', async (t) => {
  const folder = folderOf(t)
  const file = join(folder, 'pid')
  const {
    desk,
    heard,
    until: told,
  } = await sitDown(
    t,
    folder,
    { slow: `cat >/dev/null; echo $$ > ${file}; sleep 600` },
    { commands: (controls) => [doctorCommand(controls, () => [])] },
  )
  desk.setScreen({ ...screen() })
  desk.submit('/doctor')
  await told((all) => all.some(({ type }) => type === 'progress'))
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))
  const pid = Number(readFileSync(file, 'utf8'))
  assert.equal(desk.cancel(), true)
  await told((all) => all.some((one) => one.type === 'progress' && one.words === undefined))
  await until(() => !existsSync(`/proc/${pid}`))
  assert.deepEqual(
    heard.filter((one) => one.type === 'said' && one.how === 'text'),
    [],
  )
})
