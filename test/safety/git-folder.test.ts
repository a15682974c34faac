import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { give, groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'
import { gitGrounds, lines, tried } from './git-grounds.ts'
import { sized } from '../full.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

/** Removing so many folders again takes a disk longer than all other tests of this file together. */
const many = sized(500, 20_100)

for (const user of wallUsers) {
  const { name, skip } = user

  test(
    `${name}: a git folder that can only be read cannot be changed, moved or replaced`,
    { skip, ...options },
    async (t) => {
      const { root, home, canaries, laterOutside } = gitGrounds(t, user)
      const evil = `[core]\\n\\tfsmonitor = touch ${canaries}/moved`
      const attacks = [
        'mv .git moved',
        'rm -rf .git/hooks',
        'rmdir .git',
        `printf '${evil}' >> .git/config`,
        'git commit -q --allow-empty -m x',
        'touch .git/x',
        'echo /evil > .git/commondir',
        'chmod 777 .git/config && echo x >> .git/config',
        'ln -s / .git/logs/x',
        'mkdir new && mv -T new .git',
      ]
      const before = readFileSync(join(root, '.git/config'), 'utf8')
      const [ran] = await runBehindWall(user, { root, home, git: 'read' }, [
        `${tried(attacks)}\ngit status --porcelain`,
      ])
      assert.deepEqual(
        lines(ran!.out),
        attacks.map((_, i) => `failed: ${i}`),
      )
      assert.deepEqual([ran!.settled, readFileSync(join(root, '.git/config'), 'utf8')], [[], before])
      assert.deepEqual(laterOutside(), [])
    },
  )

  test(
    `${name}: daily work with git is done in a writable git folder, and its settings stay`,
    { skip, ...options },
    async (t) => {
      const { root, home, git, laterOutside } = gitGrounds(t, user)
      const work = [
        'echo two > a.txt',
        'git add -A',
        'git commit -qm second',
        'git checkout -q -b side HEAD~1',
        'echo b > b.txt && git add b.txt && git commit -qm side',
        'git checkout -q main',
        'git merge -q --no-edit side',
        'git tag v1',
        'echo three > a.txt && git stash -q && git stash pop -q && git checkout -q a.txt',
        'git rebase -q --force-rebase HEAD~1',
        'git rebase -q -x "echo in the wall" HEAD~1',
        'git cherry-pick --allow-empty --keep-redundant-commits side',
        'git reset -q --hard HEAD~1',
        'git pack-refs --all && git gc -q',
        'git branch again && git branch -D again',
        'git log --oneline',
        'git mv b.txt c.txt && git commit -qm moved',
        'git fsck',
        'git reflog expire --all --expire=now',
      ]
      const attacks = [
        'git config core.fsmonitor evil',
        'echo x >> .git/config',
        'git config --worktree core.fsmonitor evil',
        'echo x >> .git/config.worktree',
        'rm .git/config',
        'mv .git/config .git/x',
        'echo x > .git/hooks/pre-commit',
        'mv .git/hooks .git/x',
        'rm -rf .git/hooks',
        'mv .git/info .git/x',
        'echo "* filter=x" > .git/info/attributes',
        'mv .git/objects .git/x',
        'mv .git/objects/info .git/objects/x',
        'echo /evil > .git/objects/info/alternates',
        'mkdir .git/modules/x',
        'mkdir .git/worktrees/x',
        'git worktree add -q inside',
        'mv .git/modules .git/x',
        'mv .git moved',
      ]
      const [ran] = await runBehindWall(user, { root, home }, [tried(work), tried(attacks)])
      assert.deepEqual(
        lines(ran!.out),
        work.map((_, i) => `worked: ${i}`),
        ran!.err,
      )
      const config = readFileSync(join(root, '.git/config'), 'utf8')
      const [, attacked] = await runBehindWall(user, { root, home }, ['true', tried(attacks)])
      assert.deepEqual(
        lines(attacked!.out),
        attacks.map((_, i) => `failed: ${i}`),
      )
      assert.deepEqual([ran!.settled, attacked!.settled], [[], []])
      assert.equal(readFileSync(join(root, '.git/config'), 'utf8'), config)
      assert.match(git('log', '--oneline'), / moved\n/)
      assert.deepEqual(laterOutside(), [])
    },
  )

  test(
    `${name}: files that a command may not leave in a git folder are removed and named`,
    { skip, ...options },
    async (t) => {
      const { base, root, home, canaries, laterOutside } = gitGrounds(t, user)
      const profile = join(home, '.profile')
      writeFileSync(profile, '')
      if (user.id !== undefined) give(profile, user.id)
      const script = [
        `mkdir evil && git init -q --bare evil/git && git -C evil/git config core.fsmonitor 'touch ${canaries}/commondir'`,
        `mkdir .git/remotes && printf 'URL: ext::sh -c touch%% ${canaries}/remote\\n' > .git/remotes/origin`,
        'GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i --root',
        `echo 'exec touch ${canaries}/exec' >> .git/rebase-merge/git-rebase-todo`,
        'echo "$PWD/evil/git" > .git/commondir',
        `rm -f .git/COMMIT_EDITMSG .git/logs/HEAD && ln -s ${profile} .git/COMMIT_EDITMSG && ln -s ${profile} .git/logs/HEAD`,
      ].join('\n')
      const [ran] = await runBehindWall(user, { root, home }, [script])
      golden(t, ran!.settled.sort(), { [base]: '<base>' })
      assert.deepEqual([laterOutside(), readFileSync(profile, 'utf8')], [[], ''])
      assert.ok(existsSync(base))
    },
  )

  test(
    `${name}: new repositories in a project keep plain settings, and lose those that run programs`,
    { skip, ...options },
    async (t) => {
      const { root, home, canaries, laterOutside } = gitGrounds(t, user)
      const evil = (place: string) => `touch ${canaries}/${place}`
      const script = [
        'git init -q plain && git -C plain config user.name x && git -C plain remote add origin https://example.com/x.git',
        'git clone -q . copy',
        `git init -q armed && git -C armed config core.fsmonitor '${evil('armed')}' && git -C armed config alias.st '!${evil('alias')}'`,
        `printf '#!/bin/sh\\n${evil('hook')}\\n' > armed/.git/hooks/post-index-change && chmod +x armed/.git/hooks/*`,
        `git init -q --bare bare && git -C bare config core.fsmonitor '${evil('bare')}' && git -C bare config core.bare false && git -C bare config core.worktree ..`,
        'mkdir pointed && echo "gitdir: /tmp/evil" > pointed/.git',
        'mkdir linked && ln -s ../armed/.git linked/.git',
        `git init -q hidden && mv hidden/.git hidden/.GIT && printf '[core]\\n\\tfsmonitor = ${evil('hidden')}\\n' >> hidden/.GIT/config && mv hidden/.GIT hidden/.git`,
      ].join('\n')
      const [ran] = await runBehindWall(user, { root, home }, [script])
      golden(t, ran!.settled.sort())
      assert.match(readFileSync(join(root, 'plain/.git/config'), 'utf8'), /url = https:\/\/example\.com\/x\.git/)
      for (const folder of ['.', 'plain', 'copy', 'armed', 'bare', 'pointed', 'linked', 'hidden'])
        assert.deepEqual([folder, laterOutside(join(root, folder))], [folder, []])
      // The repositories are known now, and held like the project's own.
      const [later] = await runBehindWall(user, { root, home }, [
        tried([
          'git -C armed config core.fsmonitor evil',
          'rm armed/.git/config',
          'git -C plain -c user.email=x@y commit -q --allow-empty -m x',
        ]),
      ])
      assert.deepEqual(lines(later!.out), ['failed: 0', 'failed: 1', 'worked: 2'])
    },
  )

  test(
    `${name}: commits in a worktree and a submodule work, and the shared files stay`,
    { skip, ...options },
    async (t) => {
      const { base, root, home, laterOutside } = gitGrounds(t, user, (_at, git) => {
        git('clone', '-q', '.', '../origin')
        git('submodule', '--quiet', 'add', '--name', 'lib/sub', '../origin', 'sub')
        git('commit', '-qm', 'with a submodule')
        git('worktree', 'add', '-q', '../worktree')
      })
      const worktree = join(base, 'worktree')
      const shared = readFileSync(join(root, '.git/config'), 'utf8')
      const [inTree] = await runBehindWall(user, { root: worktree, home }, [
        tried([
          'echo x > a.txt && git commit -qam "from the worktree"',
          'git stash list && git branch made && git branch -D made',
          `echo x >> ${root}/.git/config`,
          `echo x > ${root}/.git/hooks/pre-commit`,
          'echo "gitdir: /evil" > .git',
          'mv .git x',
          'rm -f .git',
          `echo /evil > ${root}/.git/worktrees/worktree/commondir`,
          `echo /evil > ${root}/.git/worktrees/worktree/gitdir`,
          `mkdir ${root}/.git/worktrees/other`,
          `echo x > ${root}/a.txt`,
        ]),
      ])
      assert.deepEqual(lines(inTree!.out), [
        'worked: 0',
        'worked: 1',
        ...Array.from({ length: 9 }, (_, i) => `failed: ${i + 2}`),
      ])
      const [inProject] = await runBehindWall(user, { root, home }, [
        tried([
          'cd sub && echo y > a.txt && git -c user.name=u -c user.email=u@e commit -qam "in the submodule"',
          'git add sub && git commit -qm "the submodule moved"',
          'git submodule status',
          'echo "gitdir: /evil" > sub/.git',
          'rm -f sub/.git',
          'git -C sub config core.fsmonitor evil',
          'echo x > .git/modules/lib/sub/hooks/pre-commit',
        ]),
      ])
      assert.deepEqual(lines(inProject!.out), [
        'worked: 0',
        'worked: 1',
        'worked: 2',
        ...[3, 4, 5, 6].map((i) => `failed: ${i}`),
      ])
      const [asProject] = await runBehindWall(user, { root: join(root, 'sub'), home }, [
        tried([
          'echo z > a.txt && git -c user.name=u -c user.email=u@e commit -qam "from the submodule"',
          'git config core.fsmonitor evil',
          'echo x >> ../.git/config',
          'echo x > ../a.txt',
        ]),
      ])
      assert.deepEqual(lines(asProject!.out), ['worked: 0', 'failed: 1', 'failed: 2', 'failed: 3'])
      assert.deepEqual(
        [inTree, inProject, asProject].flatMap((ran) => ran!.settled),
        [],
      )
      assert.equal(readFileSync(join(root, '.git/config'), 'utf8'), shared)
      for (const cwd of [root, worktree, join(root, 'sub')]) assert.deepEqual(laterOutside(cwd), [])
    },
  )

  test(`${name}: a submodule whose folder is replaced runs nothing later`, { skip, ...options }, async (t) => {
    const { root, home, canaries, laterOutside } = gitGrounds(t, user, (_at, git) => {
      git('clone', '-q', '.', '../origin')
      git('submodule', '--quiet', 'add', '../origin', 'deep/sub')
      git('commit', '-qm', 'with a submodule')
    })
    const [ran] = await runBehindWall(user, { root, home }, [
      `mv deep away; mkdir -p deep/sub && git init -q deep/sub && git -C deep/sub config core.fsmonitor 'touch ${canaries}/replaced'`,
    ])
    golden(t, ran!.settled)
    assert.deepEqual(laterOutside(), [])
  })

  test(`${name}: files of the project that git's settings name can only be read`, { skip, ...options }, async (t) => {
    const { root, home, canaries, laterOutside } = gitGrounds(t, user, (at, git) => {
      for (const folder of ['.husky/_', 'tools', 'own/hooks']) mkdirSync(join(at, folder), { recursive: true })
      writeFileSync(join(at, '.husky/_/pre-commit'), '#!/bin/sh\nexec .husky/pre-commit\n', { mode: 0o755 })
      writeFileSync(join(at, '.husky/pre-commit'), '#!/bin/sh\ntrue\n', { mode: 0o755 })
      writeFileSync(join(at, 'tools/clean.sh'), 'cat\n')
      writeFileSync(join(at, '.gitconfig'), '[alias]\n\tst = status\n')
      git('config', 'core.hooksPath', '.husky/_')
      git('config', 'include.path', '../.gitconfig')
      git('config', 'includeIf.onbranch:x.path', '../later.gitconfig')
      git('config', 'filter.own.clean', 'sh tools/clean.sh')
      writeFileSync(join(at, '.gitattributes'), '*.txt filter=own\n')
    })
    const evil = `touch ${canaries}/named`
    const attacks = [
      `echo '${evil}' >> .husky/pre-commit`,
      `echo '${evil}' >> .husky/_/pre-commit`,
      'mv .husky x',
      `printf '[core]\n\tfsmonitor = ${evil}\n' >> .gitconfig`,
      'mv .gitconfig x',
      `echo '${evil}' >> tools/clean.sh`,
      'mv tools x',
    ]
    const [ran] = await runBehindWall(user, { root, home }, [
      `${tried(attacks)}\nprintf '[core]\n\tfsmonitor = ${evil}\n' > later.gitconfig\necho new > tools/other.sh && echo made`,
    ])
    assert.deepEqual(lines(ran!.out), [...attacks.map((_, i) => `failed: ${i}`), 'made'])
    golden(t, ran!.settled)
    assert.deepEqual(laterOutside(), [])
  })

  test(
    `${name}: no disguise of a repository that a command leaves runs a program later`,
    { skip, ...options },
    async (t) => {
      const { root, home, canaries, laterOutside } = gitGrounds(t, user)
      const evil = (place: string) => `[core]\\n\\tfsmonitor = touch ${canaries}/${place}\\n`
      const whole = (at: string) => `mkdir -p ${at} && git init -q --bare ${at}`
      const script = [
        // Everything but HEAD lies elsewhere.
        `${whole('docs/x')} && rm docs/x/HEAD && git init -q --bare tmp.git && mkdir docs/api && mv tmp.git/HEAD docs/api && rm -rf tmp.git && echo ../x > docs/api/commondir`,
        `printf '[core]\\n\\trepositoryformatversion = 1\\n[extensions]\\n\\tworktreeConfig = true\\n${evil('common')}\\tworktree = /\\n' > docs/x/config && printf '${evil('worktree')}' > docs/api/config.worktree`,
        // HEAD is a link that leads nowhere.
        `${whole('docs/y')} && ln -sf refs/heads/none docs/y/HEAD && printf '${evil('link')}\\tworktree = ..\\n\\tbare = false\\n' > docs/y/config`,
        // A repository in a folder that looks like one.
        `${whole('shell')} && git init -q shell/r && printf '${evil('inner')}' >> shell/r/.git/config`,
        `${whole('outer')} && git init -q outer && printf '${evil('own')}' >> outer/.git/config`,
        // Folders that can be entered but not listed.
        `git init -q shut/r && printf '${evil('shut')}' >> shut/r/.git/config && printf '#!/bin/sh\\ntouch ${canaries}/shut-hook\\n' > shut/r/.git/hooks/post-index-change && chmod +x shut/r/.git/hooks/post-index-change && chmod 111 shut/r/.git/hooks shut/r/.git shut/r shut`,
        // What cannot be removed at first does not keep the others from being removed.
        `git init -q a-first && mkdir -p a-first/.git/hooks/x/y && touch a-first/.git/hooks/x/y/z && printf '${evil('kept')}' >> a-first/.git/config && chmod 0 a-first/.git/hooks/x/y && chmod 555 a-first/.git/hooks/x a-first/.git/hooks a-first/.git`,
        // Git would write through links, also in the log of a branch of this name.
        `git init -q writes && mkdir -p writes/.git/logs/refs/heads/hooks/ab && ln -s ${home}/.profile writes/.git/logs/refs/heads/hooks/ab/x && ln -s ${home}/.profile writes/.git/logs/HEAD`,
      ].join('\n')
      const [ran] = await runBehindWall(user, { root, home }, [script])
      golden(t, ran!.settled.sort())
      for (const folder of ['docs/api', 'docs/x', 'docs/y', 'shell', 'shell/r', 'outer', 'shut/r', 'a-first', 'writes'])
        assert.deepEqual([folder, laterOutside(join(root, folder))], [folder, []])
    },
  )

  test(
    `${name}: what a repository uses is held also where it lies elsewhere, and other folders stay whole`,
    { skip, ...options },
    async (t) => {
      const { root, home, canaries, laterOutside } = gitGrounds(t, user, (at, git) => {
        mkdirSync(join(at, 'src/hooks'), { recursive: true })
        writeFileSync(join(at, 'src/hooks/use.ts'), 'export {}\n')
        writeFileSync(join(at, '.git/hooks/pre-commit'), '#!/bin/sh\n', { mode: 0o755 })
        git('config', 'filter.own.clean', 'cat')
      })
      const config = readFileSync(join(root, '.git/config'), 'utf8')
      const evil = `touch ${canaries}/elsewhere`
      const [made, used] = await runBehindWall(user, { root, home }, [
        'mkdir node_modules && git init -q --separate-git-dir=node_modules/g apart && git init -q --bare top.git',
        [
          `printf '[core]\\n\\tfsmonitor = ${evil}\\n' >> node_modules/g/config`,
          `git --git-dir=top.git config core.fsmonitor '${evil}'`,
          'mkdir -p other1 other2 && echo "gitdir: ../.git" > other1/.git && echo "gitdir: ../src" > other2/.git',
          'echo x > src/HEAD && mkdir src/refs',
          'true',
        ].join('\n'),
      ])
      golden(t, [made!.settled, used!.settled.sort()])
      assert.deepEqual(
        [readFileSync(join(root, '.git/config'), 'utf8'), existsSync(join(root, '.git/hooks/pre-commit'))],
        [config, true],
      )
      assert.deepEqual(readdirSync(join(root, 'src/hooks')), ['use.ts'])
      for (const folder of ['.', 'apart', 'top.git', 'other1', 'src'])
        assert.deepEqual([folder, laterOutside(join(root, folder))], [folder, []])
    },
  )

  test(`${name}: a repository behind very many new folders runs nothing later`, { skip, ...options }, async (t) => {
    const { root, home, canaries, laterOutside } = gitGrounds(t, user)
    const [ran] = await runBehindWall(user, { root, home }, [
      `mkdir many && cd many && seq 1 ${many} | xargs mkdir && cd .. && mkdir -p z1/z2/z3/z4 && git init -q z1/z2/z3/z4/r && git -C z1/z2/z3/z4/r config core.fsmonitor 'touch ${canaries}/far'`,
    ])
    golden(t, ran!.settled)
    assert.deepEqual(laterOutside(join(root, 'z1/z2/z3/z4/r')), [])
  })

  test(
    `${name}: what a command leaves in the writable part of a project that is only read is swept too`,
    { skip, ...options },
    async (t) => {
      const { root, home, canaries, laterOutside } = gitGrounds(t, user, (at) => mkdirSync(join(at, 'src')))
      const limits = { root, home, project: 'read', git: 'read', writable: [join(root, 'src')] } as const
      const [ran] = await runBehindWall(user, limits, [
        `git init -q src/r && git -C src/r config core.fsmonitor 'touch ${canaries}/scope'; touch outside; mkdir src/.vscode`,
      ])
      golden(
        t,
        ran!.settled.map((one) => one.replace(/moved to .*/, 'moved')),
      )
      assert.deepEqual([existsSync(join(root, 'outside')), laterOutside(join(root, 'src/r'))], [false, []])
    },
  )

  test(`${name}: a folder without git does not become a bare repository`, { skip, ...options }, async (t) => {
    const { base, root, home } = groundsOf(t, user)
    const [ran] = await runBehindWall(user, { root, home }, [
      `git init -q --bare . && git --git-dir=. config core.fsmonitor 'touch ${base}/ran'`,
    ])
    golden(t, ran!.settled)
  })

  test(`${name}: git init in a folder without git leaves a plain repository`, { skip, ...options }, async (t) => {
    const { base, root, home } = groundsOf(t, user)
    const script = `git init -q && git config core.fsmonitor 'touch ${base}/ran' && echo 'touch ${base}/ran' > .git/hooks/pre-commit`
    const [ran] = await runBehindWall(user, { root, home }, [script])
    golden(t, ran!.settled)
    assert.deepEqual(readdirSync(join(root, '.git')).includes('HEAD'), true)
  })
}
