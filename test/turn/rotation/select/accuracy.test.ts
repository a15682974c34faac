import type { TestContext } from 'node:test'
import type { Labelled } from './labelled.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { select } from '../../../../src/turn/select/select.ts'
import { fresh, labelled } from './labelled.ts'
import { goldenOf } from '../../../golden.ts'

const goldenWords = goldenOf(import.meta.filename)

/** The framework that the words surely call for, or `unsure`. */
const verdict = (request: string) => select(request)?.framework ?? 'unsure'

test('the twelve examples of the seed go where it says', () => {
  const golden = labelled('golden')
  assert.equal(golden.length, 12)
  assert.deepEqual(
    golden.map(({ request }) => ({ label: verdict(request), request })),
    golden,
  )
})

test('the words decide a third of the labelled requests, and none of them wrongly', (t) => {
  const all = ['golden', 'tuned', 'held-out', 'held-out-everyday'].flatMap(labelled)
  assert.ok(all.length >= 200)
  assert.deepEqual(sureAndWrong(t, 'labelled', all), [])
  assert.ok(all.filter(({ request }) => select(request)).length > all.length / 3)
})

function sureAndWrong(t: TestContext, name: string, set: readonly Labelled[]): string[] {
  const sure = set.filter(({ request }) => select(request))
  const wrong = sure.filter(({ label, request }) => verdict(request) !== label)
  t.diagnostic(`${name}: sure of ${sure.length} of ${set.length}, wrong in ${wrong.length}`)
  return wrong.map(({ label, request }) => `${request} (${verdict(request)} instead of ${label})`)
}

test('the words decide few of 80 fresh requests in six languages, none wrongly, and leave the others to the agent', (t) => {
  const all = fresh()
  const sure = all.flatMap(({ request, context, ...row }) => {
    const found = select(request, context !== undefined)
    return found ? [{ ...row, request, framework: found.framework }] : []
  })
  for (const language of new Set(all.map((row) => row.language))) {
    const of = (rows: readonly { language: string }[]) => rows.filter((row) => row.language === language).length
    t.diagnostic(`${language}: sure of ${of(sure)} of ${of(all)}`)
  }
  assert.deepEqual(
    sure.filter(({ framework, wants }) => !wants.includes(framework)),
    [],
  )
  assert.deepEqual([all.length, sure.length], [80, 10])
})

test('a choice has its reason; an unsure request has no choice', (t) => {
  goldenWords(t, select('Why is my build failing?'))
  assert.equal(select('Wie spät ist es?'), undefined)
  assert.equal(select('make the importer nicer'), undefined)
})

test('replies and the plain question why something fails are known in other languages too', () => {
  const known = [
    ['ja, mach weiter', 'direct'],
    ['oui merci', 'direct'],
    ['好的', 'direct'],
    ['Warum stürzt der Server beim Start ab?', 'sequential'],
    ['Pourquoi est-ce que le build échoue ?', 'sequential'],
    ['¿Por qué falla la prueba de integración?', 'sequential'],
    ['为什么构建失败了？', 'sequential'],
    ['なぜテストが失敗するのですか', 'sequential'],
    ['Почему не работает вход?', 'sequential'],
    ['Warum benutzen wir hier Redis?', 'unsure'],
    ['Baue ein Dashboard mit Diagrammen', 'unsure'],
  ]
  assert.deepEqual(
    known.map(([request]) => [request, verdict(request!)]),
    known,
  )
})

test('words are whole words, and quotes and paths are not read', () => {
  const traps = [
    ['what is the best way to delete all my files', 'unsure'],
    ['commit this with the message "fix the crash in the auth migration"', 'direct'],
    ['add error handling to the importer', 'unsure'],
    ['debrief me', 'unsure'],
    ['the header should be blue', 'unsure'],
    ['the header should be blue, but it is red', 'unsure'],
    ['remove all unused imports', 'unsure'],
    ['delete all customers of the test tenant', 'reflect'],
    ['create a blog post about sailing', 'unsure'],
    ['build the app', 'unsure'],
    ['write a migration guide', 'unsure'],
  ]
  assert.deepEqual(
    traps.map(([request]) => [request, verdict(request!)]),
    traps,
  )
})

test('in a conversation a few words that refer to it are left to the agent, unless they cannot be undone', () => {
  const talk = ['why did that fail?', 'it still crashes', 'why does it time out?', 'now deploy that', 'make it faster']
  assert.deepEqual(
    talk.map((request) => select(request, true)),
    talk.map(() => undefined),
  )
  assert.equal(select('drop the table too', true)?.framework, 'reflect')
  assert.equal(select('yes, do it', true)?.framework, 'direct')
  assert.equal(select('Add authentication to this app', true)?.framework, 'decompose')
})

test('select() takes any text, however long or empty', () => {
  for (const request of ['', '   ', '?', '\0', '```\n', 'a '.repeat(50_000), '.'.repeat(50_000), '-'.repeat(50_000)])
    assert.equal(select(request), undefined)
})
