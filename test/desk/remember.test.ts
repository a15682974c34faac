import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fine = plain({ amber: 'cat >/dev/null; echo fine' })

test('/remember shows the change, writes it after a yes, keeps it as a turn, and can be undone', async (t) => {
  const seat = await seated(t, fine)
  const file = join(seat.project, 'AGENTS.md')
  seat.answers.push(['no'])
  assert.deepEqual(await seat.type('/remember use pnpm'), [['note', 'Nothing was written.']])
  assert.ok(!existsSync(file))
  seat.answers.push(['write'])
  await seat.type('/remember use pnpm')
  assert.equal(readFileSync(file, 'utf8'), '# AGENTS.md\n\n- use pnpm\n')
  const [, question] = seat.asked
  golden(t, [question!.text, question!.shows, question!.options.map(({ id }) => id)])
  const view = await seat.app.conversation.view()
  golden(
    t,
    view.flatMap((entry) => (entry.type === 'prompt' || entry.type === 'reply' ? [[entry.by, entry.text]] : [])),
  )
  seat.answers.push(['undo'], ['yes'], ['once'])
  await seat.type('/undo')
  assert.ok(!existsSync(file))
})

test('a note goes to the person’s own file, back into the input, or to an agent; a changed file is shown again', async (t) => {
  const seat = await seated(t, fine)
  const file = join(seat.project, 'AGENTS.md')
  writeFileSync(file, '- one\n')
  seat.answers.push(['edit'], ['send'], ['other'], ['write'])
  await seat.type('/remember #use pnpm')
  await seat.type('/remember #use pnpm')
  assert.deepEqual(seat.turned, [
    ['fill', '#use pnpm'],
    ['send', '#use pnpm'],
  ])
  const own = join(seat.home, 'TERMAITE.md')
  golden(t, await seat.type('/remember use pnpm'), { [seat.folder]: '<seat>' })
  assert.equal(readFileSync(own, 'utf8'), '# TERMAITE.md\n\n- use pnpm\n')
  assert.match(
    seat.asked.at(-1)!.text,
    /^Add this note to your own TERMAITE\.md, a new file\?\nOnly termaite’s own agent/,
  )

  const { ask } = seat.world
  let changed = false
  seat.world.ask = async (question, withdrawn) => {
    if (!changed) writeFileSync(file, '- one\n- by somebody\n')
    changed = true
    return ask(question, withdrawn)
  }
  seat.answers.push(['write'], ['write'])
  golden(t, (await seat.type('/remember two'))[0])
  assert.equal(readFileSync(file, 'utf8'), '- one\n- by somebody\n- two\n')
})

test('a note without words, and a file that leads out of the project, are refused with words', async (t) => {
  const seat = await seated(t, fine)
  golden(t, await seat.type('/remember'))
})
