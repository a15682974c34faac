import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'

test('--fork goes on in a new session that begins with the one before, which stays as it is', async (t) => {
  const machine = new Machine(t)
  const told = join(machine.folder, 'told')
  machine.agents({ alpha: `cat > ${told}; echo heard` }, { metaInstruction: false })
  const none = await machine.run(['-p', 'go on', '--fork'])
  assert.deepEqual(
    [none.code, none.err],
    [1, 'termaite: there is no conversation in this project yet. Begin one with: termaite -p "<request>"\n'],
  )
  await machine.run(['-p', 'the first words'])
  assert.equal((await machine.run(['-p', 'in the fork', '--fork'])).out, 'heard\n')
  assert.match(readFileSync(told, 'utf8'), /the first words[^]*in the fork/)
  const sessions = (await machine.run(['sessions'])).out.trimEnd().split('\n').slice(1)
  assert.deepEqual(
    sessions.map((line) => line.split(/ {2,}/).slice(2)),
    [
      ['1', 'the first words'],
      ['1', '↳ in the fork'],
    ],
  )
  await machine.run(['sessions', 'resume', sessions[0]!.split(' ')[0]!])
  await machine.run(['-p', 'again in the first'])
  assert.doesNotMatch(readFileSync(told, 'utf8'), /in the fork/)
  const wrong = await machine.run(['-p', 'x', '--fork', '--new'])
  assert.deepEqual(
    [wrong.code, wrong.err],
    [2, 'termaite: --fork and --new cannot be combined: a fork begins with an earlier conversation.\n'],
  )
})
