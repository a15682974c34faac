import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verdict } from '../../src/core/talk/entry.ts'
import { ownerMark } from '../../src/base/process/owner.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fine = plain({ amber: 'cat >/dev/null; echo fine' })
const writes = plain({ amber: 'cat >/dev/null; echo new > made.txt; echo done' })

test('/history tells the last turns in short, failed ones too', async (t) => {
  const seat = await seated(t, plain({ amber: `grep -q LAST && { echo 'no luck' >&2; exit 3; }; echo fine` }))
  golden(t, await seat.type('/history'))
  for (const prompt of ['one', 'two', 'LAST']) await seat.turn(prompt)
  const at = new Date(seat.io.clock.now()).getHours().toString().padStart(2, '0')
  const line = (prompt: string) => `2026-11-15 ${at}:00 you: ${prompt}`
  const [[how, text] = ['', '']] = await seat.type('/history 2')
  assert.equal(how, 'text')
  assert.equal(
    text.replace(/no answer: .*/, 'no answer'),
    ['```text', line('two'), '  amber: fine', '', line('LAST'), '  no answer', '```'].join('\n'),
  )
  assert.match(text, /no answer: .*no luck/)
  assert.equal((await seat.type('/history'))[0]![1].match(/you: /g)!.length, 3)
  golden(t, await seat.type('/history all'))
})

test('/context_size sets the view against each window, and says how each number is known', async (t) => {
  const agents = [
    { name: 'amber', command: 'cat >/dev/null; echo fine', contextWindowTokens: 1_000 },
    { name: 'birch', command: 'cat', contextWindowTokens: 10_000 },
    { name: 'small', command: 'cat', contextWindowTokens: 10, ownView: true },
  ]
  const seat = await seated(t, { agents })
  await seat.turn('x'.repeat(400))
  const [[, text] = ['', '']] = await seat.type('/context_size')
  const lines = text.split('\n')
  const [, tokens, share] = /^The next turn gets (\d+) tokens of conversation \(estimated\), (\d+) % of the/.exec(
    lines[0]!,
  )!
  assert.equal(Number(share), Math.round(Number(tokens) / 10))
  assert.match(lines[0]!, /the smallest window \(1,000\)\.$/)
  golden(t, lines[1])
  golden(
    t,
    lines.slice(5, 8).map((line) => line.split(/ {2,}/)),
  )
  assert.match(lines[5]!, /\d+ in, \d+ out \(estimated\)$/)
})

test('/compact summarises, and says so when it could not', async (t) => {
  const seat = await seated(t, fine)
  golden(t, (await seat.type('/compact')).at(-1))
  await seat.turn('one')
  golden(t, await seat.type('/compact'))
  assert.deepEqual(
    (await seat.app.conversation.view()).map(({ type }) => type),
    ['summary'],
  )
  seat.stop.abort()
  await seat.app.conversation.append({ type: 'prompt', text: 'two' }, 'user', 't2')
  await seat.app.conversation.append({ type: 'end', outcome: { ok: true, text: 'x' } }, 'amber', 't2')
  assert.deepEqual((await seat.type('/compact')).at(-1), ['error', 'nothing was changed: cancelled before it started.'])
})

test('/compact tells the agent what the person wants kept above all', async (t) => {
  const seat = await seated(t, plain({ amber: 'grep "keep above all" || echo fine' }))
  await seat.turn('one')
  await seat.type('/compact the names of the tables')
  const [summary] = await seat.app.conversation.view()
  golden(t, summary?.type === 'summary' && summary.text)
})

test('/usage tells tokens by agent, with how they are known', async (t) => {
  const seat = await seated(t, fine)
  assert.deepEqual(await seat.type('/usage'), [['note', 'No usage yet.']])
  await seat.turn('one')
  const [[how, text] = ['', '']] = await seat.type('/usage')
  assert.deepEqual(
    [how, text.split('\n').map((line) => line.split(/ {2,}/).length)],
    ['text', [1, 6, 6, 1, 1, 4, 3, 1]],
  )
  assert.match(text, /^AGENT +INPUT .*\namber .* estimated$/m)
  assert.match((await seat.type('/usage day'))[0]![1], /^DAY .*\n2026-11-15 /m)
  assert.deepEqual(await seat.type('/usage week'), [
    ['error', 'there is no row "week"; there are agent, day, project, framework.'],
  ])
})

test('/usage tells how it was thought, once anything was thought about', async (t) => {
  const seat = await seated(t, fine)
  const thought = async (turn: string, verdict: Omit<Verdict, 'type' | 'why'>) => {
    await seat.app.conversation.append({ type: 'verdict', why: 'more than one way', ...verdict }, 'amber', turn)
    const usage = { type: 'usage', input: 1000, output: 234, cost: 0.5, source: 'reported' } as const
    await seat.app.conversation.append(usage, 'amber', turn)
  }
  await thought('t1', { framework: 'direct', calls: 0, ms: 1200 })
  const plainly = (await seat.type('/usage'))[0]![1]
  assert.doesNotMatch(plainly, /THOUGHT/)
  await thought('t2', { framework: 'consensus', passed: true, calls: 6, ms: 41_000 })
  await thought('t3', { framework: 'consensus', passed: false, calls: 6, ms: 75_000 })
  const [[, text] = ['', '']] = await seat.type('/usage')
  assert.deepEqual(text.split('\n').slice(4, -1), [
    'RESULTS',
    'AGENT  GOOD  BAD  NOT JUDGED',
    'amber  1     1    0',
    '',
    'THINKING',
    'FRAMEWORK  AGENT  TURNS  CHECKED        CALLS  TOKENS  TIME   COST',
    'consensus  amber  2      1 of 2 passed  12     2,468   41 s   $1.0000',
    'direct     amber  1      unchecked      0      1,234   1.2 s  $0.5000',
    '',
    'TURNS',
    'AGENT  ANSWERED  FAILED TRIES  OUT OF QUOTA',
    'amber  3         0',
  ])
  assert.match((await seat.type('/usage framework'))[0]![1], /^FRAMEWORK .*\nconsensus +2,000 [^]*\nTHINKING$/m)
  assert.doesNotMatch((await seat.type('/usage day'))[0]![1], /THOUGHT/)
})

test('/diff shows what the last turn changed as a diff that nothing in it can close', async (t) => {
  const seat = await seated(t, plain({ amber: `cat >/dev/null; printf '\`\`\`sh\\n' > doc.md; echo done` }))
  golden(t, await seat.type('/diff'))
  const turn = await seat.turn('document it')
  const [[how, text] = ['', '']] = await seat.type('/diff')
  assert.equal(how, 'text')
  assert.match(text, new RegExp(`^“document it” \\(${turn}\\)\n\`\`\`text\n.*doc\\.md .*\n\`\`\`\n\`\`\`\`diff\n`))
  assert.match(text, /\n\+```sh\n````$/)
  assert.equal((await seat.type(`/diff ${turn}`))[0]![1], text)
  const idle = await seat.turn('again')
  assert.deepEqual(await seat.type(`/diff ${idle}`), [['text', `“again” (${idle}) changed no file.`]])
})

test('/undo shows the plan on its card, takes back after a yes, and can be taken back', async (t) => {
  const seat = await seated(t, writes)
  const made = join(seat.project, 'made.txt')
  await seat.turn('make it')
  seat.answers.push(['leave'], ['undo'])
  assert.deepEqual(await seat.type('/undo'), [['note', 'Nothing was changed.']])
  assert.equal(existsSync(made), true)
  const [[, words] = ['', '']] = await seat.type('/undo')
  assert.equal(existsSync(made), false)
  golden(t, words)
  const [card] = seat.asked
  golden(t, card?.text)
  assert.match(
    String((card?.shows?.[0] as { text: string } | undefined)?.text),
    /^Undoing “make it” \(\w+\):\n {2}delete +made\.txt$/,
  )
  seat.answers.push(['redo'])
  golden(t, await seat.type('/redo'))
  assert.equal(readFileSync(made, 'utf8'), 'new\n')
  golden(t, await seat.type('/redo'))
})

test('/undo takes nothing from under a turn that is at work', async (t) => {
  const seat = await seated(t, writes)
  await seat.turn('make it')
  await seat.app.conversation.append({ type: 'prompt', text: 'long', owner: ownerMark() }, 'user', 'turn-1')
  golden(t, await seat.type('/undo'))
  assert.deepEqual([seat.asked, existsSync(join(seat.project, 'made.txt'))], [[], true])
})

test('/config opens the editor, and the settings count when they are right', async (t) => {
  const seat = await seated(t, fine, { EDITOR: `sed -i 's/amber/cedar/'` })
  golden(t, await seat.type('/config'))
  assert.deepEqual(seat.turned, [['suspend'], ['reload']])
  assert.deepEqual(seat.app.roster.names(), ['cedar'])
})

test('/config offers to go back in on an error, until it is right or left', async (t) => {
  // The editor breaks the file the first time, and mends it the second.
  const seat = await seated(t, fine, {
    EDITOR: `sh -c 'grep -q broken "$0" && cp "$HOME/good" "$0" || echo broken > "$0"'`,
  })
  writeFileSync(join(seat.folder, 'good'), readFileSync(join(seat.home, 'settings.json')))
  seat.answers.push(['again'])
  golden(t, await seat.type('/config'))
  assert.deepEqual(seat.turned, [['suspend'], ['suspend'], ['reload']])
  assert.match(seat.asked[0]!.text, /settings\.json:1: is not JSON/)
  golden(t, seat.asked[0]!.options)
  golden(t, await seat.type('/config'))
})

test('/config says it when the editor failed', async (t) => {
  const seat = await seated(t, fine, { EDITOR: 'exit 3;' })
  assert.deepEqual(await seat.type('/config'), [
    ['error', `exit 3; ended with 3; the file is ${join(seat.home, 'settings.json')}.`],
  ])
})
