import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looks } from './looks.ts'
import { Sitting } from './sitting.ts'

const sizes = [
  { cols: 80, rows: 24 },
  { cols: 200, rows: 50 },
]

/** How long each agent worked differs from run to run; the column is as wide for one digit as for two. */
const tidy = (row: string) => row.replaceAll(/(?<= {2})(?:\d s {2}|\d\d s )/g, '## s ')

describe('/race', () => {
  test(
    'the results stand side by side on a card, and the chosen one is in the project',
    { timeout: 60_000 },
    async (t) => {
      const machine = new Machine(t)
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], {
          cwd: machine.project,
          stdio: 'ignore',
        })
      const sum = join(machine.project, 'sum.txt')
      writeFileSync(sum, 'wrong\n')
      git('init', '-q', '-b', 'main')
      git('add', '-A')
      git('commit', '-qm', 'one')
      const makes = (script: string) => `cat >/dev/null; ${script}; echo It is done.`
      // The judge knows the results only by letters, which are shuffled: it prefers the one that passes its check.
      const judges = [
        'best=$(grep -o "Result [AB] (grep -q right sum.txt passes" | cut -c8)',
        'other=$(echo AB | tr -d "$best")',
        `echo '{"best_first":[{"label":"'$best'","why":"It does what was asked."},{"label":"'$other'","why":"It adds a file."}]}'`,
      ].join('; ')
      const agent = (name: string, command: string, more: object = {}) => ({
        ...{ name, command, contextWindowTokens: 100_000 },
        ...more,
      })
      machine.settings({
        metaInstruction: false,
        agents: [
          agent('alpha', makes('echo right > sum.txt')),
          agent('beta', makes('echo right > sum.txt')),
          agent('gamma', makes('echo worse > sum.txt; echo more > new.txt')),
          agent('delta', 'cat >/dev/null; echo It broke. >&2; exit 1'),
          agent('reader', judges, { leash: 'read' }),
        ],
      })
      const window = new ProgramWindow(machine, { ...looks.dark!, args: [] })
      t.after(() => window.end())
      const sitting = new Sitting(window, 'dark', tidy)
      await window.shows('Ask anything')
      window.type('/race make it right -a alpha,beta,gamma,delta --check "grep -q right sum.txt"')
      window.type(keys.enter)
      // The seconds of the turn have two digits on a fast machine too, so that the frame is the same everywhere.
      const seconds = (screen: string) => / waits for your answer · \d\d s/.test(screen)
      await sitting.framed('race-card', ['Enter answers', 'None, leave the project as it is', seconds], sizes)
      window.type('1')
      await window.shows("alpha's result was brought into the project")
      assert.equal(readFileSync(sum, 'utf8'), 'right\n')
    },
  )
})
