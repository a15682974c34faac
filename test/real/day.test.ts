import type { Answer, Asked } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { collect } from '../../src/base/process/collect.ts'
import { randomName } from '../../src/base/id.ts'
import { runningProcesses } from '../../src/border/running-processes.ts'
import { carries, processTable } from '../../src/base/process/process-table.ts'
import { start, shownTexts } from '../cli/program.ts'
import { until } from '../until.ts'
import { dayPlace, noDay } from './day-place.ts'
import { modelServer } from './model-server.ts'
import { screenRig } from './screen-rig.ts'
import { TmuxWindow } from './window.ts'

const story = 'Once upon a time there was a terminal that never lost a word that it had shown'
/** The scripted model breaks off in the middle of a word. */
const shown = 'Once upon a time there was a terminal that never lost a word'

test(
  'a day in the chat: turns, a cancel, a kill, a spent quota with thinking on, cards at three sizes',
  { skip: noDay },
  async (t) => {
    const spent = new Set<string>()
    const { model, rig, home, window, project, kept } = await dayPlace(t, (asked) => scripted(asked, spent))

    await t.test('a turn is echoed and answered by the real Claude Code', async () => {
      window.start()
      await window.shows('Welcome to', 'claude ●', 'codex ●')
      window.say('hello there')
      await window.shows('❯ hello there', 'claude was here', /─ claude · /)
    })

    await t.test('an answer that Esc cuts off stays on the screen and in the history', async () => {
      window.say('tell me a story')
      await window.shows('never lost a word')
      window.press('Escape')
      await window.shows('never lost a word', '(cut off by you)')
      const words = kept().findLast(({ type }) => type === 'words')
      assert.equal(words?.by, 'claude')
      assert.ok(String(words?.text).startsWith(shown), String(words?.text))
    })

    await t.test(
      'an answer that dies with termaite is there after the restart, and no agent is left at work',
      async () => {
        window.say('tell me a story again')
        await window.shows(/tell me a story again[^]*never lost a word/)
        const session = kept().length
        // The words are on the disk at most a second after they were on the screen.
        await until(() => shownTexts(home).some((text) => text.includes('never lost a word')))
        process.kill(window.pid, 'SIGKILL')
        await until(() => window.dead)
        window.start()
        await window.shows(/tell me a story again[^]*never lost a word[^]*termaite stopped during this turn/)
        assert.ok(kept().length > session)
      },
    )

    await t.test('the next agent is told the words that were cut off; a spent quota hands the turn over', async () => {
      spent.add('anthropic')
      window.say('please go on with it')
      await window.shows('claude is out of quota', 'Enter answers')
      window.press('1')
      const screen = await window.shows('gemini was here', /─ gemini · /)
      assert.match(screen, /↷ claude is out of quota/)
      const told = model.turns().at(-1)!
      assert.equal(told.wire, 'gemini')
      assert.equal(told.text.split(shown).length > 1, true, 'the words that were cut off are told')
      spent.clear()
    })

    await t.test('the chosen agent that is parked is asked about', async () => {
      window.say('/switch claude')
      await window.shows('claude takes the next turn, and only that one. It is out of quota until')
      window.say('hello again')
      await window.shows('You chose claude, but it is out of quota until', '3 Ask claude anyway', 'Enter answers')
      window.press('3')
      await window.shows(/hello again[^]*claude was here[^]*─ claude · /)
    })

    await t.test('a question can be read at every size', async () => {
      window.say('/switch claude')
      await window.shows('claude takes the next turn')
      window.say('make a file')
      await window.shows('asks for permission', 'touch made.txt')
      for (const [cols, rows] of [
        [100, 30],
        [160, 50],
        [80, 24],
      ] as const) {
        window.resize(cols, rows)
        await window.shows('asks for permission', '$ touch made.txt', /1 Yes, once/, /Esc: /)
        const rowsShown = window.screen().trimEnd().split('\n')
        assert.ok(rowsShown.every((row) => row.length <= cols))
      }
      window.press('Escape')
      await window.shows(/─ claude · |■ /)
      assert.ok(!readdirSync(rig.cwd).includes('made.txt'))
    })

    await t.test('session picker: a search, a name, a deletion, and back in the earlier session', async () => {
      const sessions = () => new Set(kept().map(({ session }) => String(session)))
      const [first] = sessions()
      await window.shows(/make a file[^]*─ claude · /)
      window.say('/reset')
      await window.shows('A new session began')
      window.say('hello there')
      await window.shows(/hello there[^]*was here[^]*─ \w+ · [\d.]+ s/)
      const [second] = [...sessions()].filter((id) => id !== first)
      window.say('/sessions')
      await window.shows('── Sessions', /claude, gemini +\d+ turns/, 'Esc leaves')
      window.press(...'story', 'C-r')
      await window.shows('New name:')
      window.press(...'tales', 'Enter')
      await window.shows('is now called “tales”')
      window.press('Enter')
      await window.shows('Resumed tales', /make a file/)
      window.say('/sessions')
      await window.shows('tales (open)')
      window.press('C-d')
      await window.shows('Delete “hello there” (1 turn) for good?')
      window.press('y')
      await window.shows('Deleted “hello there”.')
      window.press('Escape')
      const { sessions: named } = JSON.parse(readFileSync(join(project(), 'project.json'), 'utf8'))
      assert.deepEqual([named[first!].name, named[second!]], ['tales', undefined])
      assert.deepEqual([...sessions()], [first])
    })

    await t.test('/doctor, /import and /dashboard do in the chat what their commands do', async () => {
      window.say('/doctor')
      await window.shows('✓ Ready: claude, gemini, codex', '/doctor --verbose')
      window.say('/import')
      // The sessions of today were all begun by termaite.
      await window.shows('no earlier sessions')
      window.say('/dashboard')
      await window.shows(/http:\/\/127\S+\/#in=/, 'stop hub')
      assert.deepEqual(hubsOf(home), 1)
    })

    await t.test('leaving says how to come back', async () => {
      window.press('C-d')
      await until(() => window.dead)
      assert.match(window.screen(), /Continue with: termaite --cwd /)
      await until(() => hubsOf(home) === 0)
    })
  },
)

const hubsOf = (home: string) => runningProcesses(home, Date.now()).filter(({ process: kind }) => kind === 'hub').length

test(
  'a crew: the real Claude Code in a terminal is given a task, watched, and ended whole',
  { skip: noDay },
  async (t) => {
    const model = await modelServer(() => ({ text: 'claude was here' }))
    const rig = await screenRig('claude', model.url)
    const window = new TmuxWindow(`termaite-crew-${randomName()}`, { cwd: rig.cwd, env: rig.env })
    const ours = async () => {
      const pids = (await processTable()).map(({ pid }) => pid)
      const marked = await Promise.all(pids.map((pid) => carries(pid, rig.root)))
      return pids.filter((_pid, at) => marked[at])
    }
    t.after(async () => {
      window.close()
      await model.close()
      await rig[Symbol.asyncDispose]()
    })
    const trusted = { [rig.cwd]: { hasTrustDialogAccepted: true } }
    const agreed = { customApiKeyResponses: { approved: ['made-up'], rejected: [] } }
    const known = { hasCompletedOnboarding: true, theme: 'dark', ...agreed, projects: trusted }
    writeFileSync(join(rig.env.HOME!, '.claude.json'), JSON.stringify(known))
    const run = async (...args: string[]) => {
      const ran = await collect(start[0], [...start.slice(1), ...args], { cwd: rig.cwd, env: rig.env })
      assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.out.toString()}${ran.err}`)
      return ran.out.toString()
    }
    await run('crew', 'spawn', 'claude', 'say hello')
    window.start(['crew', 'watch'])
    await window.shows('claude', 'say hello')
    await run('crew', 'wait', '1')
    assert.equal(await run('crew', 'artifact', '1'), 'claude was here\n')
    await window.shows('claude', /idle/)
    window.press('q')
    await until(() => window.dead)
    await run('crew', 'close', '--yes')
    window.close()
    await until(async () => (await ours()).length === 0)
  },
)

for (const [leash, flags, call] of [
  ['edit', /--permission-mode acceptEdits/, { tool: 'Write', input: { content: 'made' } }],
  [
    'all',
    /--dangerously-skip-permissions|--allowedTools \S*Bash/,
    { tool: 'Bash', input: { command: 'echo made > ' } },
  ],
] as const)
  test(
    `a crew: the real Claude Code runs on the leash ${leash} that a person gave its slot`,
    { skip: noDay },
    async (t) => {
      const made = () => join(rig.cwd, 'made.txt')
      const input = () =>
        call.tool === 'Write' ? { ...call.input, file_path: made() } : { command: `${call.input.command}${made()}` }
      const model = await modelServer(({ text, body }) =>
        text.includes('make the file') && !JSON.stringify(body.messages).includes('tool_result')
          ? { call: { tool: call.tool, input: input() } }
          : { text: 'It is made.' },
      )
      const rig = await screenRig('claude', model.url)
      const known = {
        ...{ hasCompletedOnboarding: true, theme: 'dark', bypassPermissionsModeAccepted: true },
        customApiKeyResponses: { approved: ['made-up'], rejected: [] },
        projects: { [rig.cwd]: { hasTrustDialogAccepted: true } },
      }
      writeFileSync(join(rig.env.HOME!, '.claude.json'), JSON.stringify(known))
      const run = async (...args: string[]) => {
        const ran = await collect(start[0], [...start.slice(1), ...args], { cwd: rig.cwd, env: rig.env })
        assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.out.toString()}${ran.err}`)
        return ran.out.toString()
      }
      t.after(async () => {
        await run('crew', 'close', '--yes')
        await model.close()
        await rig[Symbol.asyncDispose]()
      })
      await run('crew', 'spawn', 'claude', 'make the file', '--leash', leash)
      await run('crew', 'wait', '1')
      assert.equal(await run('crew', 'artifact', '1'), 'It is made.\n')
      assert.equal(readFileSync(made(), 'utf8').trim(), 'made')
      const pids = (await processTable()).map(({ pid }) => pid)
      const marked = await Promise.all(pids.map((pid) => carries(pid, rig.root)))
      const ours = pids.filter((_pid, at) => marked[at]).map(String)
      const lines = execFileSync('ps', ['-ww', '-o', 'args=', '-p', ours.join(',')], { encoding: 'utf8' })
      assert.match(lines, flags)
    },
  )

const names: Record<string, string> = { anthropic: 'claude', gemini: 'gemini', responses: 'codex' }

function scripted({ wire, text }: Asked, spent: ReadonlySet<string>): Answer {
  if (spent.has(wire)) return { error: 'credit' }
  const asksFor = (prompt: string) => text.lastIndexOf(prompt)
  const prompts = ['hello there', 'tell me a story', 'please go on with it', 'hello again', 'make a file']
  const last = prompts.toSorted((one, other) => asksFor(other) - asksFor(one))[0]
  if (last === 'tell me a story') return { stall: story }
  if (last === 'make a file' && wire === 'anthropic' && !text.includes('toolu_'))
    return { call: { tool: 'Bash', input: { command: 'touch made.txt', description: 'makes a file' } } }
  return { text: `${names[wire]} was here` }
}
