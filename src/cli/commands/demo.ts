import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { Program } from '../arguments/cli-command.ts'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { ModelLine } from '../demo/demo-model.ts'
import { pipes, terminals, readers, roles } from '../demo/demo-agents.ts'
import { scriptedServer } from '../demo/demo-model.ts'
import { carries, processTable } from '../../base/process/process-table.ts'
import { machineWall } from '../../native/agent-wall.ts'
import { print } from '../../core/io.ts'
import { writeSettings } from '../../settings/settings-editor.ts'

/** The scripted model's answers: a read, an edit, a question, another edit and a closing sentence. */
const lines: readonly ModelLine[] = [
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
  // Object.create keeps the getters of `io` lazy; a spread would open stdin at once.
  const inside: Io = Object.create(io, {
    cwd: { value: project },
    env: { value: { ...io.env, TERMAITE_HOME: home } },
  })
  try {
    mkdirSync(project)
    writeFileSync(join(project, 'README.md'), '# hello\n')
    // Without a sandbox only a person can vouch that a script merely reads; these scripts are ours.
    const wall = (await (await machineWall(io.env, project)).none()) === undefined
    await writeSettings(home, {
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
        ...Object.entries(readers).map(([name, command]) => ({ name, command, wall, ...reading })),
      ],
      advisors: roles,
    })
    const bold =
      io.out.isTTY && !io.env.NO_COLOR && io.env.TERM !== 'dumb'
        ? (text: string) => `\u001b[1m${text}\u001b[0m`
        : (text: string) => text
    const step = async (words: string, argv: string[]) => {
      io.out.write(`\n${bold(words)}\n$ termaite ${argv.map(quoteWord).join(' ')}\n`)
      return program.run(argv, inside)
    }
    print(io, 'Several agents share one project. The demo needs no account and no network,')
    print(io, 'because all agents and their answers are scripts.')
    print(io, 'amber is out of quota, birch hangs (it gets 2 s) and cedar works. elder is')
    print(io, 'termaite’s own agent, with real tools and a scripted model. fir and gum run in')
    print(io, 'terminals of their own. hazel, ivy and juniper only read and give advice.')
    const steps: [string, string[]][] = [
      ['One prompt, three agents: termaite asks one after another until one answers.', ['-p', 'Write a plan']],
      ['The next turn: termaite skips amber until its quota returns.', ['-p', 'Is the plan there?', '-a', 'amber']],
      ['See what an agent changed,', ['diff', '--stat']],
      ['and undo it.', ['undo', '--yes']],
      [
        'Five advisors on three agents give advice, a chair decides, cedar acts, and the result is checked.',
        ['-p', 'Plan the greeting', ...thought],
      ],
      ['termaite’s own agent reads, edits, and asks you a question.', ['-p', 'Greet the world', ...elder]],
      ['This is its edit,', ['diff']],
      ['and your answer is the next prompt:', ['-p', 'Hallo', ...elder]],
      ['Two agents side by side in terminals: fir audits,', ['crew', 'spawn', 'fir', 'Audit the greeting']],
      ['and gum waits for its answer.', ['crew', 'spawn', 'gum', 'Sum up: {{slot_1.output}}', '--depends-on', '1']],
      ['Wait for it. (Any MCP client can do the same.)', ['crew', 'wait', '2', '--lines', '3']],
      ['Read its answer,', ['crew', 'artifact', '2']],
      ['and end both agents.', closing],
      ['termaite keeps the whole conversation.', ['sessions', 'show']],
    ]
    let well = true
    for (const [words, argv] of steps) {
      well = (await step(words, argv)) === 0 && well
      if (io.signal.aborted) return Number(io.signal.reason)
    }
    io.out.write(`\n${bold('Your own agents:')} termaite setup, then termaite -p "…"\n`)
    return well ? 0 : 1
  } finally {
    // A demo that is interrupted must not leave agents behind.
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

/** How long to wait for the crew's keeper, which exits a moment after its last agent. */
const goneMs = 5_000

async function untilGone(mark: string, { clock }: Io): Promise<void> {
  for (const until = clock.elapsed() + goneMs; clock.elapsed() < until; await clock.sleep(100)) {
    const carrying = (await processTable()).map(async ({ pid }) => pid !== process.pid && carries(pid, mark))
    if (!(await Promise.all(carrying)).includes(true)) return
  }
}

/** The surroundings of the cleanup: without output, and without the abort signal, because the cleanup must finish. */
function silent(io: Io): Io {
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })
  const { signal } = new AbortController()
  return Object.create(io, { out: { value: nowhere() }, err: { value: nowhere() }, signal: { value: signal } }) as Io
}

function quoteWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `"${word}"`
}
