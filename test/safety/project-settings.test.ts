import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { acceptSettings, settingsOf } from '../../src/safety/wall/project-setting-files.ts'
import { ProjectSearch } from '../../src/safety/wall/project-search.ts'
import { heldNames } from '../../src/safety/settings-names.ts'
import { give, groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

for (const user of wallUsers) {
  test(
    `settings of agents and editors cannot be changed, moved or replaced, as ${user.name}`,
    { skip: user.skip },
    async (t) => {
      const { root, home } = groundsOf(t, user)
      const kept = [
        '.claude/settings.json',
        '.mcp.json',
        'packages/a/.vscode/tasks.json',
        'packages/a/.gemini/settings.json',
      ]
      for (const path of kept) write(join(root, path), 'the person’s')
      if (user.id) give(root, user.id)
      const tries = kept.flatMap((path) => [
        `echo x >> ${path}`,
        `rm -rf ${path}`,
        `mv ${dirname(path) === '.' ? path : dirname(path)} elsewhere`,
        `ln -sfn /etc ${dirname(path) === '.' ? path : dirname(path)}`,
      ])
      const [ran] = await runBehindWall(user, { root, home }, [
        `${tries.join('; ')}; echo made > packages/a/code; true`,
      ])
      assert.deepEqual([ran!.code, ran!.settled], [0, []])
      assert.deepEqual(
        kept.map((path) => readFileSync(join(root, path), 'utf8')),
        kept.map(() => 'the person’s'),
      )
      assert.equal(readFileSync(join(root, 'packages/a/code'), 'utf8'), 'made\n')
    },
  )

  test(
    `settings that a command adds are moved to the quarantine and named, as ${user.name}`,
    { skip: user.skip },
    async (t) => {
      const { root, home } = groundsOf(t, user)
      write(join(root, 'own/.claude/settings.json'), 'the person’s')
      symlinkSync('own/.claude', join(root, '.claude'))
      if (user.id) give(root, user.id)
      const results = await runBehindWall(user, { root, home }, [
        'mkdir -p a/b/.claude && echo evil > a/b/.claude/settings.json; echo evil > .mcp.json; echo good > a/b/code',
        // The person's own settings, which cannot be written, are new ones where the folder around them was moved to.
        'mv own moved; echo evil >> moved/.claude/settings.json; mkdir -p own/.Claude',
        'rm .claude; mkdir .claude; mkdir -p node_modules/x; mkdir node_modules/x/.gemini',
        'mv node_modules/x x',
        'true',
      ])
      const place = join(home, '.termaite', 'quarantine')
      const told = results.map(({ settled }) =>
        settled.map((words) => words.replaceAll(/restore [0-9a-z]+/g, 'restore <id>')),
      )
      golden(t, told, { [home]: '<home>' })
      assert.deepEqual(
        [
          existsSync(join(root, 'moved/.claude')),
          readFileSync(join(root, 'a/b/code'), 'utf8'),
          readlinkSync(join(root, '.claude')),
          existsSync(join(root, 'a/b/.claude')),
          readdirSync(place).flatMap((id) => readdirSync(join(place, id))).length - readdirSync(place).length,
        ],
        [false, 'good\n', 'own/.claude', false, 6],
      )
    },
  )

  test(
    `in a project that is the home folder, hidden files stay as they are, as ${user.name}`,
    { skip: user.skip },
    async (t) => {
      const { home } = groundsOf(t, user)
      for (const path of ['.bashrc', '.config/autostart/x', '.ssh/id_rsa', 'work/code']) write(join(home, path), 'kept')
      if (user.id) give(home, user.id)
      const script =
        'echo evil >> .bashrc; echo evil > .profile; cat .ssh/id_rsa; echo x >> .config/autostart/x; echo x >> work/code; true'
      const [ran] = await runBehindWall(user, { root: home, home }, [script])
      const name = ran!.settled[0]?.match(/ (\.\S+),/)?.[1]
      assert.deepEqual([ran!.out, name, ran!.settled.length], ['', '.profile', 1])
      const text = (path: string) => readFileSync(join(home, path), 'utf8')
      assert.deepEqual(
        [text('.bashrc'), text('.config/autostart/x'), text('work/code'), existsSync(join(home, '.profile'))],
        ['kept', 'kept', 'keptx\n', false],
      )
    },
  )
}

for (const user of wallUsers)
  test(
    `a command in the background plants nothing for the next one to keep, as ${user.name}`,
    { skip: user.skip },
    async (t) => {
      const { root, home, base } = groundsOf(t, user)
      // The folder of the person's own settings outside, to which a link leads while commands are settled.
      write(join(base, 'outside/.claude/mine'), 'the person’s')
      mkdirSync(join(root, 'sub'))
      if (user.id) give(base, user.id)
      const results = await runBehindWall(
        user,
        { root, home },
        [
          `&echo up; while :; do mkdir -p .gemini sub/.claude; mv sub real; ln -s ${base}/outside sub; rm sub; mv real sub; done 2>/dev/null`,
          ...Array.from({ length: 6 }, () => 'echo evil > .gemini/settings.json; cat .gemini/settings.json; true'),
        ],
        { turn: true },
      )
      assert.deepEqual(readFileSync(join(base, 'outside/.claude/mine'), 'utf8'), 'the person’s')
      const told = results.flatMap(({ settled }) => settled)
      assert.ok(told.some((words) => words.includes('.gemini')))
      assert.ok(
        told.every((words) => /\.(?:gemini|claude)\b/.test(words)),
        told.join('\n'),
      )
      // None of these files counts as the person's own: once the command in the background has ended, all of them go.
      assert.equal(execFileSync('find', [root, '-name', '.gemini', '-o', '-name', '.claude'], { encoding: 'utf8' }), '')
    },
  )

const notLinux = process.platform === 'linux' ? false : 'only Linux moves them: elsewhere they cannot be made'

test('settings that were written by permission stay, also while a command runs', { skip: notLinux }, async (t) => {
  const { root, home } = groundsOf(t, {})
  const settings = settingsOf(root, { home, own: join(home, 'own') })
  const search = new ProjectSearch(root)
  settings.begin(await search.look())
  write(join(root, '.vscode/tasks.json'), 'allowed')
  write(join(root, '.mcp.json'), 'allowed')
  write(join(root, '.github/workflows/ci.yml'), 'allowed')
  acceptSettings(
    ['.vscode/tasks.json', '.mcp.json', '.github/workflows/ci.yml', '../elsewhere'].map((path) => join(root, path)),
  )
  write(join(root, '.gemini/settings.json'), 'planted')
  write(join(root, '.github/hooks/x.json'), 'planted')
  const mounts = settings.begin(await search.look())
  assert.deepEqual(mounts.map(({ path }) => path).sort(), [join(root, '.mcp.json'), join(root, '.vscode')])
  const first = settings.settle(await search.look())
  assert.deepEqual([first.told, first.taken?.files, first.asks], [[], ['.gemini', '.github/hooks/x.json'], true])
  assert.deepEqual(settings.settle(await search.look()), { told: [], asks: false })
  assert.deepEqual(readdirSync(root).sort(), ['.github', '.mcp.json', '.vscode'])
})

test('every name is written as the comparison expects it', () => {
  assert.deepEqual(
    heldNames.filter((name) => name !== name.toLowerCase() || name.includes('/')),
    [],
  )
  assert.equal(new Set(heldNames).size, heldNames.length)
})
