import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HandClock } from '../../src/base/hand-clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { TrustBook, trustQuestion } from '../../src/safety/trust/folder-trust.ts'

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

test('it is asked for once, and again when anything changed, came or went', () =>
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

test('what changed while a person was reading is not trusted unseen', () =>
  inProject(async (root, lay, book) => {
    lay('project/.mcp.json', '{}')
    const seen = await book.of(root)
    lay('project/.mcp.json', '{"mcpServers":{}}')
    assert.equal((await book.trust(root, seen.mark)).state, 'unknown')
  }))

test('a link out of the project counts by where it leads, and what is there is not opened', () =>
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

test('a link inside counts by what is there; one that leads to a folder it lies in is followed once', () =>
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

test('what a hook’s command names in the project is pinned with it', () =>
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

test('our own home in a folder is the person’s own, and needs no trust', () =>
  inProject(async (root, lay) => {
    lay('project/.termaite/settings.json', '{}')
    lay('project/.termaite/skills/x/SKILL.md', 'a')
    const book = new TrustBook(memoryStore(), { own: join(root, '.termaite') })
    assert.deepEqual(brief(await book.of(root)), ['trusted'])
  }))

test('a worktree in our home is no home of ours: what it holds is trusted where its project was, and as long as it is the same', () =>
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

test('what lies between the project and where an agent works counts, and is trusted by itself', () =>
  inProject(async (root, lay, book) => {
    const deep = join(root, 'a', 'b')
    lay('project/a/b/x.ts', '')
    lay('project/a/.skills/x/SKILL.md', 'a')
    lay('project/other/.skills/y/SKILL.md', 'a')
    lay('project/a/b/.mcp.json', '{}')
    assert.deepEqual(brief(await book.of(root)), ['trusted'])
    const seen = await book.of(root, deep)
    assert.deepEqual(brief(seen), ['unknown', 'a/.skills/x/SKILL.md'])
    assert.equal((await book.trust(root, seen.mark)).state, 'trusted', 'of the project itself nothing is asked')
    assert.equal((await book.of(root, deep)).state, 'unknown', 'and a mark of one place is none of another')
    assert.equal((await book.trust(root, seen.mark, deep)).state, 'trusted')
    lay('project/.mcp.json', '{}')
    assert.deepEqual(brief(await book.of(root, deep)), ['unknown', '.mcp.json'])
    await book.forget(root)
    assert.deepEqual(brief(await book.of(root, deep)), ['unknown', '.mcp.json', 'a/.skills/x/SKILL.md'])
  }))

test('the card shows every file it is about', () => {
  const card = trustQuestion('/p', { state: 'changed', files: ['.mcp.json'], mark: '' })
  assert.deepEqual(card, {
    about: 'trust',
    text: 'Files in /p have changed since you trusted them. They are used only if you trust them.',
    from: [],
    shows: [{ type: 'text', text: '.mcp.json' }],
    options: [
      { id: 'trust', label: 'Trust them as they are now', grants: '1 file until one of them changes' },
      { id: 'no', label: 'Do not use them' },
    ],
  })
})
