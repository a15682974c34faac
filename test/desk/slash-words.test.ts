import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditOf } from '../../src/native/native-audit.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fine = plain({ amber: 'cat >/dev/null; echo fine' })

test('every command has its name once, one line of help, and about a dozen matter', async (t) => {
  const commands = (await seated(t, fine)).commands()
  const names =
    'add-dir agents audit background bad btw clear cls compact config connect context context_size coordinator copy crew dashboard diff doctor effort exit export goal good help history import init jobs keys leash loop mcp mode model models permissions plan race redo refresh-system remember reset resume review rewind sessions setup skill skills status strategy switch theme think todos trust undo usage vim workers'
  assert.equal(
    commands
      .map(({ name }) => name)
      .sort()
      .join(' '),
    names,
  )
  assert.deepEqual(
    commands.filter(({ help }) => help === '' || help.length > 80 || help.includes('\n')),
    [],
  )
  assert.deepEqual(
    commands.filter(({ matters }) => matters).map(({ name }) => name),
    'help keys exit switch agents leash think diff undo redo review rewind reset sessions clear compact usage init config model'.split(
      ' ',
    ),
  )
})

test('the screen knows the commands that are its own', async (t) => {
  const seat = await seated(t, fine)
  for (const line of ['/help', '/keys', '/cls', '/exit']) assert.deepEqual(await seat.type(line), [])
  assert.deepEqual(seat.turned, [['palette', ''], ['keys'], ['clear'], ['exit']])
})

test('/help shows a page by its name, and the part of a page that has the words', async (t) => {
  const seat = await seated(t, fine)
  const [[how, text] = []] = await seat.type('/help race')
  assert.deepEqual([how, text?.split('\n')[0]], ['text', '# A race'])
  const [[, found] = []] = await seat.type('/help settings cooldown.maxSeconds')
  assert.match(found!, /\| `cooldown\.maxSeconds` \|[^]*\n\nWhole pages: `\/help settings`/)
})

test('/help searches the text of the pages, also for the name of a command, and says when it finds nothing', async (t) => {
  const seat = await seated(t, fine)
  const [[, leash] = []] = await seat.type('/help leash')
  assert.match(
    leash!,
    /^#+ The leash\n[^]*\n\n`\/leash \[read\|ask\|edit\|all\]`: Choose [^]*\n\nWhole pages: `\/help /,
  )
  for (const asked of ['undo', '/undo']) {
    const [[how, undo] = []] = await seat.type(`/help ${asked}`)
    assert.equal(how, 'text')
    assert.match(undo!, /^#[^]*\n\n`\/undo[^]*\n\nWhole pages: `\/help /)
  }
  golden(t, await seat.type('/help wednesday'))
  golden(t, await seat.type('/help setings'))
  // No page has this word, but the name of a command does.
  assert.deepEqual(await seat.type('/help ckgroun'), [])
  assert.deepEqual(seat.turned, [['palette', 'ckgroun']])
})

test('/copy takes the last answer, or one of its code blocks', async (t) => {
  const seat = await seated(t, fine)
  golden(t, await seat.type('/copy'))
  seat.lastAnswer = 'no code'
  golden(t, await seat.type('/copy 1'))
  seat.lastAnswer = 'Look:\n```sh\nmake\n```\n````md\n```\ninner\n```\n````\n~~~\nopen `'
  const copied = async (line: string) => (await seat.type(line)).map(([how, text]) => [how, text])
  assert.deepEqual(await copied('/copy'), [['note', `copied ${JSON.stringify(seat.lastAnswer)}`]])
  assert.deepEqual(await copied('/copy 1'), [['note', 'copied "make"']])
  assert.deepEqual(await copied('/copy 2'), [['note', `copied ${JSON.stringify('```\ninner\n```')}`]])
  assert.deepEqual(await copied('/copy 3'), [['note', 'copied "open `"']])
  for (const typed of ['4', '0', 'two']) golden(t, await copied(`/copy ${typed}`))
})

test('a person’s own command is sent with what was typed in its places', async (t) => {
  const seat = await seated(t, fine)
  const write = (name: string, text: string) => writeFileSync(join(seat.home, 'commands', name), text)
  write(
    'fix.md',
    '---\ndescription: "Fix an issue"\nargument-hint: [issue] [how]\n---\nFix $1 ($2); all: $ARGUMENTS, $10.\n',
  )
  write('plain.md', 'Review the last change\nwith care.')
  const own = seat.commands().filter(({ name }) => name === 'fix' || name === 'plain')
  assert.deepEqual(
    own.map(({ name, words, help }) => ({ name, words, help })),
    [
      { name: 'fix', words: '[issue] [how]', help: 'Fix an issue (your own)' },
      { name: 'plain', words: undefined, help: 'Review the last change with care. (your own)' },
    ],
  )
  await seat.type('/fix 12 "with $1 & care"')
  await seat.type('/fix')
  await seat.type('/plain')
  await seat.type('/plain only src/')
  assert.deepEqual(seat.turned, [
    ['send', 'Fix 12 (with $1 & care); all: 12 "with $1 & care", $10.'],
    ['send', 'Fix  (); all: , $10.'],
    ['send', 'Review the last change\nwith care.'],
    ['send', 'Review the last change\nwith care.\n\nonly src/'],
  ])
})

test('a command of one’s own that cannot be used is one warning, and the others work', async (t) => {
  const seat = await seated(t, fine)
  const folder = join(seat.home, 'commands')
  for (const [name, text] of Object.entries({
    'undo.md': 'mine',
    'open.md': '---\ndescription: x\n',
    'empty.md': '---\ndescription: x\n---\n  \n',
    'two words.md': 'x',
    'fine.md': 'x',
    'notes.txt': 'no command',
  }))
    writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'dir.md'))
  const warnings: string[] = []
  const names = seat.commands((words) => warnings.push(words)).map(({ name }) => name)
  assert.deepEqual([names.slice(-2), names.filter((name) => name === 'undo').length], [['fine', 'user:undo'], 1])
  golden(t, warnings, { [seat.folder]: '<seat>' })
})

test('/audit says what was done in this project, and whether the record is whole', async (t) => {
  const seat = await seated(t, fine)
  golden(t, await seat.type('/audit'))
  const audit = auditOf(seat.app.native)!
  const done = { type: 'execution', tool: 'ls', what: '{}', ok: true, verdict: 'yes: it looks' } as const
  await audit.record({ ...done, project: seat.project })
  await audit.record({ ...done, tool: 'bash', project: '/elsewhere' })
  const [rows, whole] = await seat.type('/audit')
  assert.match(rows![1], /execution +ok +ls +\{\}/)
  assert.ok(!rows![1].includes('bash'))
  golden(t, whole)
})
