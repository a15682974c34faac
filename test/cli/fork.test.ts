import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('--fork goes on in a new session that begins with the one before, which stays as it is', async (t) => {
  const machine = new Machine(t)
  const told = join(machine.folder, 'told')
  machine.agents({ alpha: `cat > ${told}; echo heard` }, { metaInstruction: false })
  const none = await machine.run(['-p', 'go on', '--fork'])
  golden(t, [none.code, none.err])
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
  golden(t, [wrong.code, wrong.err])
})
