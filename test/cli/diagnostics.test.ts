import { pathOf } from '../system-path.ts'
import type { Answer, Asked } from '../real/model-server.ts'
import type { Behaviour } from '../languages/scripted-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { putServer } from '../languages/rig.ts'
import { hiddenClone, noSandbox } from '../safety/no-sandbox.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000, skip: hiddenClone }

const create = (file_path: string, content: string): Answer => ({
  call: { tool: 'file_creator', input: { file_path, content } },
})

/** Our own agent on a scripted model that makes these calls one after another, with a scripted server on the PATH. */
class Editing {
  readonly machine: Machine
  readonly bin: string
  readonly env: Record<string, string> = {}
  #port = 0
  #asked: () => Asked[] = () => []
  #settings: object

  /** Edits wait for a minute: the speed of the machine is not what is tested here. */
  constructor(t: TestContext, settings: object = { diagnostics: { seconds: 60 } }) {
    this.machine = new Machine(t)
    this.bin = join(this.machine.folder, 'bin')
    // The program of the scripted server lies among these tests.
    this.#settings = { sandbox: { show: [dirname(import.meta.dirname)] }, ...settings }
    mkdirSync(this.bin)
  }

  async on(t: TestContext, calls: readonly Answer[], folder?: 'untrusted'): Promise<this> {
    const server = await modelServer(({ count }) => calls[count - 1] ?? { text: 'done' })
    t.after(() => server.close())
    this.#port = Number(new URL(server.url).port)
    this.#asked = () => server.turns()
    const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    const agents = [{ ...agent, contextWindowTokens: 200_000, leash: 'edit' }]
    this.machine.settings({ metaInstruction: false, ...this.#settings, agents })
    // Without a sandbox a server runs only in a trusted folder.
    if (noSandbox && folder !== 'untrusted') await this.run('trust', '--yes')
    return this
  }

  server(behaviour: (port: number) => Behaviour, folder = this.bin, name = 'gopls'): void {
    putServer(folder, behaviour(this.#port), name)
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.machine.project, path)), { recursive: true })
    writeFileSync(join(this.machine.project, path), text)
  }

  async run(...args: string[]) {
    const PATH = pathOf(this.bin)
    const ran = await this.machine.run(args, { env: { ANTHROPIC_API_KEY: 'made-up-key', PATH, ...this.env } })
    assert.equal(ran.code, 0, ran.err)
    return ran
  }

  /** The results as the model was sent them. */
  results(): string[] {
    return this.machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
  }

  requests(): Asked[] {
    return this.#asked()
  }
}

test('errors come back with the edit, and the requests stay prefixes of each other', options, async (t) => {
  const editing = await new Editing(t).on(t, [
    create('a.go', 'error x\n'),
    {
      call: {
        tool: 'file_editor',
        input: { file_path: 'a.go', edits: [{ old_string: 'error x', new_string: 'fine' }] },
      },
    },
  ])
  editing.server(() => ({ tells: 'pull' }))
  await editing.run('-p', 'go')
  assert.deepEqual(editing.results(), [
    'Wrote a.go (1 line).\n\nGo reports 1 error in a.go after this edit:\n- line 1, column 1: x (error)',
    'Made 1 edit in a.go.\n\nGo no longer reports errors in a.go.',
  ])
  const messages = editing
    .requests()
    .map(({ body }) => JSON.stringify(body.messages).replaceAll(/,"cache_control":\{[^}]*\}/g, ''))
  for (const [at, text] of messages.slice(1).entries()) assert.ok(text.startsWith(messages[at]!.slice(0, -1)))
})

test('the setting switches it off, also for one language', options, async (t) => {
  for (const [diagnostics, begun] of [
    [false, false],
    [{ go: false }, false],
    [{ python: false, seconds: 60 }, true],
  ] as const) {
    const editing = await new Editing(t, { diagnostics }).on(t, [create('a.go', 'error x\n')])
    editing.server(() => ({ tells: 'pull' }))
    await editing.run('-p', 'go')
    assert.equal(editing.results()[0]!.includes('Go reports'), begun)
  }
})

test(
  'behind the wall a server reads no key, writes nothing and reaches nobody',
  { ...options, skip: noSandbox || hiddenClone },
  async (t) => {
    const editing = await new Editing(t).on(t, [create('a.go', 'fine\n')])
    // The home is not in /tmp, which the wall hides whole.
    const home = mkdtempSync('/var/tmp/termaite-home-')
    t.after(() => rmSync(home, { recursive: true }))
    editing.env.HOME = home
    mkdirSync(join(home, '.ssh'))
    writeFileSync(join(home, '.ssh', 'id_ed25519'), 'secret')
    const write = [join(editing.machine.project, 'planted'), join(home, '.bashrc'), '/var/tmp/termaite-planted']
    editing.server((port) => ({ tells: 'pull', spies: { read: join(home, '.ssh', 'id_ed25519'), write, port } }))
    await editing.run('-p', 'go')
    assert.deepEqual(editing.results()[0]!.split('\n'), [
      'Wrote a.go (1 line).',
      '',
      'Go reports 6 errors in a.go after this edit:',
      '- line 1, column 1: read a key: ENOENT',
      '- line 2, column 1: write 0: EROFS',
      '- line 3, column 1: write 1: EROFS',
      '- line 4, column 1: write 2: EROFS',
      '- line 5, column 1: network: ECONNREFUSED',
      '- line 6, column 1: keys:',
    ])
    assert.deepEqual(write.filter(existsSync), [])
  },
)

test(
  'a server that lies in the project runs only after the person trusted the folder',
  { ...options, skip: noSandbox || hiddenClone },
  async (t) => {
    const editing = await new Editing(t).on(t, [
      create('a.py', 'error x\n'),
      { text: 'done' },
      create('b.py', 'error x\n'),
    ])
    const inside = join(editing.machine.project, '.venv', 'bin')
    editing.server(() => ({ tells: 'pull' }), inside, 'pylsp')
    const first = await editing.run('-p', 'go')
    assert.deepEqual(editing.results(), ['Wrote a.py (1 line).'])
    assert.match(first.err, /The language server pylsp \(\.venv\/bin\/pylsp\) is not used, .* run termaite trust\./)
    await editing.run('trust', '--yes')
    await editing.run('-p', 'go')
    assert.equal(
      editing.results()[1],
      'Wrote b.py (1 line).\n\nPython reports 1 error in b.py after this edit:\n- line 1, column 1: x (error)',
    )
  },
)

test('a server that hangs or ends delays no turn and is named', options, async (t) => {
  const editing = await new Editing(t).on(t, [create('a.go', 'x\n'), create('b.go', 'x\n'), create('c.go', 'x\n')])
  editing.server(() => ({ fault: 'stillborn' }))
  const { err } = await editing.run('-p', 'go')
  assert.deepEqual(editing.results(), ['Wrote a.go (1 line).', 'Wrote b.go (1 line).', 'Wrote c.go (1 line).'])
  assert.match(err, /The language server gopls exited again and again.*no licence; it ended with 3/)
})

test(
  'without a sandbox a server is not started before the person has trusted the folder, and the note says so',
  options,
  async (t) => {
    const editing = new Editing(t, { diagnostics: { seconds: 60 }, sandbox: { enabled: false } })
    await editing.on(
      t,
      [
        ...['a', 'c', 'd'].map((name) => create(`${name}.go`, 'error x\n')),
        { text: 'done' },
        create('b.go', 'error y\n'),
      ],
      'untrusted',
    )
    editing.server(() => ({ tells: 'pull' }))
    const { err } = await editing.run('-p', 'go')
    assert.deepEqual(editing.results(), ['Wrote a.go (1 line).', 'Wrote c.go (1 line).', 'Wrote d.go (1 line).'])
    golden(t, err.split('\n')[0]!)
    await editing.run('trust', '--yes')
    await editing.run('-p', 'go')
    assert.match(editing.results()[3]!, /^Wrote b\.go \(1 line\)\.\n\nGo reports 1 error in b\.go after this edit:/)
  },
)

test('the doctor names the servers that it found, and how to install others', options, async (t) => {
  const editing = await new Editing(t).on(t, [])
  editing.server(() => ({ tells: 'pull' }))
  const { out } = await editing.run('doctor', '--quick', '--verbose')
  const title = 'Language servers, which tell termaite’s own agent the errors after an edit:'
  const lines = out.split('\n')
  const go = lines.find((line) => line.includes(' Go '))
  assert.ok(lines.includes(title))
  assert.equal(go, `    Go         gopls (${join(editing.bin, 'gopls')})`)
  assert.ok(
    lines.some((line) =>
      /^ {4}Python +no language server; to install one: npm install --global pyright, or /.test(line),
    ),
    out,
  )
})
