import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const document = '# AGENTS.md\n\n## How to run\nmake\n'
const writes = `cat >/dev/null; printf '# AGENTS.md\\n\\n## How to run\\nmake\\n'`

test('init --yes writes the document, keeps a copy of the old one, and the next agent knows it', async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: writes })
  const file = join(machine.project, 'AGENTS.md')
  writeFileSync(file, 'old\n')
  const { code, out, err } = await machine.run(['init', '--yes'])
  assert.deepEqual([code, out, readFileSync(file, 'utf8')], [0, '', document])
  const [, backup] = readdirSync(machine.project)
  assert.match(backup!, /^AGENTS\.md\.[\dTZ-]+\.bak$/)
  assert.equal(readFileSync(join(machine.project, backup!), 'utf8'), 'old\n')
  golden(t, err, { [machine.folder]: '<machine>', [backup!]: '<backup>' })
  golden(t, machine.kept(), { [machine.folder]: '<machine>', [backup!]: '<backup>' })
  machine.agents({ birch: 'grep -c "## How to run"' })
  assert.equal((await machine.run(['-p', 'what now?'])).out, '1\n')
})

test('init asks no agent where no person can be asked', async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: `${writes}; touch was-asked` })
  const { code, err } = await machine.call(['init'])
  golden(t, [code, err, readdirSync(machine.project)])
})

test('an answer that is none is refused, with the exit code of a failed turn', async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: 'cat >/dev/null; echo Done, I wrote it.' })
  const { code, err } = await machine.call(['init', '--yes'])
  assert.equal(code, 1)
  golden(t, err, { [machine.folder]: '<machine>' })
  assert.equal(existsSync(join(machine.project, 'AGENTS.md')), false)
})

test('in a terminal the change is shown before it is asked for', inTerminal, async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: writes })
  writeFileSync(join(machine.project, 'AGENTS.md'), 'old\n')
  const card = /-old\s+\+# AGENTS\.md[^]*amber proposes these changes to AGENTS\.md\. Write them\?[^]*> /
  const { code, out } = await typed(machine, ['init'], [[card, '2\r']])
  assert.equal(code, 0, out)
  assert.match(out, /Nothing was written\./)
  assert.deepEqual(
    [readdirSync(machine.project), readFileSync(join(machine.project, 'AGENTS.md'), 'utf8')],
    [['AGENTS.md'], 'old\n'],
  )
})
