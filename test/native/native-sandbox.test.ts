import { AddedFolders } from '../../src/native/added-folders.ts'
import { newNativeState } from '../../src/native/native-parts.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { slugOf } from '../../src/home/project.ts'
import { openBorder } from '../../src/safety/border.ts'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Wall, WallLimits } from '../../src/safety/wall/wall.ts'
import type { Tool, ToolCall } from '../../src/core/work/tool.ts'
import type { NativeParts, NativeSeat } from '../../src/native/native-parts.ts'
import type { ShellStart } from '../../src/native/tools/shared/tool-parts.ts'
import type { ProjectDoc } from '../../src/home/project.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { toolboxOf } from '../../src/native/toolbox.ts'
import { policyFor } from '../../src/native/native-permissions.ts'
import { ScratchRooms } from '../../src/native/native-scratch.ts'
import { homeView } from '../../src/native/command-home.ts'
import { agentShell } from '../../src/native/native-sandbox.ts'
import { sandboxWords, wallPrompt } from '../../src/native/wall-words.ts'
import { permissionsOf } from '../../src/settings/permission-settings.ts'
import { isWithin } from '../../src/base/files/real-path.ts'
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
    sees: () => true,
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
  scope?: string[]
}

function held(
  { leash = 'edit', network = 'rule', enabled = true, allow = [], run = [], outside = [], env = {}, scope }: Held,
  sandbox = system,
) {
  const store = memoryStore()
  const settings = {
    agents: [],
    hooks: {},
    permissions: permissionsOf({ allow }, { allow: run }),
    sandbox: { enabled, network },
  }
  const limits = scope && { scope }
  const seat = { agent: { name: 'own' }, settings, leash, window: 1, limits } as unknown as NativeSeat
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
    state: newNativeState({ sandbox, seats: new Map([['own', seat]]), scratches: new Map([['own', rooms]]) }),
  }
  const call = (ask: ToolCall['ask'] = async () => undefined) =>
    ({ cwd: root, leash, ask, signal: new AbortController().signal }) as ToolCall
  return { parts, seat, call, rooms, opened, walls: agentShell('own', parts, () => toolboxOf('own', parts).box.tools) }
}

/** Lets the policy decide about a command, and starts it as if it were allowed. */
async function started(command: string, how: Held = {}, sandbox = system) {
  const { walls, call, parts, seat } = held(how, sandbox)
  const { tools } = toolboxOf('own', parts).box
  const bash = tools.find(({ name }) => name === 'bash')!
  const policy = await policyFor(seat, tools, [], parts)
  const input = { command }
  const { verdict } = await policy(bash, input, { ...call(), leash: seat.leash } as unknown as Turn)
  let start: ShellStart | undefined
  const spy = walls.explain({
    ...bash,
    async run(_: unknown, own: ToolCall) {
      start = await walls.shell(command, own)
      return ''
    },
  })
  if (verdict !== 'no') await spy.run(input, call())
  return { verdict, start }
}

/** What the policy says about a command, and the first word that starts it. */
async function program(command: string, how: Held = {}, sandbox = system): Promise<string> {
  const { verdict, start } = await started(command, how, sandbox)
  return start ? `${verdict}: ${start.argv[0]}` : verdict
}

test('the leash decides what a command may write', async () => {
  const commands = ['ls', 'npm test', './x.sh $Y', 'git status', 'git commit -m x', 'for f in *; do git add "$f"; done']
  const at = (leash: Leash) => Promise.all(commands.map((command) => program(command, { leash })))
  const [reads, writes] = ['yes: read', 'yes: write git sockets']
  assert.deepEqual(await at('read'), [reads, reads, reads, reads, reads, 'no'])
  assert.deepEqual([...new Set(await at('edit'))], [writes])
  // At `ask`, a command that looks runs without a yes; every other one was allowed.
  const asked = 'ask: write git sockets'
  assert.deepEqual(await at('ask'), [reads, asked, asked, reads, asked, asked])
  assert.deepEqual([...new Set(await at('all'))], ['yes: bash'])
})

test('without a sandbox a reader starts without a shell and with almost no environment, and everything else is asked about or refused', async () => {
  const given = {
    CDPATH: '/etc',
    GLOBIGNORE: '*',
    BASH_ENV: '/x',
    GITHUB_TOKEN: 'made-up',
    LD_PRELOAD: '/x',
    LANG: 'C',
  }
  for (const leash of ['read', 'ask', 'edit'] as const) {
    const { verdict, start } = await started('ls package.json', { leash, env: given }, without)
    assert.deepEqual(
      [verdict, start?.argv.slice(1), basename(start?.argv[0] ?? ''), start?.env],
      ['yes', ['--', 'package.json'], 'ls', { LANG: 'C' }],
    )
  }
  const by = async (command: string, how: Held) => program(command, how, without)
  assert.deepEqual(
    [
      await by('npm test', { leash: 'read' }),
      await by('npm test', { leash: 'ask' }),
      await by('npm test', { leash: 'edit' }),
      await by('npm test', { leash: 'all' }),
      await by('npm test', { leash: 'edit', allow: ['bash'] }),
      await by('npm test', { leash: 'edit', allow: ['bash(npm test)'] }),
      await program('npm test', { enabled: false }),
      await program('npm test', { enabled: false, leash: 'read' }),
    ],
    ['no', 'ask: bash', 'ask: bash', 'yes: bash', 'ask: bash', 'yes: bash', 'ask: bash', 'no'],
  )
  const { walls, call } = held({}, without)
  // A command that the policy did not decide about never runs without a wall.
  await assert.rejects(walls.shell('ls', call()))
})

test('a command reaches the network where the settings, a literal rule or a yes to the whole of it gives it one', async () => {
  const reaches = async (command: string, how: Held = {}) => {
    const by = await program(command, how)
    const [verdict, place = ''] = by.split(': ')
    return place === 'bash' ? by : `${verdict} ${place.split(' ').includes('network') ? 'open' : 'closed'}`
  }
  assert.deepEqual(
    {
      'what looks': await reaches('ls'),
      'what runs the project’s own': await reaches('npm test'),
      'what is not known, and ran without a question': await reaches('frobnicate --now'),
      'what reaches out is asked for': await reaches('curl https://example.com'),
      'what installs is asked for': await reaches('npm install left-pad'),
      'a rule for a beginning': await reaches('npm install left-pad', { allow: ['bash(npm install:*)', 'bash'] }),
      'a literal rule': await reaches('npm install left-pad', { allow: ['bash(npm install left-pad)'] }),
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
    },
    {
      'what looks': 'yes closed',
      'what runs the project’s own': 'yes closed',
      'what is not known, and ran without a question': 'yes closed',
      'what reaches out is asked for': 'ask open',
      'what installs is asked for': 'ask open',
      'a rule for a beginning': 'ask open',
      'a literal rule': 'yes open',
      'a server of this turn': 'yes closed',
      'a server of this turn and another': 'ask open',
      'a reader': 'yes closed',
      'a reader with a rule for the web': 'yes open',
      'a rule for the web': 'yes open',
      'a rule of this run': 'yes open',
      'a rule for one host is none for a shell': 'yes closed',
      'the whole leash has no wall': 'yes: bash',
      'the settings open it': 'yes open',
      'the settings close it': 'yes closed',
      'the settings close it at every leash': 'yes closed',
    },
  )
})

test('a command that needs the machine itself is asked for as a whole, and runs outside; a reader never does', async () => {
  const away = [
    'git push',
    'ls && git fetch',
    'docker compose up',
    'docker --version; node x.mjs',
    'ssh -V; node x.mjs',
    'gh --version && ./x.sh',
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
    away.map(() => 'ask: bash'),
  )
  assert.deepEqual(
    (await by(inside)).filter((one) => one.endsWith('bash')),
    [],
  )
  const refused = await by([...away, ...inside], { leash: 'read' })
  assert.deepEqual(
    refused.filter((one) => one !== 'no' && one !== 'yes: read'),
    [],
  )
  assert.deepEqual(
    (await by(away, { network: 'none' })).filter((one) => one.endsWith('bash')),
    [],
  )
})

test('a rule of the person lets a command run outside, whole and alone', async () => {
  const how = { outside: ['bash(npm test)', 'bash(make serve:*)'] }
  const by = async (command: string, more: Held = {}) =>
    (await program(command, { ...how, ...more })).split(' ').slice(0, 2)
  assert.deepEqual(
    [
      await by('npm test'),
      await by('make serve PORT=1'),
      await by('npm test -- --all'),
      await by('npm test; ls'),
      await by('npm test', { leash: 'read' }),
      await by('npm test', { network: 'none' }),
    ],
    ['yes: bash', 'yes: write', 'yes: write', 'yes: write', 'yes: read', 'yes: write'].map((one) => one.split(' ')),
  )
})

test('the project’s own keys are hidden until the person says yes once for the project', async (t) => {
  const key = join(root, '.env')
  writeFileSync(key, 'A=made-up')
  t.after(() => rmSync(key))
  const hidden: (readonly string[] | undefined)[] = []
  const asked: Question[] = []
  const watching: Wall = {
    ...system,
    wrap: async (command, limits) => (hidden.push(limits.hidden), system.wrap(command, limits)),
  }
  const session = (leash: Leash, picks: string[] | undefined) => {
    const { walls, call, parts, seat } = held({ leash }, watching)
    const { tools } = toolboxOf('own', parts).box
    const bash = tools.find(({ name }) => name === 'bash')!
    const spy = walls.explain({
      ...bash,
      run: async ({ command }: { command: string }, own: ToolCall) => (await walls.shell(command, own), ''),
    })
    return async (command: string) => {
      const policy = await policyFor(seat, tools, [], parts)
      const input = { command }
      const given = call(async (question) => (asked.push(question), picks))
      const { verdict } = await policy(bash, input, { ...given, leash } as unknown as Turn)
      if (verdict !== 'no') await spy.run(input, given)
      const seen = hidden.splice(0).map((files) => (files?.includes(key) ? 'hidden' : 'shown'))
      return [verdict, ...seen, asked.splice(0).length].join(' ')
    }
  }
  const yes = session('edit', ['shown'])
  const no = session('edit', ['hidden'])
  const nobody = session('edit', undefined)
  const read = session('read', ['shown'])
  assert.deepEqual(
    {
      'a yes': [await yes('ls'), await yes('npm test'), await yes('npm test'), await yes('node -e 1')],
      'a no': [await no('npm test'), await no('npm test'), await no('cat .env')],
      nobody: [await nobody('npm test'), await nobody('npm test')],
      read: [await read('npm test'), await read('cat .env')],
    },
    {
      'a yes': ['yes hidden 0', 'yes shown 1', 'yes shown 0', 'yes shown 0'],
      'a no': ['yes hidden 1', 'yes hidden 0', 'ask shown 0'],
      nobody: ['yes hidden 1', 'yes hidden 1'],
      read: ['yes hidden 0', 'no 0'],
    },
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
  assert.deepEqual(places, ['write git sockets', 'yes', 'write git sockets', 'yes'])
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
  const rc = join(given.HOME!, process.platform === 'darwin' ? 'Library/Preferences' : '.config', 'pnpm', 'rc')
  assert.equal(readFileSync(rc, 'utf8'), `store-dir=${join(caches, 'pnpm-store')}\n`)
  writeFileSync(rc, 'of the command\n')
  await walls.shell('npm test', call())
  assert.equal(readFileSync(rc, 'utf8'), 'of the command\n')
  assert.deepEqual(readdirSync(join(parts.home, 'projects', slugOf(root))).sort(), ['caches', 'home'])
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
  assert.deepEqual(parts.state.notes.waiting, ['The file .git/commondir was removed.'])
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
  golden(t, parts.state.notes.waiting)
  // The second refusal of the same command is not asked about.
  golden(t, (await run(command)).text)
  assert.equal(asked.length, 1)
})

test('a worker is told that its scope stopped a command, not a leash that it is not on', async (t) => {
  // As sed, bash, mkdir and mv say it behind the wall of a scope.
  const refusals = [
    "sed: couldn't open temporary file ./sedTgpsUY: Read-only file system",
    'bash: line 1: new.txt: Read-only file system',
    "mkdir: cannot create directory 'lib': Read-only file system",
    "mv: cannot move 'a.txt' to 'c.txt': Read-only file system",
  ]
  const scope = ['a.txt', 'new.txt']
  const told = async (how: Held, printed: string) => {
    const { run, asked } = scripted(how, printed, ['once'])
    return [(await run('make x')).text.split('\n'), asked.length]
  }
  golden(t, await Promise.all(refusals.map((printed) => told({ scope }, printed))))
  golden(t, await told({ scope, leash: 'read' }, refusals[1]!))
})

test('"always" is kept for the project, a no and an empty room are told to the model', async (t) => {
  const printed = "touch: cannot touch '/etc/x': Read-only file system"
  const always = scripted({}, printed, ['always'])
  assert.match((await always.run('make x')).text, /^fine\n/)
  assert.deepEqual((await always.parts.project.read()).outside, ['bash(make x)'])
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

test('the person is told what holds the commands of each leash', async (t) => {
  const { settings } = held({}).seat
  const say = (leash: Leash, wall = system) => sandboxWords(settings, wall, leash)
  golden(t, {
    read: await say('read'),
    ask: await say('ask'),
    edit: await say('edit'),
    all: await say('all'),
    'read without': await say('read', without),
    'edit without': await say('edit', without),
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
      sees: () => true,
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

test('sandbox.show opens neither keys nor termaite’s own files, nor a folder around them, nor a link that commands could place', async (t) => {
  const { parts, seat } = held({})
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [person, own, project, data] = ['person', 'person/.termaite', 'project', 'data'].map((name) =>
    join(base, name),
  ) as [string, string, string, string]
  for (const folder of [own, join(person, '.ssh'), join(person, 'code'), project, data])
    mkdirSync(folder, { recursive: true })
  writeFileSync(join(data, 'server.pem'), '')
  symlinkSync(person, join(base, 'around'))
  symlinkSync(join(person, '.ssh'), join(data, 'keys'))
  symlinkSync(join(person, 'code'), join(project, 'planted'))
  symlinkSync(data, join(base, 'linked'))
  const there = { ...parts, home: own, root: project, env: { HOME: person }, audited: false }
  const show = [
    ...['/', '~', '~/', '~/.ssh', '~/.termaite', '/proc', '/proc/self', '/dev', '/run', '/tmp', base],
    ...['around', 'data/keys', 'data/server.pem', 'project/planted', 'missing'].map((name) => join(base, name)),
    ...['~/code', data, join(base, 'linked')],
  ]
  const { shown } = await homeView({ ...seat.settings, sandbox: { ...seat.settings.sandbox, show } }, there)
  assert.deepEqual(
    shown.filter((path) => !isWithin(own, path)),
    [join(person, 'code'), data, join(base, 'linked')],
  )
  golden(t, there.state.notes.waiting, { [base]: '<base>' })
  await there.project.update((doc) => ({ ...doc, shown: [data, join(base, 'linked'), own] }))
  const agreed = await homeView(seat.settings, there)
  assert.deepEqual(
    agreed.shown.filter((path) => !isWithin(own, path)),
    [data],
  )
})
