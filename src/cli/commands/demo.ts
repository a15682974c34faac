import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { Program } from '../cli-command.ts'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Line } from '../demo/demo-model.ts'
import { pipes, terminals, readers, roles } from '../demo/demo-agents.ts'
import { scriptedServer } from '../demo/demo-model.ts'
import { carries, processTable } from '../../base/process/process-table.ts'
import { print } from '../../core/io.ts'
import { writeSettings } from '../../settings/settings-editor.ts'

/** What the model behind our own agent answers: a read, an edit, a question, and a last word. */
const lines: readonly Line[] = [
  { tool: 'file_reader', input: { file_path: 'README.md' } },
  {
    tool: 'file_editor',
    input: { file_path: 'README.md', edits: [{ old_string: '# hello', new_string: '# Hello, world' }] },
  },
  {
    tool: 'ask_question',
    input: { questions: [{ question: 'Which other greeting?', options: ['Hallo', 'Bonjour', 'None'] }] },
  },
  {
    tool: 'file_editor',
    input: { file_path: 'README.md', edits: [{ old_string: '# Hello, world', new_string: '# Hello, Hallo, world' }] },
  },
  { say: 'Done: README.md greets in both.' },
]

export async function run(io: Io, _parsed: Parsed, program: Program): Promise<number> {
  using model = await scriptedServer(lines)
  const folder = mkdtempSync(join(tmpdir(), 'termaite-demo-'))
  const project = join(folder, 'hello')
  const home = join(folder, 'home')
  // Not spread: stdin is opened, and the folder asked for, only by whoever needs them.
  const inside: Io = Object.create(io, {
    cwd: { value: project },
    env: { value: { ...io.env, TERMAITE_HOME: home } },
  })
  try {
    mkdirSync(project)
    writeFileSync(join(project, 'README.md'), '# hello\n')
    writeSettings(home, {
      rotationStrategy: 'exhaustion',
      silenceSeconds: 2,
      agents: [
        ...Object.entries(pipes).map(([name, command]) => ({ name, command, contextWindowTokens: 100_000 })),
        {
          name: 'elder',
          kind: 'native',
          model: 'compatible/scripted',
          baseURL: model.baseURL,
          contextWindowTokens: 100_000,
        },
        ...Object.entries(terminals).map(([name, command]) => ({ name, command, ...inTerminal })),
        ...Object.entries(readers).map(([name, command]) => ({ name, command, ...reading })),
      ],
      advisors: roles,
    })
    const bold =
      io.out.isTTY && !io.env.NO_COLOR && io.env.TERM !== 'dumb'
        ? (text: string) => `\u001b[1m${text}\u001b[0m`
        : (text: string) => text
    const step = async (words: string, argv: string[]) => {
      print(io, `\n${bold(words)}\n$ termaite ${argv.map(quoted).join(' ')}`)
      return program.run(argv, inside)
    }
    print(io, 'Agents that share one project. No account, no network: they are scripts,')
    print(io, 'and so are their answers.')
    print(io, 'amber has spent its quota, birch hangs (it is given 2 s), cedar works; elder is')
    print(io, 'our own agent: its tools are real, only its model is a script; fir and gum sit')
    print(io, 'in terminals of their own; hazel, ivy and juniper only read, and advise.')
    const steps: [string, string[]][] = [
      ['One prompt, three agents: the turn goes on until one of them answers.', ['-p', 'Write a plan']],
      ['The next turn: amber is parked and is not even asked.', ['-p', 'Is the plan there?', '-a', 'amber']],
      ['Whatever an agent did can be seen,', ['diff', '--stat']],
      ['and taken back.', ['undo', '--yes']],
      [
        'Five advisors on three agents, a chair, and cedar acts and is checked.',
        ['-p', 'Plan the greeting', ...thought],
      ],
      ['Our own agent reads, edits, and asks what only you can decide.', ['-p', 'Greet the world', ...elder]],
      ['This is its edit,', ['diff']],
      ['and your answer is the next prompt.', ['-p', 'Hallo', ...elder]],
      ['Two agents in terminals side by side: fir audits,', ['crew', 'spawn', 'fir', 'Audit the greeting']],
      ['and gum waits for its answer.', ['crew', 'spawn', 'gum', 'Sum up: {{slot_1.output}}', '--depends-on', '1']],
      ['Any MCP client can conduct them as the shell does.', ['crew', 'wait', '2', '--lines', '3']],
      ['This is what became of it,', ['crew', 'artifact', '2']],
      ['and nothing of them stays.', closing],
      ['Nothing that was said is lost.', ['sessions', 'show']],
    ]
    let well = true
    for (const [words, argv] of steps) {
      well = (await step(words, argv)) === 0 && well
      if (io.signal.aborted) return Number(io.signal.reason)
    }
    print(io, `\n${bold('Your own agents:')} termaite setup, then termaite -p "…"`)
    return well ? 0 : 1
  } finally {
    // Whoever leaves in the middle leaves nobody behind either.
    if (existsSync(join(home, 'crew'))) {
      await program.run(closing, silent(inside))
      await untilGone(`TERMAITE_HOME=${home}`, io)
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

const elder = ['-a', 'elder', '--leash', 'edit']
const thought = ['-a', 'cedar', '--think', 'consensus']
const closing = ['crew', 'close', '--yes']
const inTerminal = {
  kind: 'screen',
  idle_pattern: '^> ?$',
  response_fence: true,
  silenceSeconds: 60,
  contextWindowTokens: 100_000,
}

const reading = { leash: 'read', contextWindowTokens: 100_000 }

/** So long at most: whoever keeps a crew leaves a moment after its last agent. */
const goneMs = 5_000

async function untilGone(mark: string, { clock }: Io): Promise<void> {
  for (const until = clock.now() + goneMs; clock.now() < until; await clock.sleep(100)) {
    const carrying = (await processTable()).map(({ pid }) => pid !== process.pid && carries(pid, mark))
    if (!(await Promise.all(carrying)).includes(true)) return
  }
}

/** The same place, with nobody to hear it and nobody to stop it. */
function silent(io: Io): Io {
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })
  const { signal } = new AbortController()
  return Object.create(io, { out: { value: nowhere() }, err: { value: nowhere() }, signal: { value: signal } }) as Io
}

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `"${word}"`
}
