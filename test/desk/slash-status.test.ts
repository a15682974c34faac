import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const echo = plain({ amber: 'cat >/dev/null; echo amber' })

test('/status tells agents, leash, model, session, project, sandbox and hub in one block', async (t) => {
  const seat = await seated(t, echo)
  const [[how, text] = ['', '']] = await seat.type('/status')
  assert.equal(how, 'text')
  const masks = { [seat.project]: '<project>', [seat.app.session.id]: '<session>' }
  // Whether this machine has a sandbox is its own matter.
  golden(t, text.replace(/^(Sandbox +).*$/m, '$1<sandbox>'), masks)
})

test('/export writes the session as its file says, overwrites none, and refuses other formats', async (t) => {
  const seat = await seated(t, echo)
  const masks = { [seat.project]: '<project>' }
  golden(t, await seat.type('/export talk.md'), masks)
  await seat.turn('which stone?')
  golden(t, await seat.type('/export talk.md'), masks)
  assert.match(
    readFileSync(join(seat.project, 'talk.md'), 'utf8'),
    /^# which stone\?\n\n[^]*\n## user, .*\n\nwhich stone\?\n[^]*\n## amber, .*\n\namber\n$/,
  )
  golden(t, await seat.type('/export talk.md'), masks)
  golden(t, await seat.type('/export talk.docx'), masks)
  await seat.type('/export')
  assert.match(readFileSync(join(seat.project, `termaite-${seat.app.session.id}.md`), 'utf8'), /^# which stone\?\n/)
  await seat.type('/export talk.jsonl')
  const lines = readFileSync(join(seat.project, 'talk.jsonl'), 'utf8').trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { type: string }).type),
    ['prompt', 'reply', 'usage', 'end'],
  )
})
