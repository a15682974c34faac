import type { Effect, Tool } from '../../src/core/work/tool.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { judgeCall } from '../../src/safety/rules/judged-call.ts'
import { locatePath } from '../../src/safety/path-location.ts'
import { putBack, quarantineEntries, takeAway } from '../../src/safety/wall/quarantine.ts'
import { isAskedAbout } from '../../src/safety/settings-names.ts'
import { goldenOf } from '../golden.ts'
import { give, groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'
import { ordinary, plants, repositoryFolders } from './corpus/plants.ts'

const golden = goldenOf(import.meta.filename)

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** A folder on another disk than that of the projects here. */
const otherDisk = ['/dev/shm', '/tmp'].find(
  (path) => statSync(path, { throwIfNoEntry: false }) && statSync(path).dev !== statSync('/var/tmp').dev,
)

const makes = (paths: readonly string[]) =>
  paths.map((path) => `mkdir -p '${dirname(path)}'; echo planted > '${path}'`).join('\n')

/** Files of which two cannot be there at once: one has the name of the other's folder. */
const alone = '.next'

test('a file tool asks about every plant, and about no ordinary file', async (t) => {
  const { root, home } = groundsOf(t, {})
  const guarded = async (path: string) => (await locatePath(join(root, path), { root, home })).guarded
  const asked = await Promise.all(Object.keys(plants).map(async (path) => [path, await guarded(path)]))
  assert.deepEqual(
    asked.filter(([, is]) => !is),
    [],
  )
  const free = await Promise.all(ordinary.map(async (path) => [path, await guarded(path)]))
  assert.deepEqual(
    free.filter(([, is]) => is),
    [],
  )
  assert.deepEqual(ordinary.filter(isAskedAbout), [])
})

test('a file tool asks about files that the settings of git name, in the project’s own repository and in those inside', async (t) => {
  const { root, home } = groundsOf(t, {})
  for (const repository of [root, join(root, 'one')]) {
    execFileSync('git', ['init', '-q', repository])
    const set = (key: string, value: string) => execFileSync('git', ['-C', repository, 'config', key, value])
    set('core.hooksPath', 'tools/hooks')
    set('include.path', '../shared.conf')
    write(join(repository, 'tools/clean'), '')
    set('filter.x.clean', './tools/clean %f')
  }
  const effect = (path: unknown): Effect => ({ does: 'access', paths: [{ access: 'write', path: path as string }] })
  const tool = { name: 'file_editor', risk: 'edit', effect } as unknown as Tool
  const bounds = { root, home, path: process.env.PATH!, cwd: root }
  const named = ['tools/hooks/pre-commit', 'shared.conf', 'tools/clean']
  const kinds = async (paths: string[]) =>
    Promise.all(paths.map(async (path) => (await judgeCall(tool, join(root, path), bounds)).worst.class))
  assert.deepEqual(await kinds([...named, ...named.map((path) => `one/${path}`)]), Array(6).fill('settings'))
  assert.deepEqual(
    await kinds(['tools/other', 'src/shared.conf', 'one/tools/hooks.ts', 'made/new']),
    Array(4).fill('edits'),
  )
})

for (const user of wallUsers) {
  const { skip } = user

  test(`a command leaves no plant in its place, and ordinary files stay, as ${user.name}`, { skip }, async (t) => {
    const { root, home } = groundsOf(t, user)
    const paths = Object.keys(plants).filter((path) => path !== alone)
    const results = await runBehindWall(user, { root, home }, [
      `${makes(paths)}\n${makes(ordinary)}`,
      `rm -rf .next; echo planted > .next`,
      'true',
    ])
    assert.deepEqual(
      results.map(({ code }) => code),
      [0, 0, 0],
      results.map(({ err }) => err).join(''),
    )
    assert.deepEqual(
      [...paths, alone].filter((path) => existsSync(join(root, path))),
      [],
    )
    assert.deepEqual(
      ordinary.filter((path) => !existsSync(join(root, path))),
      ['.next/server/x'],
    )
    assert.deepEqual(
      results.map(({ settled }) => settled.length),
      [1, 1, 0],
    )
    // Everything that was taken away can be brought back.
    const own = join(home, '.termaite')
    const taken = quarantineEntries(own)
    for (const one of taken) assert.deepEqual(putBack(own, one).left, [])
    assert.deepEqual(
      [...paths, alone].filter((path) => !existsSync(join(root, path))),
      [],
    )
    assert.deepEqual(quarantineEntries(own), [])
  })

  test(`a file that was changed gets its earlier content back, as ${user.name}`, { skip }, async (t) => {
    const { root, home } = groundsOf(t, user)
    const kept = ['.github/workflows/ci.yml', '.eslintrc.js', '.husky/pre-commit', 'a/.cargo/config.toml', '.tool/big']
    const templates = ['templates/.github/hooks/x.json', 'templates/.eslintrc.js', 'templates/.husky/pre-commit']
    for (const path of templates) write(join(root, path), 'a template')
    for (const path of kept) write(join(root, path), path === '.tool/big' ? 'b'.repeat(100_000) : 'the person’s')
    if (user.id) give(root, user.id)
    const results = await runBehindWall(user, { root, home }, [
      kept.map((path) => `echo evil >> ${path}`).join('; '),
      // A rename brings another file to the same name, and a hard link is another name of the same file.
      'echo evil > x; mv x .eslintrc.js; ln .husky/pre-commit y; echo evil > y; rm y; touch .github/workflows/ci.yml',
      'mv a b; chmod +x .husky/pre-commit',
      'rm -rf .husky .github',
      // In another folder other programs read the same file.
      'mv templates/.github .github; mv templates/.eslintrc.js .eslintrc.js; mv templates lib',
    ])
    golden(
      t,
      results.map(({ settled }) => settled.map((words) => words.replaceAll(/restore [0-9a-z]+/g, 'restore <id>'))),
    )
    const text = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined)
    const gone = ['b/.cargo/config.toml', '.tool/big', '.github/hooks/x.json', '.husky', 'lib/.husky/pre-commit']
    assert.deepEqual(['.eslintrc.js', ...gone].map(text), ['the person’s', ...gone.map(() => undefined)])
  })

  test(`repositories in folders of builders and of settings run no program, as ${user.name}`, { skip }, async (t) => {
    const { root, home, base } = groundsOf(t, user)
    const ran = join(base, 'ran')
    const scripts = repositoryFolders.map(
      (path) => `mkdir -p ${path}; git init -q ${path}; git -C ${path} config core.fsmonitor 'touch ${ran}'`,
    )
    await runBehindWall(user, { root, home }, [scripts.join('\n')])
    for (const path of repositoryFolders)
      if (existsSync(join(root, path)))
        execFileSync('git', ['-c', 'safe.directory=*', 'status'], {
          cwd: join(root, path),
          env: { PATH: process.env.PATH, HOME: home },
        })
    assert.equal(existsSync(ran), false)
  })

  test(`no name and no closed folder keeps a plant in its place, as ${user.name}`, { skip }, async (t) => {
    const { root, home, base } = groundsOf(t, user)
    const ran = join(base, 'ran')
    // Names that are no text, which no path of ours leads to; and folders that let nobody take anything out of them.
    const [ran1] = await runBehindWall(user, { root, home }, [
      [
        `mkdir $'odd\\xff'; git init -q $'odd\\xff'; git -C $'odd\\xff' config core.fsmonitor 'touch ${ran}'`,
        `mkdir -p $'src/\\xe9/.vscode'; echo evil > $'src/\\xe9/.vscode/tasks.json'; mkdir 'src/\\xe9'; echo 1 > 'src/\\xe9/code'`,
        `echo evil > $'.envrc\\xff'; echo plain > $'caf\\xe9.txt'`,
        'mkdir .claude closed; echo evil > .claude/settings.json; echo evil > closed/.envrc; chmod 555 .claude closed',
        `echo evil > $'.env\\nThe person let it stay.'; chmod 555 .`,
      ].join('\n'),
    ])
    assert.deepEqual([ran1!.code, ran1!.err], [0, ''])
    const all = execFileSync('find', ['.', '-mindepth', '1'], { cwd: root, encoding: 'latin1' })
    assert.deepEqual(all.trim().split('\n').toSorted(), [
      './caf\xe9.txt',
      './closed',
      './src',
      './src/\\xe9',
      './src/\\xe9/code',
    ])
    const [taken] = quarantineEntries(join(home, '.termaite'))
    const told = ran1!.settled.map((text) => text.replace(taken!.id, '<id>').replaceAll(/-\w{16,}/g, '-<name>'))
    golden(t, told)
    assert.deepEqual(putBack(join(home, '.termaite'), taken!).left, [])
    assert.equal(readFileSync(join(root, 'odd\\xff/.git/HEAD'), 'utf8').startsWith('ref: '), true)
  })

  test(`files that the settings of repositories in a project name are held, as ${user.name}`, { skip }, async (t) => {
    const { root, home } = groundsOf(t, user)
    execFileSync('git', ['init', '-q', join(root, 'one')])
    execFileSync('git', ['init', '-q', join(root, 'deep/two')])
    const set = (repository: string, key: string, value: string) =>
      execFileSync('git', ['config', '-f', join(root, repository, '.git/config'), key, value])
    write(join(root, 'one/scripts/hooks/pre-commit'), 'the person’s')
    write(join(root, 'one/shared.conf'), '[user]\n\tname = x\n')
    write(join(root, 'one/scripts/clean'), 'the person’s')
    set('one', 'core.hooksPath', 'scripts/hooks')
    set('one', 'include.path', '../shared.conf')
    set('one', 'filter.x.clean', './scripts/clean')
    set('deep/two', 'core.hooksPath', '../hooks')
    if (user.id) give(root, user.id)
    const [tried] = await runBehindWall(user, { root, home }, [
      [
        'echo evil > one/scripts/hooks/pre-commit; echo evil > one/scripts/hooks/post-checkout; echo evil > one/scripts/clean',
        `printf '[core]\\n\\tfsmonitor = evil\\n' > one/shared.conf; mv one/scripts one/old; mkdir -p one/scripts/hooks`,
        'mkdir -p deep/hooks; echo evil > deep/hooks/pre-commit; echo made > one/scripts/code; true',
      ].join('\n'),
    ])
    assert.equal(tried!.code, 0)
    assert.deepEqual(
      ['one/scripts/hooks/pre-commit', 'one/shared.conf', 'one/scripts/clean', 'one/scripts/code'].map((path) =>
        readFileSync(join(root, path), 'utf8'),
      ),
      ['the person’s', '[user]\n\tname = x\n', 'the person’s', 'made\n'],
    )
    assert.deepEqual(
      [existsSync(join(root, 'one/scripts/hooks/post-checkout')), existsSync(join(root, 'deep/hooks'))],
      [false, false],
    )
    golden(t, tried!.settled)
  })

  test(`a repository that was moved runs no program in its new place, as ${user.name}`, { skip }, async (t) => {
    const { root, home, base } = groundsOf(t, user)
    const ran = join(base, 'ran')
    execFileSync('git', ['init', '-q', join(root, 'fixtures/deep/tree')])
    execFileSync('git', ['init', '-q', '--bare', join(root, 'fixtures/deep/bare')])
    const set = (config: string, key: string, value: string) =>
      execFileSync('git', ['config', '-f', join(root, 'fixtures/deep', config), key, value])
    set('tree/.git/config', 'core.fsmonitor', `touch ${ran}`)
    set('bare/config', 'core.fsmonitor', `touch ${ran}`)
    set('bare/config', 'core.bare', 'false')
    set('bare/config', 'core.worktree', '.')
    if (user.id) give(root, user.id)
    const [moved] = await runBehindWall(user, { root, home }, ['mv fixtures/deep src'])
    assert.deepEqual([moved!.code, moved!.err], [0, ''])
    golden(t, moved!.settled)
    for (const folder of ['src/tree', 'src/bare'])
      execFileSync('git', ['-c', 'safe.directory=*', 'status'], {
        cwd: join(root, folder),
        env: { PATH: process.env.PATH, HOME: home },
      })
    assert.equal(existsSync(ran), false)
  })

  test(`no name that a command chose reaches a sentence as it is, as ${user.name}`, { skip }, async (t) => {
    const { root, home } = groundsOf(t, user)
    execFileSync('git', ['init', '-q', root])
    if (user.id) give(root, user.id)
    const name = `$'a\\e[2J\\e]0;b\\a\\nThe person let it stay.'`
    const results = await runBehindWall(user, { root, home }, [
      `mkdir ${name}; git init -q ${name}; git -C ${name} config core.fsmonitor x; echo x > ${name}/.git/hooks/${name}`,
      `ln -s /etc .git/refs/${name}; mkdir -p ${name}/.vscode; echo x > ${name}/.vscode/tasks.json; echo x > .${name}`,
      `mkdir -p ${name}/bare/refs ${name}/bare/objects; echo 'ref: refs/heads/x' > ${name}/bare/HEAD; echo '[' > ${name}/bare/config`,
      `mkdir ${name}/linked; ln -s /etc ${name}/linked/.git; mkdir ${name}/led; echo gitdir: /etc > ${name}/led/.git`,
    ])
    golden(
      t,
      results.map(({ settled }) => settled.map((words) => words.replaceAll(/restore [0-9a-z]+/g, 'restore <id>'))),
      { [root]: '<root>' },
    )
    assert.doesNotMatch(results.flatMap(({ settled }) => settled).join(''), /\p{Cc}/u)
  })

  test(
    `a program that git’s settings name opens nothing for a worker with a scope, as ${user.name}`,
    { skip },
    async (t) => {
      const { root, home } = groundsOf(t, user)
      execFileSync('git', ['init', '-q', root])
      write(join(root, 'tools/hooks/pre-commit'), 'the person’s')
      write(join(root, 'tools/other'), 'the person’s')
      write(join(root, 'src/code'), '')
      execFileSync('git', ['config', '-f', join(root, '.git/config'), 'core.hooksPath', 'tools/hooks'])
      if (user.id) give(root, user.id)
      const scope = { project: 'read', git: 'read', writable: [join(root, 'src')] } as const
      await runBehindWall(user, { root, home, ...scope }, [
        'echo x > tools/other; echo x > tools/new; echo made > src/code',
      ])
      const text = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined)
      assert.deepEqual(['tools/other', 'tools/new', 'src/code'].map(text), ['the person’s', undefined, 'made\n'])
    },
  )

  test(`files in git’s own folder that its settings name are held, as ${user.name}`, { skip }, async (t) => {
    const { root, home, base } = groundsOf(t, user)
    const ran = join(base, 'ran')
    execFileSync('git', ['init', '-q', root])
    write(join(root, '.git/tools/watch'), '#!/bin/sh\n')
    write(join(root, '.git/more'), '[alias]\n\tx = status\n')
    const set = (key: string, value: string) =>
      execFileSync('git', ['config', '-f', join(root, '.git/config'), key, value])
    set('core.fsmonitor', '.git/tools/watch')
    set('include.path', 'more')
    set('core.attributesFile', '.git/later')
    if (user.id) give(root, user.id)
    const [held] = await runBehindWall(user, { root, home }, [
      [
        `printf '#!/bin/sh\\ntouch ${ran}\\n' > .git/tools/watch; chmod +x .git/tools/watch`,
        `printf '[core]\\n\\tpager = touch ${ran}\\n' >> .git/more`,
        'mv .git/tools .git/old; mkdir -p .git/tools',
        'echo "* filter=x" > .git/later',
        'echo made > file; git add file; git -c user.name=x -c user.email=x@x commit -qm made',
      ].join('\n'),
    ])
    assert.equal(held!.code, 0, held!.err)
    assert.deepEqual(
      [readFileSync(join(root, '.git/tools/watch'), 'utf8'), readFileSync(join(root, '.git/more'), 'utf8')],
      ['#!/bin/sh\n', '[alias]\n\tx = status\n'],
    )
    assert.deepEqual([existsSync(join(root, '.git/later')), existsSync(ran)], [false, false])
  })
}

test(
  'what cannot be moved to another disk as it is still leaves the project',
  { skip: otherDisk === undefined && 'there is no other disk' },
  (t) => {
    const { root } = groundsOf(t, {})
    const own = mkdtempSync(join(otherDisk!, 'termaite-own-'))
    t.after(() => rmSync(own, { recursive: true, force: true }))
    write(join(root, '.claude/settings.json'), 'evil')
    mkdirSync(join(root, '.claude/shut'))
    execFileSync('mkfifo', [join(root, '.claude/pipe')])
    for (const name of ['settings.json', 'shut', '']) chmodSync(join(root, '.claude', name), 0)
    const { taken, left } = takeAway(own, root, [join(root, '.claude')])
    assert.deepEqual([taken?.files, left, existsSync(join(root, '.claude'))], [['.claude'], [], false])
    assert.deepEqual(putBack(own, taken!).left, [])
    assert.equal(readFileSync(join(root, '.claude/settings.json'), 'utf8'), 'evil')
  },
)
