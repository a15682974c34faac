import type { Question } from '../../src/core/talk/question.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type { AcpScript, AcpStep } from './acp-rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ground, person, played, running } from './acp-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const read = (path: string, more = {}): AcpStep => ({
  request: 'fs/read_text_file',
  params: { path, ...more },
  fails: true,
})
const write = (path: string, content = 'new\n'): AcpStep => ({
  request: 'fs/write_text_file',
  params: { path, content },
  fails: true,
})
const create = (command: string, more = {}): AcpStep => ({
  request: 'terminal/create',
  params: { command, ...more },
  fails: true,
})
const script = (...steps: AcpStep[]): AcpScript => ({ steps: [...steps, { say: 'Done.' }] })

/** The end of a request: its result, or the words of its error. */
const came = ({ result, error }: any) => (error ? error.message : result)

test('files are read in the project alone, whole or by lines', async (t) => {
  await using it = await ground()
  await writeFile(join(it.cwd, 'a.txt'), 'one\ntwo\nthree\nfour')
  await writeFile(join(it.cwd, '..', 'secret.txt'), 'secret')
  await symlink('../secret.txt', join(it.cwd, 'link.txt'))
  await symlink('..', join(it.cwd, 'up'))
  const outside = ['$CWD/../secret.txt', '$CWD/link.txt', '$CWD/up/secret.txt', 'a.txt', '$CWD/../nothing.txt']
  const steps = [
    read('$CWD/a.txt'),
    read('$CWD/a.txt', { line: 2, limit: 2 }),
    read('$CWD/a.txt', { line: 4 }),
    read('$CWD/a.txt', { limit: 1 }),
    read('$CWD/missing.txt'),
    read('$CWD'),
    ...outside.map((path) => read(path)),
  ]
  await played(it, script(...steps), { leash: 'all' })
  golden(t, (await it.answers()).map(came), { [it.cwd]: '<cwd>' })
})

test('files are written as the leash allows, and never outside of the project', async () => {
  const found: Record<string, unknown> = {}
  for (const leash of ['read', 'ask', 'edit', 'all'] as Leash[]) {
    await using it = await ground()
    await writeFile(join(it.cwd, 'a.txt'), 'old\n')
    await writeFile(join(it.cwd, '..', 'secret.txt'), 'secret\n')
    await symlink('../secret.txt', join(it.cwd, 'link.txt'))
    await symlink('../nowhere.txt', join(it.cwd, 'dangling.txt'))
    await mkdir(join(it.cwd, '.git', 'hooks'))
    const { cards, ask } = person(['once'], ['no'], ['once'])
    const paths = ['a.txt', 'deep/er/b.txt', '.git/hooks/pre-commit', 'link.txt', 'dangling.txt', '../c.txt']
    const events = await played(it, script(...paths.map((path) => write(`$CWD/${path}`))), { leash, ask })
    const texts = await Promise.all(
      [...paths, '../secret.txt'].map((path) => readFile(join(it.cwd, path), 'utf8').catch(() => null)),
    )
    const end = events.at(-1)
    found[leash] = {
      texts,
      cards: cards.map(({ shows }) => shows),
      denials: end?.type === 'end' && end.outcome.ok ? end.outcome.denials?.length : 'no answer',
    }
  }
  const shown = (path: string, before?: string) => [
    { type: 'diff', path, ...(before === undefined ? {} : { before }), after: 'new\n' },
  ]
  const hook = '.git/hooks/pre-commit'
  assert.deepEqual(found, {
    read: { texts: ['old\n', null, null, 'secret\n', null, null, 'secret\n'], cards: [], denials: 6 },
    ask: {
      texts: ['new\n', null, 'new\n', 'secret\n', null, null, 'secret\n'],
      cards: [shown('a.txt', 'old\n'), shown('deep/er/b.txt'), shown(hook)],
      denials: 3,
    },
    edit: {
      texts: ['new\n', 'new\n', 'new\n', 'secret\n', null, null, 'secret\n'],
      cards: [shown(hook)],
      denials: 3,
    },
    all: { texts: ['new\n', 'new\n', 'new\n', 'secret\n', null, null, 'secret\n'], cards: [], denials: 3 },
  })
})

test('a change that was allowed as a permission is written without another card, and nothing else is', async () => {
  await using it = await ground()
  const asked: AcpStep = {
    request: 'session/request_permission',
    params: {
      toolCall: {
        toolCallId: 'c1',
        title: 'Write',
        kind: 'edit',
        content: [{ type: 'diff', path: '$CWD/a.txt', newText: 'new\n' }],
      },
      options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
    },
  }
  const { cards, ask } = person(['yes'], ['no'], ['no'], ['no'])
  const steps = [asked, write('$CWD/a.txt'), write('$CWD/a.txt', 'other\n'), write('$CWD/b.txt'), write('$CWD/a.txt')]
  await played(it, script(...steps), { ask })
  assert.deepEqual(
    { cards: cards.length, text: await readFile(join(it.cwd, 'a.txt'), 'utf8') },
    { cards: 4, text: 'new\n' },
  )
})

const permission = (toolCall: object): AcpStep => ({
  request: 'session/request_permission',
  params: {
    toolCall: { toolCallId: 'c1', title: 'It', ...toolCall },
    options: [
      { optionId: 'once', name: 'Yes', kind: 'allow_once' },
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
    ],
  },
})
const commandsOf = (cards: readonly Question[]) =>
  cards.flatMap(({ shows = [] }) => shows.flatMap((shown) => (shown.type === 'command' ? [shown.command] : [])))

test('a yes to a command is for once, in its place and without other variables; an always is for that command', async () => {
  const asked = permission({ kind: 'execute', rawInput: { command: 'true' } })
  const env = [{ name: 'PATH', value: '/tmp/evil bin' }]
  const steps = [
    asked,
    create('true', { env }),
    create('true', { cwd: '$CWD/src' }),
    create('true'),
    create('true'),
    create('true', { env: [{ name: 'A=1 echo #', value: 'x' }] }),
  ]
  const found: Record<string, unknown> = {}
  for (const pick of ['once', 'always']) {
    await using it = await ground()
    await mkdir(join(it.cwd, 'src'))
    const { cards, ask } = person([pick], ['no'], ['no'], ['no'], ['no'], ['no'])
    await played(it, script(...steps), { ask })
    found[pick] = [commandsOf(cards.slice(1)), (await it.answers()).slice(1).map(({ result }) => result !== undefined)]
  }
  const variables = "PATH='/tmp/evil bin' true"
  const odd = "'A=1 echo #'=x true"
  assert.deepEqual(found, {
    once: [
      [variables, 'true', 'true', odd],
      [false, false, true, false, false],
    ],
    always: [
      [variables, 'true', odd],
      [false, false, true, true, false],
    ],
  })
})

test('an "always" for edits covers files of the project, and not files that Git runs', async (t) => {
  await using it = await ground()
  await mkdir(join(it.cwd, '.git', 'hooks'))
  const content = [{ type: 'diff', path: '$CWD/a.txt', newText: 'new\n' }]
  const { cards, ask } = person(['always'], ['no'])
  const steps = [permission({ kind: 'edit', content }), write('$CWD/b.txt'), write('$CWD/.git/hooks/pre-commit')]
  await played(it, script(...steps), { ask })
  golden(t, [cards[1]?.shows, (await it.answers()).slice(1).map(came)])
})

test('commands run as the leash allows, in the project alone', async () => {
  const found: Record<string, unknown> = {}
  for (const leash of ['read', 'ask', 'edit', 'all'] as Leash[]) {
    await using it = await ground()
    const { cards, ask } = person(['once'], ['no'], undefined)
    const steps = [
      create('echo', { args: ['it is'] }),
      create('echo $HOME'),
      create('true', { cwd: '$CWD' }),
      create('true', { cwd: '/' }),
    ]
    const events = await played(it, script(...steps), { leash, ask })
    const end = events.at(-1)
    found[leash] = {
      ran: (await it.answers()).map(({ result }) => result !== undefined),
      cards: cards.map(({ shows }) => shows?.map((shown) => (shown.type === 'command' ? shown.command : ''))),
      denials: end?.type === 'end' && end.outcome.ok ? end.outcome.denials : 'no answer',
    }
  }
  const lines = ["echo 'it is'", 'echo $HOME', 'true']
  const asked = { ran: [true, false, false, false], cards: lines.map((line) => [line]) }
  assert.deepEqual(found, {
    read: { ran: [false, false, false, false], cards: [], denials: [...lines].map((line) => `running ${line}`) },
    ask: { ...asked, denials: ['running true'] },
    edit: { ...asked, denials: ['running true'] },
    all: { ran: [true, true, true, false], cards: [], denials: ['running true'] },
  })
})

test('a terminal returns its output and its exit, belongs to its call, and none outlives the turn', async () => {
  await using it = await ground()
  const of = (request: any, terminalId: string): AcpStep => ({ request, params: { terminalId }, fails: true })
  const events = await played(
    it,
    {
      steps: [
        create('printf "\\303\\244bc\\ndef"; exit 3', { outputByteLimit: 7 }),
        of('terminal/wait_for_exit', '$1'),
        of('terminal/output', '$1'),
        {
          update: {
            sessionUpdate: 'tool_call',
            toolCallId: 'c1',
            title: 'x',
            content: [{ type: 'terminal', terminalId: '$1' }],
          },
        },
        of('terminal/release', '$1'),
        { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' } },
        of('terminal/output', '$1'),
        create('echo $OWN; sleep 99', { env: [{ name: 'OWN', value: 'mine' }] }),
        of('terminal/kill', '$2'),
        of('terminal/wait_for_exit', '$2'),
        create('sleep 99 & wait'),
        { say: 'Done.' },
      ],
    },
    { leash: 'all' },
  )
  const answers = (await it.answers()).map(came)
  assert.deepEqual(answers.slice(1, 5), [
    { exitCode: 3, signal: null },
    { output: 'bc\ndef', truncated: true, exitStatus: { exitCode: 3, signal: null } },
    {},
    `There is no terminal ${answers[0].terminalId}.`,
  ])
  assert.deepEqual(answers[7], { exitCode: null, signal: 'SIGTERM' })
  const result = events.find(({ type }) => type === 'result')
  assert.deepEqual(result, { type: 'result', call: 'c1', ok: true, text: 'bc\ndef' })
  assert.deepEqual(await running(), [])
})

test('an added folder is handed to an agent that takes it, and is read and edited like the project', async (t) => {
  await using it = await ground()
  const shared = join(it.cwd, '..', 'shared')
  await mkdir(join(shared, '.git'), { recursive: true })
  await writeFile(join(shared, 'a.txt'), 'there')
  await symlink('..', join(shared, 'up'))
  const over = { folders: [shared] }
  const steps = [
    read('$CWD/../shared/a.txt'),
    write('$CWD/../shared/new.txt'),
    read('$CWD/../shared/up/in.jsonl'),
    write('$CWD/../shared/.git/config'),
  ]
  await played(it, { ...script(...steps), takesFolders: true }, { leash: 'edit', over })
  const answers = (await it.answers()).map(came)
  assert.deepEqual(answers.slice(0, 2), [{ content: 'there' }, {}])
  golden(t, answers[2], { [it.cwd]: '<cwd>' })
  golden(t, answers[3], { [shared]: '<shared>' })
  assert.equal(await readFile(join(shared, 'new.txt'), 'utf8'), 'new\n')
  const begun = (await it.sent()).filter(({ method }) => method === 'session/new').map(({ params }) => params)
  assert.deepEqual(begun, [{ cwd: it.cwd, mcpServers: [], additionalDirectories: [shared] }])
})

test('an agent that does not take further folders is not sent them', async () => {
  await using it = await ground()
  await played(it, script(), { over: { folders: [it.cwd] } })
  const begun = (await it.sent()).filter(({ method }) => method === 'session/new').map(({ params }) => params)
  assert.deepEqual(begun, [{ cwd: it.cwd, mcpServers: [] }])
})
