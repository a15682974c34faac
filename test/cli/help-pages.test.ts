import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { helpPages } from '../../src/people/help/help-pages.ts'
import { findHelp, narrowedText } from '../../src/people/help/help-search.ts'
import { Machine, packageFolder } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const docs = join(import.meta.dirname, '../../docs')

test('without a topic every page is listed once, with the words of the table of contents', async (t) => {
  const { code, out } = await new Machine(t).run(['help'])
  assert.equal(code, 0)
  const names = [...out.matchAll(/^ {2}([a-z][\w/-]*) /gm)].map(([, name]) => name)
  assert.deepEqual(
    names,
    helpPages(docs).map(({ name }) => name),
  )
  const files = globSync('**/*.md', { cwd: docs }).filter((file) => file !== 'README.md')
  assert.equal(names.length, files.length)
  assert.match(out.replaceAll(/\s+/g, ' '), / getting-started Getting started: install, set up, the first turn/)
})

test('a page is found by its name, in any way that a person writes it, and is plain text in a pipe', async (t) => {
  const machine = new Machine(t)
  const { code, out, err } = await machine.run(['help', 'getting', 'started'])
  assert.deepEqual([code, err], [0, ''])
  assert.equal(out.split('\n')[0], 'Getting started')
  assert.doesNotMatch(out, /\x1b|\]\(|<!--/)
  const same = ['getting-started', 'Getting-Started', 'docs/getting-started.md']
  for (const name of same) assert.equal((await machine.run(['help', name])).out, out)
})

test('help of a command ends with its flags, after the page about it where there is one', async (t) => {
  const machine = new Machine(t)
  const [race, undo] = [await machine.call(['help', 'race']), await machine.call(['help', 'undo'])]
  const flags = async (name: string) => (await machine.call([name, '--help'])).out
  assert.equal(undo.out, await flags('undo'))
  assert.equal(race.out.split('\n')[0], 'A race')
  assert.ok(race.out.endsWith(await flags('race')))
})

test('words are searched in all pages, and in one page behind its name', async (t) => {
  const machine = new Machine(t)
  const found = await machine.call(['help', 'sandbox', 'network'])
  assert.equal(found.code, 0)
  golden(t, found.out)
  assert.match(found.out, /^Also found in:$/m)
  const setting = await machine.call(['help', 'settings', 'cooldown.maxSeconds'])
  assert.match(setting.out, /cooldown\.maxSeconds/)
  assert.doesNotMatch(setting.out, /rotationStrategy/)
})

test('pages that everybody reads are found before references and the pages of the hub', () => {
  const pages = helpPages(docs)
  const found = (...words: string[]) => {
    const { best, others } = findHelp(pages, words) as Extract<ReturnType<typeof findHelp>, { type: 'section' }>
    return [best, ...others].map(({ page }) => page)
  }
  assert.equal(found('quota')[0]!.name, 'troubleshooting')
  assert.equal(found('undo')[0]!.name, 'getting-started')
  for (const words of [['quota'], ['install'], ['out', 'of', 'quota']])
    assert.equal(found(...words)[0]!.isReference, false)
})

test('a page shows commands without the name of their language', async (t) => {
  const machine = new Machine(t)
  for (const topic of ['crew', 'chat', 'leash'])
    assert.doesNotMatch((await machine.call(['help', topic])).out, /^\s*(sh|json)$/m)
})

test('the table of contents names each page once', () => {
  const links = [...readFileSync(join(docs, 'README.md'), 'utf8').matchAll(/\]\(([\w./-]+\.md)\)/g)].map(
    ([, path]) => path,
  )
  assert.deepEqual(links, [...new Set(links)])
})

test('an unknown help topic is answered with the names that are near', async (t) => {
  const machine = new Machine(t)
  golden(t, await machine.call(['help', 'environmnt']))
  golden(t, (await machine.call(['help', 'xyzzyq'])).err)
})

test('a link to another page becomes the command that shows it, and every such command finds its page', () => {
  const pages = helpPages(docs)
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/\(`termaite help ([\w/-]+)`\)/g)].map(([, name]) => name!),
  )
  assert.ok(named.length > 10)
  for (const name of named) assert.equal(findHelp(pages, [name]).type, 'page', name)
})

test('a search in a long table shows only the rows with a word of it', (t) => {
  const rows = Array.from({ length: 20 }, (_, at) => `| key${at} | what ${at} |`)
  const text = ['## Keys', '', '| key | what |', '|---|---|', ...rows].join('\n')
  const page = { name: 'keys', title: 'Keys', about: undefined, isReference: true, text }
  golden(t, narrowedText({ page, heading: 'Keys', text }, ['KEY7']))
})

test('the package has the pages and the schema of the settings', () => {
  const built = join(packageFolder, 'dist', 'docs')
  const inDocs = globSync('**/*.{md,json}', { cwd: docs }).sort()
  assert.deepEqual(
    globSync('**/*', { cwd: built })
      .filter((path) => /\.\w+$/.test(path))
      .sort(),
    inDocs,
  )
  for (const path of inDocs)
    assert.equal(readFileSync(join(built, path), 'utf8'), readFileSync(join(docs, path), 'utf8'), path)
})
