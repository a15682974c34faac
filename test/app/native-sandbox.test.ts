import { AddedFolders } from '../../src/app/added-folders.ts'
import { newNativeState } from '../../src/app/native/native-parts.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { slugOf } from '../../src/app/project.ts'
import { openBorder } from '../../src/safety/border.ts'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Wall, WallLimits } from '../../src/safety/wall/wall.ts'
import type { Tool, ToolCall } from '../../src/core/work/tool.ts'
import type { NativeParts, NativeSeat } from '../../src/app/native/native-parts.ts'
import type { ProjectDoc } from '../../src/app/project.ts'
import { realClock } from '../../src/base/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { toolboxOf } from '../../src/app/native/toolbox.ts'
import { policyFor } from '../../src/app/native/native-permissions.ts'
import { ScratchRooms } from '../../src/app/native/native-scratch.ts'
import { agentShell } from '../../src/app/native/native-sandbox.ts'
import { sandboxWords, wallPrompt } from '../../src/app/native/wall-words.ts'
import { permissionsOf } from '../../src/settings/permissions.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const root = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
writeFileSync(join(root, 'package.json'), '{"scripts":{"test":"node --test"}}')
process.on('exit', () => rmSync(root, { recursive: true, force: true }))

/** A wall that says in the command line what it lets through: `write git sockets network`. */
const system: Wall = {
  none: async () => undefined,
  wrap: async (command, limits) => ({
    argv: [shown(limits), ...command],
    settle: async () => ['The file .git/commondir was removed.'],
  }),
}
const shown = ({ project, git, sockets, network }: WallLimits) =>
  [project, git === 'write' && 'git', sockets && 'sockets', network && 'network'].filter(Boolean).join(' ')
const without: Wall = { none: async () => 'it rains', wrap: async () => ({ none: 'it rains' }) }

type Held = {
  leash?: Leash
  network?: 'rule' | 'all' | 'none'
  enabled?: boolean
  allow?: string[]
  run?: string[]
  outside?: string[]
  env?: Record<string, string>
}

function held(
  { leash = 'edit', network = 'rule', enabled = true, allow = [], run = [], outside = [], env = {} }: Held,
  sandbox = system,
) {
  const store = memoryStore()
  const settings = {
    agents: [],
    hooks: {},
    permissions: permissionsOf({ allow }, { allow: run }),
    sandbox: { enabled, network },
  }
  const seat = { agent: { name: 'own' }, settings, leash, window: 1 } as unknown as NativeSeat
  const opened: string[] = []
  const rooms = new ScratchRooms(async () => {
    const folder = `/scratch/${opened.push('open')}`
    return { folder, close: async () => void opened.push(`close ${folder}`) }
  })
  const parts: NativeParts = {
    ...{ home: root, root, cwd: root, env: { HOME: '/nowhere', ...env }, clock: realClock, session: 's' },
    border: openBorder({ env: {} }),
    store,
    audited: true,
    blobs: store.blobs('output'),
    project: store.doc<ProjectDoc>('project', { path: root, lastUsed: 0, sessions: {}, outside }),
    folders: new AddedFolders(),
    state: { ...newNativeState(), sandbox, seats: new Map([['own', seat]]), scratches: new Map([['own', rooms]]) },
  }
  const call = (ask: ToolCall['ask'] = async () => undefined) =>
    ({ cwd: root, leash, ask, signal: new AbortController().signal }) as ToolCall
  return { parts, seat, call, rooms, opened, walls: agentShell('own', parts, () => toolboxOf('own', parts).box.tools) }
}

async function program(command: string, how: Held = {}): Promise<string> {
  const { walls, call } = held(how)
  return (await walls.shell(command, call())).argv[0]
}

test('the leash decides what a command may write, and git is writable for a git command that writes', async () => {
  const at = async (leash: Leash) =>
    Object.fromEntries(
      await Promise.all(
        [
          'ls',
          'npm test',
          './x.sh $Y',
          'git status',
          'git commit -m x',
          'make && git tag v1',
          'for f in *; do git add "$f"; done',
        ].map(async (command) => [command, await program(command, { leash })] as const),
      ),
    )
  assert.deepEqual(await at('read'), {
    ls: 'read',
    'npm test': 'read',
    './x.sh $Y': 'read',
    'git status': 'read',
    'git commit -m x': 'read',
    'make && git tag v1': 'read',
    'for f in *; do git add "$f"; done': 'read',
  })
  const edit = {
    'npm test': 'write sockets',
    './x.sh $Y': 'write sockets',
    'git commit -m x': 'write git sockets',
    'make && git tag v1': 'write git sockets',
    'for f in *; do git add "$f"; done': 'write git sockets',
  }
  assert.deepEqual(await at('edit'), { ls: 'write sockets', 'git status': 'write sockets', ...edit })
  // At `ask`, a command that looks runs without a yes; every other one was allowed.
  assert.deepEqual(await at('ask'), { ls: 'read', 'git status': 'read', ...edit })
  assert.deepEqual([...new Set(Object.values(await at('all')))], ['bash'])
})

test('without a sandbox, a command that may only look gets no variable that could make it do more, and no key', async () => {
  const given = { CDPATH: '/etc', GLOBIGNORE: '*', BASH_ENV: '/x', GITHUB_TOKEN: 'made-up', LANG: 'C' }
  const { walls, call } = held({ leash: 'read', env: given }, without)
  const { env = {} } = await walls.shell('ls', call())
  assert.deepEqual(
    Object.keys(given).map((name) => env[name]),
    [undefined, undefined, undefined, undefined, 'C'],
  )
})

test('a command reaches the network where a rule or a yes gives it one', async () => {
  const reaches = async (command: string, how: Held = {}) => {
    const by = await program(command, how)
    return by === 'bash' ? by : by.split(' ').includes('network') ? 'open' : 'closed'
  }
  assert.deepEqual(
    {
      'what looks': await reaches('ls'),
      'what runs the project’s own': await reaches('npm test'),
      'what is not known, and ran without a question': await reaches('frobnicate --now'),
      'what reaches out was asked for': await reaches('curl https://example.com'),
      'what installs was asked for': await reaches('npm install left-pad'),
      'a server of this turn': await reaches('curl -s http://127.0.0.1:3000/x'),
      'a server of this turn and another': await reaches('curl http://localhost http://x.org'),
      'a reader': await reaches('npm test', { leash: 'read' }),
      'a reader with a rule for the web': await reaches('npm test', { leash: 'read', allow: ['WebFetch'] }),
      'a rule for the web': await reaches('npm test', { allow: ['WebFetch'] }),
      'a rule of this run': await reaches('npm test', { run: ['web_fetch'] }),
      'a rule for one host is none for a shell': await reaches('npm test', { allow: ['WebFetch(domain:a.org)'] }),
      'the whole leash has no wall': await reaches('npm test', { leash: 'all' }),
      'the settings open it': await reaches('ls', { network: 'all' }),
      'the settings close it': await reaches('curl https://example.com', { network: 'none' }),
      'the settings close it at every leash': await reaches('curl https://example.com', {
        network: 'none',
        leash: 'all',
      }),
      'the settings switch it off': await reaches('ls', { enabled: false }),
    },
    {
      'what looks': 'closed',
      'what runs the project’s own': 'closed',
      'what is not known, and ran without a question': 'closed',
      'what reaches out was asked for': 'open',
      'what installs was asked for': 'open',
      'a server of this turn': 'closed',
      'a server of this turn and another': 'open',
      'a reader': 'closed',
      'a reader with a rule for the web': 'open',
      'a rule for the web': 'open',
      'a rule of this run': 'open',
      'a rule for one host is none for a shell': 'closed',
      'the whole leash has no wall': 'bash',
      'the settings open it': 'open',
      'the settings close it': 'closed',
      'the settings close it at every leash': 'closed',
      'the settings switch it off': 'bash',
    },
  )
})

test('a command that needs the machine itself was asked for, and runs outside; a reader never does', async () => {
  const away = [
    'git push',
    'ls && git fetch',
    'docker compose up',
    'ssh host',
    'git commit -S -m x',
    'sudo ls',
    'npm i -g x',
    'cp a /opt/a',
    'cat ~/.ssh/id_rsa',
    'npm publish',
  ]
  const inside = ['npm install', 'curl x.org', 'git reset --hard', 'rm -rf dist', 'cat ../x', 'echo x > /tmp/x', 'env']
  const by = (commands: string[], how?: Held) => Promise.all(commands.map((command) => program(command, how)))
  assert.deepEqual(
    await by(away),
    away.map(() => 'bash'),
  )
  assert.deepEqual(
    (await by(inside)).filter((one) => one === 'bash'),
    [],
  )
  assert.deepEqual([...new Set(await by([...away, ...inside], { leash: 'read' }))], ['read'])
  assert.deepEqual(
    (await by(away, { network: 'none' })).filter((one) => one === 'bash'),
    [],
  )
})

test('a rule of the person lets a command run outside, whole and alone', async () => {
  const how = { outside: ['bash(npm test)', 'bash(make serve:*)'] }
  const by = async (command: string, more: Held = {}) => (await program(command, { ...how, ...more })).split(' ')[0]
  assert.deepEqual(
    [
      await by('npm test'),
      await by('cd src && make serve PORT=1'),
      await by('make serve; make other'),
      await by('npm test -- --all'),
      await by('npm test', { leash: 'read' }),
      await by('npm test', { network: 'none' }),
    ],
    ['bash', 'bash', 'write', 'write', 'read', 'write'],
  )
})

test('a package script that changes after it was judged does not lead outside, nor to the network', async () => {
  const { walls, call, parts, seat } = held({})
  const { tools } = toolboxOf('own', parts).box
  const bash = tools.find(({ name }) => name === 'bash')!
  const policy = await policyFor(seat, tools, [], parts)
  const script = (text: string) => writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { x: text } }))
  const places: (string | undefined)[] = []
  const spy = walls.explain({
    ...bash,
    async run({ command }: { command: string }, own: ToolCall) {
      places.push((await walls.shell(command, own)).argv[0])
      return ''
    },
  })
  for (const later of ['docker run -v /:/host x', 'curl example.com']) {
    const input = { command: 'npm run x' }
    script('echo fine')
    const { verdict } = await policy(bash, input, { ...call(), leash: 'edit' } as unknown as Turn)
    script(later)
    await spy.run(input, call())
    places.push(verdict)
  }
  assert.deepEqual(places, ['write sockets', 'yes', 'write sockets', 'yes'])
})

test('behind the wall the environment has no keys, the variables of the settings, and caches of the project’s own', async () => {
  const env = { GROQ_API_KEY: 'made-up', GH_TOKEN: 'made-up', APP_MODE: 'x', OTHER: 'x', EDITOR: 'vi' }
  const { walls, call, parts, seat } = held({ env })
  seat.settings.sandbox.env = ['APP_MODE']
  const names = ['EDITOR', 'APP_MODE', 'OTHER', 'GROQ_API_KEY', 'GH_TOKEN', 'GIT_OPTIONAL_LOCKS', 'npm_config_cache']
  const { env: given = {} } = await walls.shell('npm test', call())
  const caches = join(parts.home, 'projects', slugOf(root), 'caches')
  assert.deepEqual(
    names.map((name) => given[name]),
    ['vi', 'x', undefined, undefined, undefined, '0', join(caches, 'npm')],
  )
  const reader = held({ env, leash: 'read' })
  const { env: read = {} } = await reader.walls.shell('npm test', reader.call())
  assert.match(read.npm_config_cache ?? '', /^\/tmp\/caches\/npm$|^\/scratch\//)
})

test('commands of a turn share a room; readers have another, and it closes with the turn unless a command goes on in it', async () => {
  const { walls, call, rooms, opened } = held({})
  const where = async (leash: Leash) => (await walls.shell('npm test', { ...call(), leash })).walls
  rooms.begin()
  const [first, second, reader] = [await where('edit'), await where('ask'), await where('read')]
  assert.deepEqual([first === second, first === reader], [true, false])
  await rooms.end(true)
  assert.equal(await where('edit'), first)
  rooms.begin()
  await rooms.end(false)
  assert.deepEqual(opened, ['open', 'open', 'close /scratch/1', 'close /scratch/2'])
})

test('files that a command must not leave behind are named to the model and to the person', async () => {
  const { walls, call, parts } = held({})
  const { settle } = await walls.shell('git commit -m x', call())
  assert.deepEqual(await settle?.(), ['The file .git/commondir was removed.'])
  assert.deepEqual(parts.state.notes, ['The file .git/commondir was removed.'])
})

/** A bash tool that prints what it is told inside the wall, and `fine` outside. */
function scripted(how: Held, printed: string, picks: string[] | undefined) {
  const { walls, call, parts } = held(how)
  const asked: Question[] = []
  const bash = walls.explain({
    name: 'bash',
    effect: ({ command }: { command: string }) => ({ does: 'command', command }),
    async run({ command }: { command: string }, own: ToolCall) {
      const [first] = (await walls.shell(command, own)).argv
      return first === 'bash' ? { text: 'fine', data: { exit: 0 } } : { text: printed, data: { exit: 1 } }
    },
  } as unknown as Tool)
  const given = call(async (question) => (asked.push(question), picks))
  const run = async (command: string) => (await bash.run({ command }, given)) as { text: string }
  return { run, asked, parts }
}

test('a refusal is said to both, asked about once, and run outside after a yes', async (t) => {
  const command = 'make install'
  const printed = "install: cannot create '/opt/x': Read-only file system"
  const { run, asked, parts } = scripted({}, printed, ['once'])
  golden(t, await run(command))
  golden(t, asked, { [parts.root]: '<parts>' })
  golden(t, parts.state.notes)
  // The second refusal of the same command is not asked about.
  golden(t, (await run(command)).text)
  assert.equal(asked.length, 1)
})

test('"always" is kept for the project, a no and an empty room are told to the model', async (t) => {
  const printed = "touch: cannot touch '/etc/x': Read-only file system"
  const always = scripted({}, printed, ['always'])
  assert.match((await always.run('make x')).text, /^fine\n/)
  assert.deepEqual((await always.parts.project.read()).outside, ['bash(make x)'])
  golden(t, (await always.run('make x')).text)
  const ends = async (how: Held, picks: string[] | undefined) => {
    const { run, asked } = scripted(how, printed, picks)
    return [(await run('make x')).text.split('only in the project')[1], asked.length]
  }
  golden(t, [
    await ends({}, ['no']),
    await ends({}, undefined),
    await ends({ leash: 'read' }, ['once']),
    await ends({ network: 'none' }, ['once']),
  ])
})

test('a failure that is not the sandbox’s is left alone, and so is a command that ended well', async () => {
  for (const printed of ['one test failed', 'bash: ./x.sh: Permission denied', 'error: EACCES in module foo']) {
    const { run, asked } = scripted({}, printed, ['once'])
    assert.deepEqual([(await run('make x')).text, asked], [printed, []])
  }
  const { walls, call } = held({})
  const given = call()
  const fine = walls.explain({
    effect: ({ command }: { command: string }) => ({ does: 'command', command }),
    run: async ({ command }: { command: string }, own: ToolCall) => {
      await walls.shell(command, own)
      return { text: 'x: Read-only file system', data: { exit: 0 } }
    },
  } as unknown as Tool)
  assert.deepEqual(await fine.run({ command: 'cat log' }, given), {
    text: 'x: Read-only file system',
    data: { exit: 0 },
  })
})

test('a missing sandbox is reported once in a project, and on request', async (t) => {
  const { parts, seat, walls, call } = held({}, without)
  assert.deepEqual(await walls.shell('ls', call()), { argv: ['bash', '-c', 'ls'] })
  await walls.shell('ls', call())
  golden(t, parts.state.notes)
  golden(t, await sandboxWords(seat.settings, without, 'edit'))
})

test('the person is told what holds the commands of each leash', async (t) => {
  const { settings } = held({}).seat
  const say = (leash: Leash, wall = system) => sandboxWords(settings, wall, leash)
  golden(t, {
    read: await say('read'),
    ask: await say('ask'),
    edit: await say('edit'),
    all: await say('all'),
    'read without': await say('read', without),
    closed: await sandboxWords({ ...settings, sandbox: { enabled: true, network: 'none' } }, system, 'all'),
  })
})

test('the model is told about the sandbox in a sentence', (t) => {
  golden(t, wallPrompt('all', undefined))
  golden(t, wallPrompt('edit', { network: 'asked' }))
  golden(t, wallPrompt('read', { network: 'closed' }))
})

test('a wall that cannot be built after the policy counted on it lets nothing run', async (t) => {
  const broken: Wall = { none: async () => undefined, wrap: async () => ({ none: 'no memory' }) }
  const { walls, call } = held({}, broken)
  await golden.rejects(t, walls.shell('ls', call()))
})

test('files from which programs could start are asked about once for a command, and only while its call lasts', async (t) => {
  const taken = { id: 'x', root, at: 0, files: ['.github/hooks/x.json', '.env'] }
  const keeping: Wall = {
    none: async () => undefined,
    wrap: async (command) => ({
      argv: command,
      settle: async (keep) => [(await keep?.(taken)) ? 'kept' : 'taken'],
    }),
  }
  const asked: Question[] = []
  const said = async (picks: string[] | undefined, late = false) => {
    const { walls, call } = held({}, keeping)
    let settle: (() => Promise<string[]>) | undefined
    const bash = walls.explain({
      name: 'bash',
      effect: ({ command }: { command: string }) => ({ does: 'command', command }),
      run: async ({ command }: { command: string }, own: ToolCall) => {
        settle = (await walls.shell(command, own)).settle
        return { text: late ? '' : (await settle!()).join(), data: { exit: 0 } }
      },
    } as unknown as Tool)
    const given = call(async (question) => {
      asked.push(question)
      return picks
    })
    const output = await bash.run({ command: 'make it' }, given)
    return late ? (await settle!()).join() : (output as { text: string }).text
  }
  assert.deepEqual(
    [await said(['once']), await said(['no']), await said(undefined), await said(['once'], true)],
    ['kept', 'taken', 'taken', 'taken'],
  )
  assert.equal(asked.length, 3)
  golden(t, asked[0], { [root]: '<root>' })
})
