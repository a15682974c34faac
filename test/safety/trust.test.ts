import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, statSync } from 'node:fs'
import { symlinkSync, truncateSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { definitionFolders } from '../../src/core/profile/definition-folders.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { TrustBook, trustQuestion } from '../../src/safety/trust/folder-trust.ts'
import { steeringFiles } from '../../src/safety/trust/steering-files.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

async function inProject(
  body: (root: string, lay: (path: string, text: string) => void, book: TrustBook) => Promise<void>,
) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-trust-')))
  const lay = (path: string, text: string) => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  try {
    mkdirSync(join(base, 'project'))
    await body(join(base, 'project'), lay, new TrustBook(memoryStore(), { clock: new HandClock() }))
  } finally {
    rmSync(base, { recursive: true })
  }
}
const brief = ({ state, files }: { state: string; files: string[] }) => [state, ...files]

test('a folder with nothing that runs or steers needs no trust', () =>
  inProject(async (root, lay, book) => {
    lay('project/src/a.ts', 'x')
    lay('project/.termaite/sessions/1/session.json', '{}')
    assert.deepEqual(brief(await book.of(root)), ['trusted'])
  }))

test('a folder in which nothing steers agents is agreed to only when a person says so', (t) =>
  inProject(async (root, lay, book) => {
    lay('project/node_modules/.bin/tsc', '#!/bin/sh')
    const seen = await book.of(root)
    assert.deepEqual([seen.state, seen.agreed], ['trusted', false])
    assert.equal((await book.trust(root, seen.mark)).agreed, true)
    assert.equal((await book.of(root)).agreed, true)
    lay('project/.mcp.json', '{}')
    const later = await book.of(root)
    assert.deepEqual([later.state, later.agreed, ...later.files], ['unknown', false, '.mcp.json'])
    await book.trust(root, later.mark)
    assert.equal((await book.of(root)).agreed, true)
    assert.deepEqual(await book.forget(root), [root])
    assert.equal((await book.of(root)).agreed, false)
    golden(t, trustQuestion('/p', { state: 'trusted', files: [], changes: [], mark: '' }))
  }))

test('every file in a folder of commands, subagents and skills counts for the trust', () =>
  inProject(async (root, lay, book) => {
    const files = Object.values(definitionFolders).flatMap((folders) => folders.map((folder) => `${folder}/x/a.md`))
    for (const file of files) lay(`project/${file}`, 'a')
    assert.deepEqual(brief(await book.of(root)), ['unknown', ...files.sort()])
  }))

test('trust is asked for once, and again when a file changed, came or went', () =>
  inProject(async (root, lay, book) => {
    lay('project/.mcp.json', '{}')
    lay('project/.claude/skills/x/SKILL.md', 'a')
    lay('project/.termaite/settings.json', '{}')
    const seen = await book.of(root)
    assert.deepEqual(brief(seen), ['unknown', '.claude/skills/x/SKILL.md', '.mcp.json', '.termaite/settings.json'])
    assert.equal((await book.trust(root, seen.mark)).state, 'trusted')
    assert.equal((await book.of(root)).state, 'trusted')

    lay('project/.claude/skills/x/SKILL.md', 'b')
    lay('project/.claude/skills/x/scripts/run.sh', 'rm')
    assert.deepEqual(brief(await book.of(root)), [
      'changed',
      '.claude/skills/x/SKILL.md',
      '.claude/skills/x/scripts/run.sh',
    ])
    rmSync(join(root, '.claude'), { recursive: true })
    assert.deepEqual(brief(await book.of(root)), ['changed', '.claude/skills/x/SKILL.md'])
    const now = await book.of(root)
    assert.equal((await book.trust(root, now.mark)).state, 'trusted')
    await book.forget(root)
    assert.equal((await book.of(root)).state, 'unknown')
  }))

test('a file that changed while a person was reading is not trusted unseen', () =>
  inProject(async (root, lay, book) => {
    lay('project/.mcp.json', '{}')
    const seen = await book.of(root)
    lay('project/.mcp.json', '{"mcpServers":{}}')
    assert.equal((await book.trust(root, seen.mark)).state, 'unknown')
  }))

test('a link out of the project counts by its target, which is not opened', () =>
  inProject(async (root, lay, book) => {
    lay('away/skill/SKILL.md', 'a')
    symlinkSync('../away', join(root, '.skills'))
    symlinkSync('/', join(root, '.mcp.json'))
    await book.trust(root, (await book.of(root)).mark)
    lay('away/skill/SKILL.md', 'b')
    assert.deepEqual(brief(await book.of(root)), ['trusted', '.mcp.json', '.skills'])
    rmSync(join(root, '.skills'))
    symlinkSync('../elsewhere', join(root, '.skills'))
    assert.deepEqual(brief(await book.of(root)), ['changed', '.skills'])
  }))

test('a link inside counts by its content; one that leads to a folder above it is followed once', () =>
  inProject(async (root, lay, book) => {
    lay('project/.skills/x/SKILL.md', 'a')
    lay('project/tools/mcp.json', '{}')
    symlinkSync('tools/mcp.json', join(root, '.mcp.json'))
    symlinkSync('..', join(root, '.skills', 'loop'))
    await book.trust(root, (await book.of(root)).mark)
    assert.equal((await book.of(root)).state, 'trusted')
    lay('project/tools/mcp.json', '{"mcpServers":{}}')
    const { state, files } = await book.of(root)
    assert.deepEqual([state, files.includes('.mcp.json')], ['changed', true])
  }))

test('files of the project that a hook’s command names are pinned with it', () =>
  inProject(async (root, lay, book) => {
    lay('project/tools/check.sh', 'one')
    lay('project/tools/other.sh', 'one')
    lay('project/package.json', '{}')
    const command = 'sh "$CLAUDE_PROJECT_DIR/tools/check.sh" ../away.sh /etc/hosts tools'
    const hooks = { Stop: [{ hooks: [{ type: 'command', command }] }] }
    lay('project/.claude/settings.json', JSON.stringify({ permissions: { deny: ['Edit(package.json)'] }, hooks }))
    await book.trust(root, (await book.of(root)).mark)
    assert.deepEqual(brief(await book.of(root)), ['trusted', '.claude/settings.json', 'tools/check.sh'])
    lay('project/tools/other.sh', 'two')
    assert.equal((await book.of(root)).state, 'trusted')
    lay('project/tools/check.sh', 'two')
    assert.deepEqual(brief(await book.of(root)), ['changed', 'tools/check.sh'])
  }))

/** A command in each of its forms, the scripts that it runs, and files that it does not run. */
const commands: [what: string, servers: Record<string, unknown>, pinned: string[]][] = [
  ['an argument', { command: 'node', args: ['tools/server.js', '--port', '1'] }, ['tools/server.js']],
  ['the program itself', { command: './tools/run.sh' }, ['tools/run.sh']],
  ['a script below its cwd', { command: 'python3', args: ['-u', 'main.py'], cwd: 'py' }, ['py/main.py']],
  ['a module', { command: 'python3', args: ['-m', 'pkg.tool'] }, ['pkg/tool.py']],
  ['a folder for an interpreter', { command: 'node', args: ['./app'] }, ['app/index.js']],
  [
    'a flag with its value',
    { command: 'node', args: ['--require=./tools/server.js', 'app/index.js'] },
    ['app/index.js', 'tools/server.js'],
  ],
  [
    'a variable of its environment',
    { command: 'bash', args: ['-l'], env: { BASH_ENV: './tools/run.sh' } },
    ['tools/run.sh'],
  ],
  ['the default of a variable', { command: 'node', args: ['${SERVER:-tools/server.js}'] }, ['tools/server.js']],
  ['the project by a variable', { command: '${PWD}/tools/run.sh' }, ['tools/run.sh']],
  [
    'a line for a shell',
    { command: 'sh', args: ['-c', 'cd tools && node "tools/server.js">log'] },
    ['tools/server.js'],
  ],
  [
    'a script of the package',
    { command: 'npm', args: ['run', 'mcp'] },
    ['package.json (script mcp)', 'tools/server.js'],
  ],
  ['a local program of the package', { command: 'npx', args: ['-y', 'served'] }, ['node_modules/.bin/served']],
  ['a target of make', { command: 'make', args: ['serve'] }, ['Makefile']],
]

const bodies = {
  'tools/server.js': 'one',
  'tools/run.sh': 'one',
  'py/main.py': 'one',
  'pkg/tool.py': 'one',
  'app/index.js': 'one',
  'package.json': '{"scripts":{"mcp":"node ./tools/server.js","other":"x"},"version":"1"}',
  'node_modules/.bin/served': 'one',
  Makefile: 'one',
}

for (const [what, server, pinned] of commands)
  for (const file of ['.mcp.json', 'termaite.mcp.yaml', '.termaite/settings.json'])
    test(`files that an MCP server of ${file} runs are pinned: ${what}`, () =>
      inProject(async (root, lay, book) => {
        for (const [path, text] of Object.entries(bodies)) lay(`project/${path}`, text)
        lay(`project/${file}`, JSON.stringify({ mcpServers: { one: server } }))
        const now = await book.of(root)
        assert.deepEqual(now.files.toSorted(), [file, ...pinned].toSorted())
        await book.trust(root, now.mark)
        for (const path of pinned.map((one) => one.replace(/ \(.*/, ''))) {
          const before = bodies[path as keyof typeof bodies]
          lay(`project/${path}`, before.replace('one', 'two').replace('./tools', 'tools'))
          const changed = await book.of(root)
          const [change] = changed.changes
          assert.deepEqual(
            [changed.state, change!.path.replace(/ \(.*/, ''), change!.how],
            ['changed', path, 'changed'],
          )
          lay(`project/${path}`, before)
          assert.equal((await book.of(root)).state, 'trusted')
        }
        lay('project/package.json', bodies['package.json'].replace('"1"', '"2"'))
        lay('project/README.md', 'x')
        assert.equal((await book.of(root)).state, 'trusted', 'nothing else asks again')
      }))

test('each change is shown by its kind: the lines of a script, a new file, a removed one', () =>
  inProject(async (root, lay, book) => {
    lay(
      'project/.mcp.json',
      JSON.stringify({ mcpServers: { one: { command: 'node', args: ['a.js', 'b.js', 'c.js'] } } }),
    )
    lay('project/a.js', 'one\n')
    lay('project/b.js', 'same\n')
    await book.trust(root, (await book.of(root)).mark)
    lay('project/a.js', 'two\n')
    rmSync(join(root, 'b.js'))
    lay('project/c.js', 'new\n')
    const now = await book.of(root)
    assert.deepEqual(await book.diffs(root, now), [
      { type: 'diff', path: 'a.js', before: 'one\n', after: 'two\n' },
      { type: 'diff', path: 'b.js', before: 'same\n', after: '' },
      { type: 'diff', path: 'c.js', after: 'new\n' },
    ])
    assert.deepEqual(
      now.changes.map(({ path, how }) => [path, how]),
      [
        ['a.js', 'changed'],
        ['b.js', 'removed'],
        ['c.js', 'new'],
      ],
    )
  }))

test('a link out of the project names no script and is not read', () =>
  inProject(async (root, lay, book) => {
    lay('away/mcp.json', JSON.stringify({ mcpServers: { one: { command: 'node', args: ['a.js'] } } }))
    lay('project/a.js', 'one')
    symlinkSync('../away/mcp.json', join(root, '.mcp.json'))
    symlinkSync('../away/mcp.json', join(root, 'b.js'))
    assert.deepEqual(brief(await book.of(root)), ['unknown', '.mcp.json'])
  }))

test('our own home in a folder is the person’s own, and needs no trust', () =>
  inProject(async (root, lay) => {
    lay('project/.termaite/settings.json', '{}')
    lay('project/.termaite/skills/x/SKILL.md', 'a')
    const book = new TrustBook(memoryStore(), { own: join(root, '.termaite') })
    assert.deepEqual(brief(await book.of(root)), ['trusted'])
  }))

test('a link of the project to our own home came with the project', () =>
  inProject(async (root, lay) => {
    for (const own of [join(root, '.termaite'), join(root, '..', 'own')]) {
      const book = new TrustBook(memoryStore(), { own })
      const planted = join(own, 'projects/x/home/servers.json')
      lay(relative(dirname(root), planted), '{}')
      symlinkSync(planted, join(root, '.mcp.json'))
      assert.deepEqual(brief(await book.of(root)), ['unknown', '.mcp.json'])
      rmSync(join(root, '.mcp.json'))
    }
  }))

test('a worktree in our home is not our home: its files are trusted where its project was, and as long as they are the same', () =>
  inProject(async (root, lay) => {
    const own = join(root, '..', 'home')
    const book = new TrustBook(memoryStore(), { own })
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: root })
    lay('project/.mcp.json', '{}')
    lay('project/a/.skills/x/SKILL.md', 'a')
    git('init', '-q')
    git('add', '-A')
    git('commit', '-q', '-m', 'first')
    const worktree = join(own, 'worktrees', 'p', 'agent')
    git('worktree', 'add', '-q', worktree)
    const deep = (at: string) => join(at, 'a')
    assert.deepEqual(brief(await book.of(worktree, deep(worktree))), ['unknown', '.mcp.json', 'a/.skills/x/SKILL.md'])
    // The project itself may hold more than Git knows.
    lay('project/.claude/settings.local.json', '{}')
    await book.trust(root, (await book.of(root, deep(root))).mark, deep(root))
    assert.equal((await book.of(worktree, deep(worktree))).state, 'trusted')
    lay('home/worktrees/p/agent/.mcp.json', '{"mcpServers":{}}')
    assert.deepEqual(brief(await book.of(worktree, deep(worktree))), ['changed', '.mcp.json'])
  }))

test('steering files between the project and the agent’s folder count, and are trusted by themselves', () =>
  inProject(async (root, lay, book) => {
    const deep = join(root, 'a', 'b')
    lay('project/a/b/x.ts', '')
    lay('project/a/.skills/x/SKILL.md', 'a')
    lay('project/other/.skills/y/SKILL.md', 'a')
    lay('project/a/b/.mcp.json', '{}')
    assert.deepEqual(brief(await book.of(root)), ['trusted'])
    const seen = await book.of(root, deep)
    assert.deepEqual(brief(seen), ['unknown', 'a/.skills/x/SKILL.md', 'a/b/.mcp.json'])
    assert.equal((await book.trust(root, seen.mark)).state, 'trusted', 'of the project itself nothing is asked')
    assert.equal((await book.of(root, deep)).state, 'unknown', 'and a mark of one place is none of another')
    assert.equal((await book.trust(root, seen.mark, deep)).state, 'trusted')
    lay('project/.mcp.json', '{}')
    assert.deepEqual(brief(await book.of(root, deep)), ['unknown', '.mcp.json'])
    await book.forget(root)
    assert.deepEqual(brief(await book.of(root, deep)), [
      'unknown',
      '.mcp.json',
      'a/.skills/x/SKILL.md',
      'a/b/.mcp.json',
    ])
  }))

test('an answer that a CLI keeps does not end the trust, and everything else does', () =>
  inProject(async (root, lay, book) => {
    const settings = (more: object) => JSON.stringify({ hooks: {}, ...more })
    lay('project/.claude/settings.local.json', settings({}))
    await book.trust(root, (await book.of(root)).mark)
    lay('project/.claude/settings.local.json', settings({ permissions: { allow: ['Bash(npm test)'] } }))
    assert.deepEqual(brief(await book.of(root)), ['trusted', '.claude/settings.local.json'])
    // A file with answers alone does not, either.
    lay('project/.qwen/settings.json', JSON.stringify({ permissions: { allow: ['Edit'] } }))
    assert.deepEqual(brief(await book.of(root)), ['trusted', '.claude/settings.local.json', '.qwen/settings.json'])
    const planted = [{ permissions: { allow: [], defaultMode: 'bypassPermissions' } }, { apiKeyHelper: 'x' }]
    for (const more of planted) {
      lay('project/.claude/settings.local.json', settings(more))
      assert.deepEqual(brief(await book.of(root)), ['changed', '.claude/settings.local.json'])
    }
    lay('project/.claude/settings.local.json', settings({}))
    lay('project/.github/hooks/x.json', '{}')
    assert.deepEqual(brief(await book.of(root)), ['changed', '.github/hooks/x.json'])
  }))

test('rules that a project brings are no answers of the person: before a yes to the folder, and in a file that git knows', () =>
  inProject(async (root, lay, book) => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root })
    const local = '.claude/settings.local.json'
    const answers = (...allow: string[]) => lay(`project/${local}`, JSON.stringify({ permissions: { allow } }))
    const isNew = (path: string) => path === local
    git('init', '-q')
    lay(`project/${local}`, '{"permissions":{"allow":[]}}')
    assert.deepEqual(brief(await book.of(root)), ['trusted'])
    answers('Bash')
    assert.deepEqual(brief(await book.of(root)), ['unknown', local], 'nobody has said yes')
    git('add', '-A')
    await book.keepAnswers(root, root, isNew)
    assert.deepEqual(brief(await book.of(root)), ['unknown', local], 'git brought it while a CLI ran')
    git('rm', '-q', '--cached', local)
    await book.keepAnswers(root, root, () => false)
    assert.deepEqual(brief(await book.of(root)), ['unknown', local], 'it was there before the CLI started')
    await book.keepAnswers(root, root, isNew)
    answers('Bash', 'Edit')
    const given = await book.of(root)
    assert.deepEqual([brief(given), given.agreed, await book.all()], [['trusted', local], false, []])
    lay('project/.mcp.json', '{}')
    assert.deepEqual(brief(await book.of(root)), ['unknown', local, '.mcp.json'], 'and nothing else')
    await book.trust(root, (await book.of(root)).mark)
    answers('Bash', 'Edit', 'Write')
    assert.equal((await book.of(root)).state, 'trusted')
    for (const version of ['2', '4']) {
      git('update-index', '--index-version', version)
      git('add', local)
      assert.deepEqual(brief(await book.of(root)), ['changed', local], 'a pull brought it')
    }
  }))

test('scripts that the settings of any CLI name are pinned, also those of settings below the project', () =>
  inProject(async (root, lay, book) => {
    const deep = join(root, 'a')
    const hook = (command: string) => JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
    lay('project/a/.claude/settings.json', hook('node scripts/stop.js'))
    lay(
      'project/.gemini/settings.json',
      JSON.stringify({ mcpServers: { x: { command: 'python3', args: ['x/serve.py'] } } }),
    )
    lay('project/.codex/config.toml', '[mcp_servers.y]\ncommand = "node"\nargs = ["y.js"]\n')
    lay('project/.skills/z/data.json', '{"command":"node z.js"}')
    lay('project/.github/hooks/h.json', '{"hooks":{"sessionStart":[{"type":"command","bash":"./h.sh"}]}}')
    const scripts = ['a/scripts/stop.js', 'h.sh', 'x/serve.py', 'y.js']
    for (const path of [...scripts, 'z.js']) lay(`project/${path}`, 'first')
    await book.trust(root, (await book.of(root, deep)).mark, deep)
    assert.equal((await book.of(root, deep)).state, 'trusted')
    lay('project/z.js', 'second')
    assert.equal((await book.of(root, deep)).state, 'trusted', 'a skill’s data starts nothing')
    for (const path of scripts) {
      lay(`project/${path}`, 'second')
      assert.deepEqual(brief(await book.of(root, deep)), ['changed', path])
      lay(`project/${path}`, 'first')
    }
  }))

test('a folder with a name that is no text cannot be trusted, because nobody would see what lies behind it', (t) =>
  inProject(async (root, lay, book) => {
    lay('project/.codex/skills/a/SKILL.md', 'a')
    writeFileSync(Buffer.concat([Buffer.from(join(root, '.codex/skills/b')), Buffer.from([0xff])]), 'b')
    const { state, excess } = await book.of(root)
    golden(t, { state, excess })
    assert.equal((await book.trust(root, (await book.of(root)).mark)).state, 'unknown')
  }))

test('the card shows every file it is about', (t) => {
  const card = trustQuestion('/p', { state: 'changed', files: ['.mcp.json'], changes: [], mark: '' })
  golden(t, card)
})

test('a large file is pinned by its content, whatever its size and its time say', () =>
  inProject(async (root, lay, book) => {
    lay('project/.skills/a/big.sh', 'echo good\n')
    const file = join(root, '.skills/a/big.sh')
    truncateSync(file, 17 * 1024 * 1024)
    utimesSync(file, 1_000, 1_000)
    const { size, mtimeMs } = statSync(file)
    await book.trust(root, (await book.of(root)).mark)
    assert.equal((await book.of(root)).state, 'trusted')
    const fd = openSync(file, 'r+')
    writeSync(fd, 'echo EVIL\n')
    closeSync(fd)
    utimesSync(file, 1_000, 1_000)
    assert.deepEqual([statSync(file).size, statSync(file).mtimeMs], [size, mtimeMs])
    assert.deepEqual(brief(await book.of(root)), ['changed', '.skills/a/big.sh'])
  }))

test('a folder with more than can be checked is not trusted, also if it was before, and says why', (t) =>
  inProject(async (root, lay, book) => {
    lay('project/.skills/a/SKILL.md', 'a')
    await book.trust(root, (await book.of(root)).mark)
    lay('project/.skills/b/data', '')
    truncateSync(join(root, '.skills/b/data'), 256_000_000)
    const now = await book.of(root)
    golden(t, [now.state, now.agreed, now.files, now.excess])
    assert.equal((await book.trust(root, now.mark)).state, 'unknown')
    rmSync(join(root, '.skills/b'), { recursive: true })
    assert.equal((await book.of(root)).state, 'trusted')
  }))

test('the limits on steering files count files, folders and bytes; a pipe is not waited for', (t) =>
  inProject(async (root, lay) => {
    for (const name of ['a', 'b', 'c']) lay(`project/.skills/${name}/SKILL.md`, '1234')
    execFileSync('mkfifo', [join(root, '.skills/pipe')])
    const excess = async (files: number, folders: number, bytes: number) =>
      (await steeringFiles(root, '', undefined, { files, folders, bytes })).excess
    golden(t, [await excess(3, 4, 12), await excess(2, 4, 12), await excess(3, 3, 12), await excess(3, 4, 11)])
  }))
