import type { TestContext } from 'node:test'
import { suite, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathOf } from '../system-path.ts'
import { shortHash } from '../../src/base/hash.ts'
import { killed } from '../base/alive.ts'
import { codeCache, Machine, nativeOn, packageFolder, start } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { missingLine, pages, stepsOf, textOf } from './page-blocks.ts'
import { reasonNotToRun } from './unrun-commands.ts'

const here = import.meta.dirname
const root = join(here, '..', '..')
/** The scripts that take turns and change files, and those that only read: they review and advise. */
const [workers, readers] = [
  ['claude', 'codex'],
  ['gemini', 'gpt'],
]

/** A reader's machine: a repository with a test that fails, and scripts under the names of the agents' programs. */
class ReadersMachine extends Machine {
  readonly #bin = join(this.folder, 'bin')

  /** `model`: the address of a scripted model, for termaite's own agent. */
  constructor(context: TestContext, model: string) {
    super(context)
    mkdirSync(this.#bin)
    symlinkSync(this.project, join(this.folder, 'home', 'shop'))
    mkdirSync(this.home, { mode: 0o700 })
    const linked = (name: string, to: string) => symlinkSync(join(here, to), join(this.#bin, name))
    linked('termaite', 'termaite.sh')
    for (const name of [...workers, ...readers]) linked(name, 'scripted-cli.sh')
    // A workflow posts what it found; here that is only read.
    writeFileSync(join(this.#bin, 'gh'), '#!/bin/sh\ncat >/dev/null\n', { mode: 0o755 })
    const inTerminal = { idle_pattern: '^> ?$', response_fence: true }
    const command = (name: string) => join(this.#bin, name)
    const usual = { profile: 'custom', contextWindowTokens: 100_000, ...inTerminal }
    const roles = ['enumerator', 'pattern matcher', 'dependency scanner', 'fallback chain', 'code generator', 'chair']
    this.settings({
      rotationStrategy: 'exhaustion',
      agents: [
        ...workers.map((name) => ({ name, command: command(name), leash: 'edit', ...usual })),
        ...readers.map((name) => ({ name, command: command(name), leash: 'read', wall: false, ...usual })),
        nativeOn({ url: model }),
      ],
      advisors: Object.fromEntries(roles.map((role, at) => [role, readers[at % 2]])),
    })
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: this.project, stdio: 'pipe' })
    git('init', '-q', '-b', 'main')
    writeFileSync(join(this.project, 'sum.js'), 'export function add(a, b) {\n  return a - b\n}\n')
    writeFileSync(join(this.project, 'README.md'), '# shop\n')
    cpSync(join(root, 'deploy'), join(this.project, 'deploy'), { recursive: true })
    git('add', '-A')
    git('commit', '-qm', 'one')
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    git('checkout', '-qb', 'change')
    writeFileSync(join(this.project, 'sum.js'), 'export function add(a, b) {\n  return a - b // wrong\n}\n')
    git('commit', '-qam', 'two')
  }

  /** Ends what the commands of a page have left running. Before the folder is removed, because that holds the list of it. */
  #end(): void {
    const lasting = join(this.folder, 'lasting')
    const pids = existsSync(lasting) ? readFileSync(lasting, 'utf8').trim().split('\n') : []
    for (const pid of pids) killed(-Number(pid))
    spawnSync('tmux', ['-L', `termaite-${shortHash(this.home)}`, 'kill-server'])
    const { stdout } = spawnSync('pgrep', ['-f', this.folder], { encoding: 'utf8' })
    for (const pid of stdout.trim().split('\n')) if (pid !== '') killed(Number(pid))
  }

  /** Runs the commands of a page in one shell. What each printed is found behind its mark. */
  async read(page: string): Promise<void> {
    const steps = stepsOf(textOf(page)).filter(
      (step) => step.is !== 'command' || reasonNotToRun(step.text) === undefined,
    )
    const script = steps.map((step) => {
      const mark = `printf '\\n@@%s\\n' ${step.line}\n`
      if (step.is === 'command') return `${mark}${step.text}`
      if (step.is === 'shown') return ''
      return `${mark}mkdir -p "$(dirname ${step.file})"\ncat > ${step.file} <<'@@end'\n${step.text}@@end\n`
    })
    writeFileSync(join(this.folder, 'page.sh'), `set -eo pipefail\nexec 2>&1\n${script.join('')}`)
    const program = join(this.folder, 'program')
    writeFileSync(program, `#!/bin/sh\nexec ${start.map((word) => `'${word}'`).join(' ')} "$@"\n`, { mode: 0o755 })
    const shell = this.own(
      spawn('bash', [join(this.folder, 'page.sh')], {
        cwd: this.project,
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          PATH: pathOf(this.#bin),
          HOME: join(this.folder, 'home'),
          TERMAITE_HOME: this.home,
          TERMAITE_KEYCHAIN: 'off',
          NODE_COMPILE_CACHE: codeCache,
          TZ: 'UTC',
          ANTHROPIC_API_KEY: 'made-up-key',
          GITHUB_BASE_REF: 'main',
          PR: '1',
          PAGE_FOLDER: this.folder,
          NODE: process.execPath,
          PROGRAM: program,
          TERMAITE_TEST_START: JSON.stringify(start),
          TERMAITE_TEST_PACKAGE: packageFolder,
          VISIT: join(here, 'chat-visit.ts'),
        },
      }),
    )
    const printed = text(shell.stdout)
    const code = await new Promise<number | null>((resolve) => shell.once('exit', resolve))
    this.#end()
    const parts = (await printed).split(/^@@(?=\d+$)/m)
    assert.equal(code, 0, `${page}, line ${parts.at(-1)}`)
    for (const [index, step] of steps.entries()) {
      if (step.is !== 'shown') continue
      const line = steps[index - 1]!.line
      const part = parts.filter((one) => Number.parseInt(one, 10) <= line).join('\n')
      const missing = missingLine(part, step.text)
      assert.equal(missing, undefined, `${page}, line ${step.line}: this was not printed; this was:\n${part}`)
    }
  }
}

/**
 * Reads a third of the pages, several at once, because pages spend most of their time waiting for agents in terminals. The thirds
 * are files of their own, so that the runner spreads them over its processes.
 */
export function readPages(third: 0 | 1 | 2): void {
  void suite('the commands of each page run in their order, and print what it shows', { concurrency: 2 }, () => {
    const those = pages().filter((page) => stepsOf(textOf(page)).some((step) => step.is === 'command'))
    for (const page of those.filter((_, index) => index % 3 === third))
      test(page, async (t) => {
        const model = await modelServer(() => ({ text: '# AGENTS.md\n\n## Tests\n\n`npm test`' }))
        t.after(() => model.close())
        await new ReadersMachine(t, model.url).read(page)
      })
  })
}
