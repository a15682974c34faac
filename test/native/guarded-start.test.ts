import type { Argv, AskedPerson } from '../../src/agents/enclosure.ts'
import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { wallAround } from '../../src/native/agent-wall.ts'
import { guardedStart } from '../../src/native/guarded-start.ts'
import { allProfiles, profileNamed } from '../../src/profiles/all.ts'
import { TrustBook } from '../../src/safety/trust/folder-trust.ts'
import { steering } from '../../src/safety/trust/steering-files.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Started = Awaited<ReturnType<typeof guardedStart>>
type Shown = Omit<Exclude<Started, { refused: unknown }>, 'fixed'> | Extract<Started, { refused: unknown }>

/** A project with files, a home with files, and a CLI that is about to be started there. */
function grounds(t: { after(act: () => void): void }, files: readonly string[], home: Record<string, string> = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  mkdirSync(join(base, 'project/.git'), { recursive: true })
  for (const path of files) write(`project/${path}`, '{"x":1}')
  for (const [path, text] of Object.entries(home)) write(`home/${path}`, text.replaceAll('<base>', base))
  const own = join(base, 'own')
  const root = join(base, 'project')
  const book = new TrustBook(fileStore(own), { own })
  const whole = async (cli: string, cwd = root, env: Record<string, string> = {}, ask?: AskedPerson, isOwn = false) => {
    const argv: Argv = ['bash', '-c', cli]
    const seat = { cwd, env: { HOME: join(base, 'home'), ...env }, ...(ask && { ask }) }
    return guardedStart(
      argv,
      { agent: { name: cli, ...(isOwn && { command: cli }) }, profile: profileNamed(cli)!, own },
      seat,
    )
  }
  /** Without the text that holds what was decided, which differs with the content of the files. */
  const start: (...how: Parameters<typeof whole>) => Promise<Shown> = async (...how) => {
    const started = await whole(...how)
    if ('refused' in started) return started
    const { fixed: _fixed, ...shown } = started
    return shown
  }
  const fixed = async (cli: string) => {
    const started = await whole(cli)
    return 'refused' in started ? 'refused' : started.fixed
  }
  const trust = async () => book.trust(root, (await book.of(root)).mark)
  return { base, root, start, fixed, trust, write }
}

/** A file of each CLI from which it would start a program. */
const files: Record<string, string> = {
  ...{ claude: '.claude/settings.json', codex: '.codex/config.toml', gemini: '.gemini/settings.json' },
  ...{ qwen: '.qwen/settings.json', copilot: '.github/hooks/x.json', opencode: 'opencode.json', pi: '.pi/x.ts' },
  ...{ cline: '.clinerules', amp: '.amp/settings.json', crush: 'crush.json', aider: '.aider.conf.yml' },
}

for (const [cli, file] of Object.entries(files))
  test(`${cli} leaves out what the person has not trusted, until it is trusted and after it changed`, async (t) => {
    const it = grounds(t, [file], { '.copilot/config.json': '// Managed.\n{"trustedFolders":["<base>/project"]}' })
    const [unknown, , trusted] = [await it.start(cli), await it.trust(), await it.start(cli)]
    it.write(`project/${file}`, '{"changed":1}')
    const changed = await it.start(cli)
    golden(t, { unknown, trusted }, { [it.base]: '<base>', [it.base.replaceAll('/', '-').slice(1)]: '<base>' })
    assert.deepEqual(changed, unknown)
    assert.notDeepEqual(trusted, unknown)
  })

test('a process is started in another way once a file of the project, or the trust in it, has changed', async (t) => {
  const it = grounds(t, ['.claude/settings.json'])
  const unknown = [await it.fixed('claude'), await it.fixed('claude')]
  await it.trust()
  const trusted = [await it.fixed('claude'), await it.fixed('claude')]
  it.write('project/.claude/settings.json', '{"changed":1}')
  await it.trust()
  const again = await it.fixed('claude')
  assert.deepEqual([unknown[0], trusted[0]], [unknown[1], trusted[1]])
  assert.equal(new Set([...unknown, ...trusted, again]).size, 3)
})

test('a CLI that cannot leave such files out asks where a person can answer, and agents that start together share the answer', async (t) => {
  const it = grounds(t, ['.gemini/settings.json'])
  const asked: Question[] = []
  const answers = [undefined, ['no'], ['trust']]
  const ask: AskedPerson = async (question) => {
    asked.push(question)
    return answers.shift()
  }
  const starts = async () => !('refused' in (await it.start('gemini', it.root, {}, ask)))
  assert.deepEqual([await starts(), await starts()], [false, false])
  assert.deepEqual(await Promise.all([starts(), starts()]), [true, true])
  assert.equal(await starts(), true)
  golden(t, asked, { [it.base]: '<base>' })
  it.write('project/.gemini/settings.json', '{"changed":1}')
  assert.equal(await starts(), false)
})

test('a command that the person wrote takes no further words, so that a CLI that needs such is not started with it', async (t) => {
  const it = grounds(t, ['.claude/settings.json', '.qwen/settings.json'])
  const [claude, qwen] = [
    await it.start('claude', it.root, {}, undefined, true),
    await it.start('qwen', it.root, {}, undefined, true),
  ]
  golden(t, claude, { [it.base]: '<base>' })
  assert.ok(!('refused' in qwen))
  assert.deepEqual([qwen.argv, qwen.told.length], [['bash', '-c', 'qwen'], 1])
})

test('a command that the running agent wants is left as it is', async (t) => {
  const it = grounds(t, ['.codex/config.toml'])
  const env = { HOME: join(it.base, 'home'), TERMAITE_HOME: join(it.base, 'own') }
  const enclose = wallAround({ name: 'codex', kind: 'pipe', profile: 'codex' }, { env })
  const seat = { leash: 'edit' as const, cwd: it.root, env }
  assert.equal(await enclose(['bash', '-c', 'ls'], { ...seat, command: true }), undefined)
  const agent = await enclose(['bash', '-c', 'codex'], seat)
  assert.ok(agent && 'argv' in agent && agent.argv[2]!.startsWith('codex -c '))
})

test('rules in a file of answers that came with the project are left out, and those of the person are kept', async (t) => {
  const it = grounds(t, [])
  const env = { HOME: join(it.base, 'home'), TERMAITE_HOME: join(it.base, 'own') }
  const enclose = wallAround({ name: 'claude', kind: 'pipe', profile: 'claude' }, { env })
  const answer = (rule: string) =>
    it.write('project/.claude/settings.local.json', JSON.stringify({ permissions: { allow: [rule] } }))
  const run = async (whileItRuns: () => void) => {
    const started = await enclose(['bash', '-c', 'claude'], { leash: 'ask', cwd: it.root, env })
    assert.ok(started && 'argv' in started)
    whileItRuns()
    return [started.argv[2], (await started.settle()).length]
  }
  const without = 'claude --setting-sources user --add-dir=.'
  answer('Bash')
  assert.deepEqual(await run(() => answer('Edit')), [without, 1])
  assert.deepEqual(await run(() => rmSync(join(it.root, '.claude'), { recursive: true })), [without, 1])
  assert.deepEqual(await run(() => answer('Bash(npm test)')), ['claude', 0])
  assert.deepEqual(await run(() => {}), ['claude', 0])
})

test('a yes to files that changed while the card was open counts for nothing', async (t) => {
  const it = grounds(t, ['.gemini/settings.json'])
  const started = await it.start('gemini', it.root, {}, async () => {
    it.write('project/.gemini/settings.json', '{"changed":1}')
    return ['trust']
  })
  assert.ok('refused' in started)
})

test('what leads out of the project, or nowhere yet, is never used, because nobody sees what it becomes', async (t) => {
  const it = grounds(t, ['.claude/settings.json', '.gemini/settings.json'])
  it.write('away/skill/SKILL.md', 'a')
  it.write('away/config.toml', '')
  symlinkSync('../../away', join(it.root, '.claude/skills'))
  symlinkSync(join(it.base, 'own/projects/x'), join(it.root, '.codex'))
  symlinkSync('../../away', join(it.root, '.gemini/extensions'))
  assert.equal((await it.trust()).state, 'trusted')
  const ask = async () => assert.fail('a yes could not pin it')
  const starts = []
  for (const cli of ['claude', 'codex', 'gemini']) starts.push(await it.start(cli, it.root, {}, ask))
  golden(t, starts, { [it.base]: '<base>' })
})

test('a CLI that leaves out the project’s instructions with its settings is handed them', async (t) => {
  const it = grounds(t, ['.codex/config.toml', '.qwen/settings.json'], {
    '.codex/config.toml': 'developer_instructions = "Mine."',
  })
  it.write('project/AGENTS.md', 'The root’s: `$(touch x)` "and" \\ more.')
  it.write('project/a/AGENTS.override.md', 'Below.')
  it.write('project/a/AGENTS.md', 'Overridden.')
  it.write('project/a/b/QWEN.md', 'Deep.')
  symlinkSync(join(it.base, 'home/.codex/config.toml'), join(it.root, 'a/b/AGENTS.md'))
  for (const cli of ['codex', 'qwen']) {
    const started = await it.start(cli, join(it.root, 'a/b'))
    assert.ok(!('refused' in started))
    const [, , line] = started.argv
    // The words are a shell's: what it makes of them is what the CLI gets.
    const printed = execFileSync('bash', ['-c', line!.replace(cli, `printf '%s\\n'`)], { cwd: it.base })
    golden(t, printed.toString().split('\n'), { [it.base]: '<base>' })
  }
})

test('Copilot leaves such files out by itself in a folder that its own settings do not trust', async (t) => {
  const it = grounds(t, ['.github/hooks/x.json'], { '.copilot/config.json': '{"trustedFolders":["/elsewhere"]}' })
  const started = await it.start('copilot')
  assert.equal('refused' in started, false)
})

test('files in the folder in which a CLI is started count too', async (t) => {
  const it = grounds(t, ['a/b/.mcp.json'])
  await it.trust()
  const told = async (folder: string) => {
    const started = await it.start('claude', join(it.root, folder))
    return 'refused' in started ? undefined : started.told.length
  }
  assert.deepEqual([await told('a'), await told('a/b')], [0, 1])
})

test('settings of the system stay, with ours among them', async (t) => {
  const it = grounds(t, ['.env'], { 'system.json': '{/* ours */"ui":{"x":1},"advanced":{"y":2}}' })
  const started = await it.start('qwen', it.root, {
    QWEN_CODE_SYSTEM_SETTINGS_PATH: join(it.base, 'home/system.json'),
  })
  assert.ok(!('refused' in started))
  const text = readFileSync(started.vars.QWEN_CODE_SYSTEM_SETTINGS_PATH!, 'utf8')
  const { ui, advanced } = JSON.parse(text)
  assert.deepEqual([ui, advanced.y, advanced.excludedEnvVars.includes('OPENAI_BASE_URL')], [{ x: 1 }, 2, true])
})

test('a file of ours that no CLI was started with for a month is removed', async (t) => {
  const it = grounds(t, ['.qwen/settings.json'])
  await it.start('qwen')
  const guards = join(it.base, 'own/guards')
  const used = readdirSync(guards)
  const old = new Date(Date.now() - 31 * 24 * 3_600_000)
  writeFileSync(join(guards, 'qwen-0-left.json'), '{}')
  for (const name of readdirSync(guards)) utimesSync(join(guards, name), old, old)
  await it.start('qwen')
  assert.deepEqual([used.length > 0, readdirSync(guards)], [true, used])
})

test('Gemini’s variables are those of the person, or empty', async (t) => {
  const it = grounds(t, ['.env'])
  const started = await it.start('gemini', it.root, {
    https_proxy: 'http://proxy',
    GOOGLE_GEMINI_BASE_URL: 'http://own',
  })
  assert.ok(!('refused' in started))
  const { HTTPS_PROXY, https_proxy, NO_PROXY, GOOGLE_GEMINI_BASE_URL, GOOGLE_VERTEX_BASE_URL } = started.vars
  assert.deepEqual(
    [HTTPS_PROXY, https_proxy, NO_PROXY, GOOGLE_GEMINI_BASE_URL, GOOGLE_VERTEX_BASE_URL],
    ['http://proxy', 'http://proxy', '', 'http://own', ''],
  )
})

test('Gemini’s keys are the person’s where the project has variables for it, and from the person’s own file where it has none', async (t) => {
  const keyOf = async (files: string[]) => {
    const it = grounds(t, files)
    const started = await it.start('gemini', it.root, { GOOGLE_API_KEY: 'own' })
    return 'refused' in started ? undefined : [started.vars.GEMINI_API_KEY, started.vars.GOOGLE_API_KEY]
  }
  assert.deepEqual(await keyOf(['.env']), ['', 'own'])
  assert.deepEqual(await keyOf([]), [undefined, undefined])
})

test('everything that a CLI would use is pinned by the trust in a folder', () => {
  const isPinned = (name: string) => Object.keys(steering).some((one) => name === one || name.startsWith(`${one}/`))
  const used = allProfiles().flatMap(({ projectFiles }) => projectFiles)
  assert.deepEqual(
    used.filter((name) => !name.endsWith('.md') && !isPinned(name)),
    [],
  )
})
