import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import type { Program } from '../program.ts'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Line } from '../demo/model.ts'
import { scriptedServer } from '../demo/model.ts'
import { print } from '../io.ts'
import { writeSettings } from '../settings/write.ts'

/** Real processes with nothing behind them: one out of quota, one that hangs, one that answers. */
const agents = {
  amber: `cat >/dev/null; echo "Error: usage limit reached, try again in 3 hours" >&2; exit 1`,
  birch: `cat >/dev/null; exec sleep 3600`,
  cedar: [
    `if [ -f PLAN.md ]; then cat >/dev/null; echo 'Yes: PLAN.md is there since the last turn.'; exit; fi`,
    `tried=$(grep -o '<attempt by="[a-z]*"' | cut -d'"' -f2 | paste -sd, - | sed 's/,/ and /')`,
    `printf '# Plan\\n\\n1. Say hello.\\n' > PLAN.md`,
    `echo "Done: PLAN.md holds the plan.\${tried:+ I went on from what $tried had tried.}"`,
  ].join('; '),
}

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
  try {
    mkdirSync(project)
    writeFileSync(join(project, 'README.md'), '# hello\n')
    writeSettings(home, {
      rotationStrategy: 'exhaustion',
      silenceSeconds: 2,
      agents: [
        ...Object.entries(agents).map(([name, command]) => ({ name, command, contextWindowTokens: 100_000 })),
        {
          name: 'elder',
          kind: 'native',
          model: 'compatible/scripted',
          baseURL: model.baseURL,
          contextWindowTokens: 100_000,
        },
      ],
    })
    // Not spread: stdin is opened, and the folder asked for, only by whoever needs them.
    const inside: Io = Object.create(io, {
      cwd: { value: project },
      env: { value: { ...io.env, TERMAITE_HOME: home } },
    })
    const bold =
      io.out.isTTY && !io.env.NO_COLOR && io.env.TERM !== 'dumb'
        ? (text: string) => `\u001b[1m${text}\u001b[0m`
        : (text: string) => text
    const step = async (words: string, argv: string[]) => {
      print(io, `\n${bold(words)}\n$ termaite ${argv.map(quoted).join(' ')}`)
      return program(argv, inside)
    }
    print(io, 'Four agents share one conversation. No account, no network: they are scripts,')
    print(io, 'and so are their answers.')
    print(io, 'amber has spent its quota, birch hangs (it is given 2 s), cedar works; elder is')
    print(io, 'our own agent: its tools are real, only its model is a script.')
    const steps: [string, string[]][] = [
      ['One prompt, three agents: the turn goes on until one of them answers.', ['-p', 'Write a plan']],
      ['The next turn: amber is parked and is not even asked.', ['-p', 'Is the plan there?', '-a', 'amber']],
      ['Whatever an agent did can be seen,', ['diff', '--stat']],
      ['and taken back.', ['undo', '--yes']],
      ['Our own agent reads, edits, and asks what only you can decide.', ['-p', 'Greet the world', ...elder]],
      ['This is its edit,', ['diff']],
      ['and your answer is the next prompt.', ['-p', 'Hallo', ...elder]],
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
    rmSync(folder, { recursive: true, force: true })
  }
}

const elder = ['-a', 'elder', '--leash', 'edit']

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `"${word}"`
}
