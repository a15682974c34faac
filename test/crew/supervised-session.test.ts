import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../until.ts'
import { HandClock } from '../hand-clock.ts'
import { SupervisedKeys } from '../../src/wire/attach/attach-keys.ts'
import { OutputFilter } from '../../src/wire/attach/output-filter.ts'
import { allProfiles } from '../../src/profiles/all.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'
import { TokenMeter } from '../../src/supervise/token-meter.ts'
import type { SupervisedSessionState } from '../../src/crew/machine/supervised-session.ts'
import { TerminalLog } from '../../src/store/terminal-log.ts'
import { latestSession, SupervisedSession } from '../../src/crew/machine/supervised-session.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

function folderOf(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-kept-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const state = (id: string, agent = 'claude') => ({
  id,
  agent,
  workflow: 'orc',
  lastOutput: '',
  timestamp: '',
  hubId: `${agent}-${id}`,
  terminal: 't',
  host: 'pty' as const,
  cwd: '/w',
  tokens: 0,
  owner: '',
})

test('the newest session of an agent is found; damaged ones and those that came with the repository are not used', async (t) => {
  const root = folderOf(t)
  const clock = new HandClock(1_000)
  const first = new SupervisedSession(root, state('a'), clock)
  const at = (ms: number) => new Date(ms).toISOString()
  await clock.turn(1_000)
  new SupervisedSession(root, state('b', 'gemini'), clock)
  await clock.turn(1_000)
  first.keep({ cliSession: 'key', lastOutput: 'last' })
  const kept = { ...state('a'), timestamp: at(3_000), cliSession: 'key', lastOutput: 'last' }
  assert.deepEqual(latestSession(root, undefined, new Set()), { warnings: [], state: kept })
  assert.equal(latestSession(root, 'gemini', new Set()).state?.id, 'b')
  const file = (id: string) => join(root, '.termaite', 'sessions', id, 'session.json')
  mkdirSync(join(file('c'), '..'))
  writeFileSync(file('c'), '{"agent":')
  golden(t, latestSession(root, undefined, new Set(['a'])), { [root]: '<root>' })
  assert.equal(readFileSync(join(root, '.termaite', '.gitignore'), 'utf8'), 'sessions/\nlogs/\n.gitignore\n')
})

test('an agent cannot choose its name at the hub in its session’s file, nor lead the file elsewhere by a link', (t) => {
  const root = folderOf(t)
  const clock = new HandClock(1_000)
  const session = new SupervisedSession(root, state('a'), clock)
  session.keep({ hubId: 'gemini-b' })
  assert.equal(latestSession(root, undefined, new Set()).state?.hubId, 'claude-a')
  const elsewhere = folderOf(t)
  symlinkSync(elsewhere, join(root, '.termaite', 'sessions', 'c'))
  golden.throws(t, () => new SupervisedSession(root, state('c'), clock), {
    [root]: '<root>',
    [elsewhere]: '<elsewhere>',
  })
  assert.deepEqual(readdirSync(elsewhere), [])
})

test('a session whose keys look like flags, or whose parts have another shape, is not resumed', (t) => {
  const root = folderOf(t)
  const clock = new HandClock(1_000)
  const bad = {
    a: { cliSession: '--dangerously-skip-permissions' },
    b: { terminal: '-t' },
    c: { cliSession: 'x\ny' },
    d: { flight: 'text' },
    e: { flight: { turn: 't', prompt: 1 } },
    f: { worktree: { path: '/w' } },
    g: { worktree: [] },
  }
  for (const [id, part] of Object.entries(bad))
    new SupervisedSession(root, { ...state(id), ...part } as SupervisedSessionState, clock)
  golden(t, latestSession(root, undefined, new Set()), { [root]: '<root>' })
})

test('a session that cannot be written goes on in memory, says so once, and is written with the next change that can be', (t) => {
  const folder = folderOf(t)
  const root = join(folder, 'project')
  mkdirSync(root)
  const session = new SupervisedSession(root, state('a'), new HandClock(1_000))
  const warned: string[] = []
  session.warn = (words) => warned.push(words)
  renameSync(root, join(folder, 'renamed'))
  session.keep({ cliSession: 'key' })
  session.keep({ lastOutput: 'last' })
  golden(t, warned, { [folder]: '<folder>' })
  renameSync(join(folder, 'renamed'), root)
  session.keep({ tokens: 7 })
  const { cliSession, lastOutput, tokens } = latestSession(root, undefined, new Set()).state!
  assert.deepEqual([cliSession, lastOutput, tokens], ['key', 'last', 7])
  renameSync(root, join(folder, 'renamed'))
  session.keep({})
  assert.equal(warned.length, 2, 'a new trouble is told again')
})

test('a log has a time on each line, no secrets, and a repeated line as often as it was shown; ten are kept per agent', async (t) => {
  const folder = folderOf(t)
  for (let n = 10; n < 22; n++) writeFileSync(join(folder, `claude-2026-01-01T00-00-${n}-000Z.log`), '')
  for (const other of ['claude-two-2026-01-01T00-00-00-000Z.log', 'mine.log']) writeFileSync(join(folder, other), '')
  const clock = new HandClock(0)
  const seen: string[] = []
  const parts = {
    clock,
    mask: (text: string) => text.replace('hidden', '***'),
    seen: (line: string) => seen.push(line),
  }
  const scribe = new TerminalLog(folder, 'claude', parts)
  const host = scriptedTerminals(() => async (tty) => {
    tty.print('answer 1\nanswer 2\nanswer 1\n\u001b[1mhidden\u001b[0m\u001b[3Cword\n')
    return 0
  })
  scribe.tell('started')
  await scribe.follow(await host.open('x', { cwd: '/' }))
  const rows = readFileSync(scribe.file, 'utf8').trimEnd().split('\n')
  assert.deepEqual(
    rows,
    ['-- started', 'answer 1', 'answer 2', 'answer 1', '***   word'].map((row) => `1970-01-01T00:00:00.000Z ${row}`),
  )
  assert.equal(seen.length, 4)
  const left = readdirSync(folder).filter((name) => /^claude-\d/.test(name))
  assert.equal(left.length, 10)
  assert.equal(readdirSync(folder).length, 12)
})

test('the last lines of a screen that rests are in the log while its program still runs', async (t) => {
  const clock = new HandClock(0)
  const scribe = new TerminalLog(folderOf(t), 'claude', { clock, mask: (text) => text })
  const over = Promise.withResolvers<void>()
  const drawn = Promise.withResolvers<void>()
  const host = scriptedTerminals(() => async (tty) => {
    tty.print('the last words\n> ')
    drawn.resolve()
    await over.promise
    return 0
  })
  const following = scribe.follow(await host.open('x', { cwd: '/' }))
  await drawn.promise
  // The screen is drawn by real time, whatever the clock says.
  const rows = await until(async () => {
    await clock.turn(500)
    const text = existsSync(scribe.file) ? readFileSync(scribe.file, 'utf8') : ''
    return text === '' ? undefined : text.trimEnd().split('\n')
  })
  assert.deepEqual(
    rows.map((row) => row.replace(/^\S+ /, '')),
    ['the last words', '>'],
  )
  over.resolve()
  await following
})

test('tokens are as reported, else as printed, else as estimated', () => {
  const meter = new TokenMeter(100)
  assert.equal(new TokenMeter().words(), undefined)
  meter.spend({ input: 1_000, output: 200, source: 'reported' })
  meter.see('  1,500 tokens used')
  meter.spend({ input: 5, output: 5, source: 'estimated' })
  meter.see('usage: {"input_tokens":10,"output_tokens":5}')
  meter.spend({ input: 5, output: 5, source: 'estimated' })
  meter.spend({ input: 4, output: 6, source: 'estimated' })
  assert.equal(meter.words(), 'Tokens: 2,825 (100 earlier, 1,200 reported, 1,515 parsed, 10 estimated)')
})

test('Ctrl+C is held, Ctrl+] sends one, and a paste is only text', () => {
  const push = (...texts: string[]) => {
    const key = new SupervisedKeys()
    return texts.map((text) => key.push(text))
  }
  const typed = (text: string, leaves = false) => ({ typed: text, leaves })
  assert.deepEqual(push('ab\u0003cd'), [typed('ab', true)])
  assert.deepEqual(push('\u001b[99;5u'), [typed('', true)])
  assert.deepEqual(push('a\u001db'), [typed('a\u0003b')])
  assert.deepEqual(push('\u001b[200~x\u0003', '\u001dy\u001b[201~\u0003'), [
    typed('\u001b[200~x\u0003'),
    typed('\u001dy\u001b[201~', true),
  ])
})

test('the window is called as we call it, whatever the program says', () => {
  const bytes = Buffer.from('a\u001b]0;mine\u0007b\u001b]2;mine\u001b\\c')
  const shown = (untitled: boolean) => Buffer.from(new OutputFilter(untitled).push(bytes).bytes).toString('latin1')
  assert.equal(shown(true), 'abc')
  assert.equal(shown(false), bytes.toString('latin1'))
})

test('each CLI is lent a server in its own way, and no key is in the words', () => {
  const start = { command: '/no de', args: ['a', '--b'], env: { TERMAITE_HUB: 'http://x' } }
  const server = { name: 'hub', ...start, patient: { args: ['a', '--long'], ms: 600_000 } }
  const lent = Object.fromEntries(
    allProfiles().flatMap(({ name, screen }) => (screen?.lends ? [[name, screen.lends(server, '/f')]] : [])),
  )
  const patient = { ...start, args: ['a', '--long'], timeout: 600_000 }
  const text = (entry: object) => JSON.stringify({ mcpServers: { hub: entry } })
  assert.deepEqual(lent, {
    claude: { words: '--mcp-config /f --allowedTools mcp__hub', text: text({ type: 'stdio', ...patient }) },
    qwen: { words: '--mcp-config /f', text: text({ ...patient, trust: true, alwaysLoadTools: true }) },
    copilot: {
      words: '--additional-mcp-config @/f --allow-tool hub',
      text: text({ type: 'local', ...start, tools: ['*'] }),
    },
    codex: {
      words: `-c 'mcp_servers.hub.command="/no de"' -c 'mcp_servers.hub.args=["a","--long"]' -c mcp_servers.hub.startup_timeout_sec=60 -c mcp_servers.hub.required=true -c mcp_servers.hub.tool_timeout_sec=600 -c 'mcp_servers.hub.default_tools_approval_mode="approve"' -c 'mcp_servers.hub.env.TERMAITE_HUB="http://x"'`,
    },
  })
})
