import { test } from 'node:test'
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { pathsOf } from '../../src/tools/paths.ts'
import { seat } from './seat.ts'

test('a question goes to the loop as a card: three options, one or several, or words of one’s own', async (t) => {
  const { whole } = seat(t)
  const questions = [
    { question: 'Which store?', options: ['files', 'SQLite', 'both'] },
    { question: 'Which systems?', options: ['Linux', 'macOS', 'Windows'], multi_select: true },
  ]
  const options = (...labels: string[]) => labels.map((label, i) => ({ id: `${i + 1}`, label }))
  assert.deepEqual(await whole('ask_question', { questions }), {
    text: 'The person is asked; the answer is the next message.',
    data: {
      asks: [
        { about: 'choice', text: 'Which store?', from: [], free: true, options: options('files', 'SQLite', 'both') },
        {
          about: 'choice',
          text: 'Which systems?',
          from: [],
          multiple: true,
          free: true,
          options: options('Linux', 'macOS', 'Windows'),
        },
      ],
    },
  })
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
  const consult = async (task: string) => {
    if (task === 'fall') throw new Error('no quota')
    return `done: ${task}`
  }
  const { say } = seat(t, { consult })
  assert.equal(await say('subagent', { task: 'look' }), 'done: look')
  assert.equal(await say('subagent', { task: 'fall' }), 'Subagent execution failed: no quota')
})

test('a policy can tell which places a call would touch', async () => {
  const paths = (tool: string, input: unknown) => pathsOf(tool, input, '/project')
  const touched = (access: 'read' | 'write', named: string) => [{ access, named }]
  assert.deepEqual(await paths('file_reader', { file_path: 'src/../a.ts' }), touched('read', '/project/a.ts'))
  assert.deepEqual(await paths('file_creator', { file_path: '../b.ts' }), touched('write', '/b.ts'))
  assert.deepEqual(await paths('file_editor', { file_path: '/etc/passwd' }), touched('write', '/etc/passwd'))
  assert.deepEqual(await paths('ls', { path: 'src' }), touched('read', '/project/src'))
  assert.deepEqual(await paths('grep_search', { pattern: 'x' }), touched('read', '/project'))
  assert.deepEqual(await paths('glob', { pattern: '*.ts', path: 'src' }), touched('read', '/project/src'))
  assert.deepEqual(await paths('glob', { pattern: '/etc/**/*.conf' }), touched('read', '/etc'))
  assert.deepEqual(await paths('todo_write', {}), touched('write', '/project/.todos.json'))
  assert.deepEqual(await paths('bash', { command: 'rm -rf /' }), [])
  assert.deepEqual(await paths('file_reader', { file_path: 1 }), [])
})

test('where the tools put long outputs and logs is told, so that reading them back needs nobody’s leave', async (t) => {
  const { say, own, place } = seat(t)
  const long = await say('bash', { command: 'seq 20000' })
  const [, whole] = /the whole is in (\S+) …/.exec(long)!
  const [, log] = /is in (\S+\.log)/.exec(await say('bash', { command: 'true', background: true }))!
  assert.deepEqual([dirname(whole!), dirname(log!)], own)
  assert.ok(own.every((folder) => folder.startsWith(place)))
})
