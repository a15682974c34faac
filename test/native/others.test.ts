import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dirname } from 'node:path'
import { seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a question goes to the loop as a card: three options, one or several, or words of one’s own', async (t) => {
  const { whole } = seat(t)
  const questions = [
    { question: 'Which store?', options: ['files', 'SQLite', 'both'] },
    { question: 'Which systems?', options: ['Linux', 'macOS', 'Windows'], multi_select: true },
  ]
  golden(t, await whole('ask_question', { questions }))
})

test('a skill is loaded by its name, and only then read', async (t) => {
  let read = 0
  const body = () => (read++, 'Paint it black.')
  const { whole, say } = seat(t, { skills: [{ name: 'paint', description: 'Paints.', body }] })
  assert.equal(await say('load_skill', { name: 'pant' }), '! there is no skill pant. Did you mean paint?')
  assert.equal(await say('load_skill', { name: 'sing' }), '! there is no skill sing. There are: paint.')
  assert.equal(read, 0)
  assert.deepEqual(await whole('load_skill', { name: 'paint' }), { text: 'Paint it black.', data: { skill: 'paint' } })
})

test('a subagent gives its answer alone, or the words of its failure', async (t) => {
  const consult = async ({ task, type }: { task: string; type?: string }) => {
    if (task === 'fall') throw new Error('no quota')
    return `done: ${task} ${type}`
  }
  const { say } = seat(t, { consult })
  assert.equal(await say('subagent', { task: 'look', type: 'reviewer' }), 'done: look reviewer')
  assert.equal(await say('subagent', { task: 'fall' }), 'Subagent execution failed: no quota')
})

test('a tool says which paths a call would read or write, and what else it would do', (t) => {
  const { tool } = seat(t)
  const effect = (name: string, input: unknown) => tool(name).effect!(tool(name).parse(input), '/project')
  const reads = (path: string) => ({ does: 'access', paths: [{ access: 'read', path }] })
  const writes = (path: string) => ({ does: 'access', paths: [{ access: 'write', path }] })
  assert.deepEqual(effect('file_reader', { file_path: 'src/../a.ts' }), reads('/project/a.ts'))
  assert.deepEqual(effect('file_creator', { file_path: '../b.ts', content: '' }), writes('/b.ts'))
  const edits = [{ old_string: 'a', new_string: 'b' }]
  assert.deepEqual(effect('file_editor', { file_path: '/etc/passwd', edits }), writes('/etc/passwd'))
  assert.deepEqual(effect('ls', { path: 'src' }), reads('/project/src'))
  assert.deepEqual(effect('grep_search', { pattern: 'x' }), reads('/project'))
  assert.deepEqual(effect('glob', { pattern: '*.ts', path: 'src' }), reads('/project/src'))
  assert.deepEqual(effect('glob', { pattern: '/etc/**/*.conf' }), reads('/etc'))
  assert.deepEqual(effect('todo_read', {}), { does: 'nothing' })
  assert.deepEqual(effect('bash', { command: 'rm -rf /' }), { does: 'command', command: 'rm -rf /' })
  assert.deepEqual(effect('web_fetch', { url: 'https://a.b' }), { does: 'fetch', url: 'https://a.b' })
})

test('the tools name the folders of long outputs and logs, so that reading them needs no leave', async (t) => {
  const { say, own, place } = seat(t)
  const long = await say('bash', { command: 'seq 20000' })
  const [, whole] = /the whole is in (\S+) …/.exec(long)!
  const [, log] = /goes to (\S+\.log)/.exec(await say('bash', { command: 'sleep 60', background: true }))!
  assert.deepEqual([dirname(whole!), dirname(log!)], own)
  assert.ok(own.every((folder) => folder.startsWith(place)))
})
