import { test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { plain, seated } from '../app/seat.ts'
import { packageFolder } from '../cli/program.ts'
import { until } from '../until.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { openCrews } from '../../src/crew/machine/crews.ts'
import { goldenOf } from '../golden.ts'
import { spawnWish } from '../../src/desk/slash/crew/crew-spawn.ts'

const golden = goldenOf(import.meta.filename)

test('/crew spawn reads the agent, the flags of the command line, and all that follows as the task', (t) => {
  const typed = [
    'claude',
    'claude audit  the code\n- and the --tests',
    'claude --leash read --model=opus audit it',
    '--leash edit claude --worktree fix it',
    'claude --worktree-name fix --depends-on 1,2 -- --help is missing',
    '',
  ]
  golden(
    t,
    typed.map((line) => [line, spawnWish(line)]),
  )
  for (const wrong of ['claude --lesh read', 'claude --leash loose', 'claude --model'])
    assert.throws(
      () => spawnWish(wrong),
      (error: Error) => (golden(t, error.message), true),
    )
})

test('/crew spawn asks for the agent if none is named, and says why one cannot be started', async (t) => {
  const screen = { kind: 'screen', command: 'cat', idle_pattern: '^>', contextWindowTokens: 1000 }
  const seat = await seated(t, { agents: [{ ...screen, name: 'quick' }] })
  golden(t, [await seat.type('/crew spawn'), seat.asked, await seat.type('/crew')])
  golden(t, [await seat.type('/crew spawn qick do it'), await seat.type('/crew spawn quick --depends-on one do it')])
  const without = await seated(t, plain({ amber: 'cat' }))
  golden(t, [await without.type('/crew spawn amber x'), await without.type('/crew spawn')])
  assert.deepEqual(await seat.complete('crew', 'spawn q'), ['spawn quick'])
})

test(
  '/crew spawn starts an agent on the leash that was typed, and shows it among the crew',
  { timeout: 60_000 },
  async (t) => {
    // The keeper is started from the installed package, as everywhere.
    process.argv[1] = join(packageFolder, '..', '.bin', 'termaite')
    const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
    const command = (folder: string) =>
      [process.execPath, fake, join(folder, 'gate'), 'scroll', 'say:two%20faults'].join(' ')
    const settings = (folder: string) => ({
      terminals: { host: 'pty' },
      leash: 'edit',
      agents: { quick: { command: command(folder), idle_pattern: '^> ?$', response_fence: true } },
    })
    const seat = await seated(t, settings(''), {}, realClock)
    seat.configure(settings(seat.folder))
    await seat.open()
    const { io, place } = seat.app
    const crews = openCrews(io, place, seat.app.settings, { carries: false })
    const { crew } = crews.of()
    const told = (await seat.type('/crew spawn quick --leash ask look for faults')).map(([how, text]) => [
      how,
      // The keeper may be faster than the list.
      text.replace(/\b(?:starting|busy|idle) +just now/, '<state> just now').replaceAll(/ {3,}/g, '  '),
    ])
    golden(t, told)
    await until(async () => (await crew.slots())[0]?.state === 'idle')
    assert.deepEqual(
      (await crew.slots()).map(({ id, agent, task, leash }) => [id, agent, task, leash]),
      [[1, 'quick', 'look for faults', 'ask']],
    )
    await crew.close()
    await crews.close()
  },
)
