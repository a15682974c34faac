import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keys } from '../screen/program-window.ts'
import { answer, below, card, chatWith } from './chatting.ts'
import { skipped } from './turns.ts'

type Call = { tool: string; input: unknown }

/** The facts of one CLI on the screen. */
type Ways = {
  kind: 'pipe' | 'acp'
  run(command: string): Call
  edit: Call[]
  /** The numbers of its answers about a command, after the first, which is a yes for once. */
  always: number
  untilTurnEnds: number
  no: number
  /** The card about a command, in that project, and the one about the edit. */
  command(project: string): string[]
  diff: string[]
  /** The words of the transcript about all of it. */
  told: string[]
  /** Prepares the home of the CLI, so that its thread can be continued. */
  aged?(home: string): void
}

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-hi\n+ho\n*** End Patch\nEOF"

const all: Record<string, Ways> = {
  claude: {
    kind: 'pipe',
    run: (command) => ({ tool: 'Bash', input: { command, description: 'as it was told' } }),
    edit: [
      { tool: 'Read', input: { file_path: 'a.txt' } },
      { tool: 'Edit', input: { file_path: 'a.txt', old_string: 'hi', new_string: 'ho' } },
    ],
    always: 2,
    untilTurnEnds: 4,
    no: 3,
    command: (project) => [
      'Bash: as it was told',
      `It reaches ${project}/one.txt`,
      '$ touch one.txt',
      '› 1 Yes, once',
      '  2 Yes, always in this project',
      '    covers: Bash(touch one.txt), in this project from now on (kept in .claude/settings.local.json)',
      '  3 No',
      '  4 Yes, until this turn ends',
      '    covers: Bash(touch one.txt), until this turn ends',
      '  ✎ or in your own words',
      '1–4 or Enter answers · Esc: No',
    ],
    diff: [
      'Edit: a.txt',
      'a.txt',
      '1 - hi',
      '1 + ho',
      '2   there',
      '› 1 Yes, once',
      '  2 Yes, until this turn ends',
      '    covers: every edit in this project, and mkdir, touch, rm, rmdir, mv, cp and sed there, until',
      '            this turn ends',
      '  3 No',
      '  ✎ or in your own words',
      '1–3 or Enter answers · Esc: No',
    ],
    told: [
      '● claude',
      '  ✓ Bash touch one.txt · # s',
      '  ? Bash: as it was told → Yes, once',
      '  ✗ Bash touch two.txt — The person said no. Do not try it again in this turn. · # s',
      '  ? Bash: as it was told → No',
      '  ✓ Read a.txt · # s',
      '  ✓ Edit a.txt · +1 −1 · # s',
      '    1 - hi',
      '    1 + ho',
      '    2   there',
      '  ? Edit: a.txt → Yes, once',
      '  That is all.',
      '─ claude · next in line · # s · 2 files +1 −1 · 6.2k tokens',
    ],
  },
  codex: {
    kind: 'pipe',
    run: (cmd) => ({
      tool: 'exec_command',
      input: { cmd, sandbox_permissions: 'require_escalated', justification: 'as it was told', prefix_rule: ['touch'] },
    }),
    edit: [{ tool: 'exec_command', input: { cmd: patch } }],
    always: 4,
    untilTurnEnds: 2,
    no: 3,
    command: (project) => [
      'Run a command outside the sandbox',
      'as it was told',
      '$ touch one.txt',
      `  in ${project}`,
      '› 1 Yes, once',
      '  2 Yes, until this turn ends',
      '    covers: this very command, until this turn ends',
      '  3 No',
      '  4 Yes, always in every project',
      '    covers: every command that begins with "touch", in every project from now on (a rule of Codex)',
      '  ✎ or in your own words',
      '1–4 or Enter answers · Esc: No',
    ],
    diff: [
      'Change a.txt',
      'a.txt',
      '1 - hi',
      '1 + ho',
      '2   there',
      '› 1 Yes, once',
      '  2 Yes, until this turn ends',
      '    covers: changes of a.txt, until this turn ends',
      '  3 No',
      '  ✎ or in your own words',
      '1–3 or Enter answers · Esc: No',
    ],
    told: [
      '● codex',
      '  ✓ shell touch one.txt · # s',
      '  ? Run a command outside the sandbox → Yes, once',
      '  ✗ shell touch two.txt — not allowed · # s',
      '  ? Run a command outside the sandbox → No',
      '  ✓ file change a.txt · +1 −1 · # s',
      '    1 - hi',
      '    1 + ho',
      '    2   there',
      '  ? Change a.txt → Yes, once',
      '  That is all.',
      '─ codex · next in line · # s · 2 files +1 −1 · 4.9k tokens',
    ],
  },
  gemini: {
    kind: 'acp',
    run: (command) => ({ tool: 'run_shell_command', input: { command } }),
    edit: [{ tool: 'write_file', input: { file_path: 'a.txt', content: 'ho\nthere\n' } }],
    always: 2,
    untilTurnEnds: 2,
    no: 3,
    command: (project) => [
      'touch one.txt',
      '$ touch one.txt',
      `  in ${project}`,
      '› 1 Allow',
      '  2 Yes, until the turn ends',
      '    covers: this command, until the turn ends',
      '  3 Reject',
      '1–3 or Enter answers · Esc: Reject',
    ],
    diff: [
      'Writing to a.txt',
      'a.txt',
      '1 - hi',
      '1 + ho',
      '2   there',
      '› 1 Allow',
      '  2 Yes, until the turn ends',
      '    covers: every edit in the project, until the turn ends',
      '  3 Reject',
      '1–3 or Enter answers · Esc: Reject',
    ],
    told: [
      '● gemini',
      '  ✓ execute touch one.txt · # s',
      '  ? touch one.txt → Allow',
      '  ✗ execute touch two.txt — not allowed · # s',
      '  ? touch two.txt → Reject',
      '  ✓ edit a.txt · +1 −1 · # s',
      '    - hi',
      '    + ho',
      '      there',
      '  ? Writing to a.txt → Allow',
      '  That is all.',
      '─ gemini · next in line · # s · 2 files +1 −1 · 4.9k tokens',
    ],
    // Gemini names its files by the minute: a session that is loaded in the minute in which it began is overwritten by it.
    aged(home) {
      for (const file of globSync(join(home, '.gemini/tmp/*/chats/session-*')))
        renameSync(file, file.replace(/session-\d{4}/, 'session-2020'))
    },
  },
}

for (const [cli, ways] of Object.entries(all)) {
  const options = { skip: skipped(cli), timeout: 120_000 }
  const calls = [ways.run('touch one.txt'), ways.run('touch two.txt'), ...ways.edit]

  test(`${cli} in the chat: a command allowed and denied, and an edit with its diff`, options, async (t) => {
    const script: Script = ({ count }) =>
      count <= calls.length ? { call: calls[count - 1]! } : { text: 'That is all.' }
    const it = await chatWith(t, cli, ways.kind, script)
    const { project } = it.machine
    writeFileSync(join(project, 'a.txt'), 'hi\nthere\n')
    const window = await it.open()
    window.type('Do it.\r')
    assert.deepEqual(await card(window, 'touch one.txt'), ways.command(project))
    answer(window, 1)
    await card(window, 'touch two.txt')
    answer(window, ways.no)
    assert.deepEqual(await card(window, '+ ho'), ways.diff)
    answer(window, 1)
    assert.deepEqual(below(await window.shows(/─ \w+ · next in line/), 'Do it.'), ways.told)
    assert.deepEqual(
      ['one.txt', 'two.txt'].map((file) => existsSync(join(project, file))),
      [true, false],
    )
    assert.equal(readFileSync(join(project, 'a.txt'), 'utf8'), 'ho\nthere\n')
  })

  test(`${cli} in the chat: an always is not asked about again`, options, async (t) => {
    const twice = [ways.run('touch one.txt'), ways.run('touch one.txt')]
    const script: Script = ({ count }) => (count <= 2 ? { call: twice[count - 1]! } : { text: 'That is all.' })
    const it = await chatWith(t, cli, ways.kind, script)
    const window = await it.open()
    window.type('Do it.\r')
    await card(window, 'touch one.txt')
    answer(window, ways.always)
    await window.shows(/That is all\.[^]*─ \w+ · next in line/)
    assert.deepEqual(
      [it.machine.history().filter(({ type }) => type === 'question').length, it.server.turns().length],
      [1, 3],
    )
  })

  test(`${cli} in the chat: a yes until the turn ends holds in this turn, and not in the next`, options, async (t) => {
    const call = ways.run('touch one.txt')
    const script: Script = ({ count }) => (count === 3 || count === 5 ? { text: `Answer ${count}.` } : { call })
    const it = await chatWith(t, cli, ways.kind, script)
    const window = await it.open()
    window.type('The first request.\r')
    await card(window, 'touch one.txt')
    answer(window, ways.untilTurnEnds)
    await window.shows(/Answer 3\.[^]*─ \w+ · next in line/)
    ways.aged?.(it.home)
    window.type('The second request.\r')
    await card(window, 'touch one.txt')
    answer(window, 1)
    await window.shows(/Answer 5\.[^]*─ \w+ · next in line/)
    assert.deepEqual(
      [it.machine.history().filter(({ type }) => type === 'question').length, it.server.turns().length],
      [2, 5],
    )
    // The second turn went on with the thread of the first.
    assert.match(it.server.turns()[4]!.text, /The first request\.[^]*The second request\./)
  })

  test(
    `${cli} in the chat: Esc stops a turn, leaving the chat leaves no process, and a resume goes on with the thread`,
    options,
    async (t) => {
      const script: Script = ({ count }) => (count === 2 ? { hang: true } : { text: `Answer ${count}.` })
      const it = await chatWith(t, cli, ways.kind, script)
      const first = await it.open()
      first.type('The first question.\r')
      await first.shows(/Answer 1\.[^]*─ \w+ · next in line/)
      ways.aged?.(it.home)
      first.type('The second question.\r')
      await it.server.received(2)
      first.type(keys.escape)
      await first.shows(/cancelled/)
      first.type('/exit\r')
      assert.deepEqual(await first.exited, { exitCode: 0, signal: 0 })
      await it.ended(first)

      const second = await it.open()
      await second.shows('Answer 1.')
      second.type('The third question.\r')
      await second.shows(/Answer 3\.[^]*─ \w+ · next in line/)
      const told = it.server.turns()[2]!.text
      assert.deepEqual(
        ['The first question.', 'Answer 1.', 'The third question.'].map((text) => told.split(text).length - 1),
        [1, 1, 1],
      )
    },
  )
}
