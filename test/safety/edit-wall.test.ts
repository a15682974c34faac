import type { TestContext } from 'node:test'
import type { WallUser } from './behind-wall.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sized } from '../full.ts'
import { runBehindWall, wallUsers } from './behind-wall.ts'
import { gitGrounds } from './git-grounds.ts'
import { who } from './hostile-git.ts'

/** Commands that became more than an edit before there was a wall. `$OUT` is a folder beside the project, `$EVIL` leaves a canary there. */
const attacks: Record<string, string> = {
  'git rebase -x': 'git rebase -q -x "$EVIL; true" --root',
  'git bisect run': 'git bisect start HEAD HEAD~1; git bisect run sh -c "$EVIL"; git bisect reset',
  'git -c core.hooksPath':
    'mkdir h; printf "#!/bin/sh\\n$EVIL\\n" > h/pre-commit; chmod +x h/*; git -c core.hooksPath=h commit -q --allow-empty -m x',
  'hooks that stay, by core.hooksPath':
    'mkdir h; printf "#!/bin/sh\\n$EVIL\\n" > h/pre-commit; chmod +x h/*; git config core.hooksPath h; git config --local core.hooksPath "$PWD/h"',
  'a hook in the git folder':
    'printf "#!/bin/sh\\n$EVIL\\n" > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout',
  'tar -I':
    'mkdir t; touch t/a; tar cf t.tar t; tar xIf "sh -c \"$EVIL\"" t.tar; tar xf t.tar --to-command "$EVIL"; tar cf x.tar --checkpoint=1 --checkpoint-action="exec=$EVIL" t',
  'tar that unpacks outside':
    'echo evil > planted; tar -cPf t.tar "$PWD/planted" --transform "s#.*#$OUT/planted#"; tar -xPf t.tar; tar cf u.tar planted --transform "s#^#.git/hooks/#"; tar xf u.tar',
  'patch into the git folder':
    'cp .git/config c; printf "[core]\\n\\tfsmonitor = $EVIL\\n" >> c; diff -u .git/config c > p; patch -p0 < p; git apply --unsafe-paths -p0 p; cp c .git/config; rm c; printf -- "--- /dev/null\\n+++ $OUT/patched\\n@@ -0,0 +1 @@\\n+x\\n" > q; git apply --unsafe-paths q',
  'lexical .. behind a link':
    'echo evil > link/../planted; cp a.txt link/../copied; mkdir link/../made; rm -rf link/../kept',
  'git format-patch -o outside':
    'git format-patch -q -o "$OUT" HEAD~1; git format-patch -q -o link/.. HEAD~1; git archive -o "$OUT/a.tar" HEAD; git bundle create "$OUT/b" HEAD',
  'git clone outside':
    'git clone -q . "$OUT/clone"; git worktree add -q "$OUT/tree"; git --work-tree="$OUT" checkout -f HEAD; git init -q --separate-git-dir "$OUT/git" new',
  'git into another git folder':
    'git --git-dir="$OUT/other/.git" config core.fsmonitor "$EVIL"; GIT_DIR="$OUT/other/.git" git commit -q --allow-empty -m x; git -C "$OUT/other" config core.pager "$EVIL"',
  'git settings of the person':
    'git config --global core.fsmonitor "$EVIL"; git config --system core.fsmonitor "$EVIL"; mkdir -p ~/.config/git && printf "[core]\\n\\tfsmonitor = $EVIL\\n" > ~/.config/git/config; printf "* filter=x\\n" > ~/.config/git/attributes',
  'a moved git folder':
    'mv .git old; git init -q; git config core.fsmonitor "$EVIL"; cp -r .git copy; rm -rf .git; mv copy .git',
  'a worktree that leads elsewhere':
    'git init -q --bare b; git -C b config core.fsmonitor "$EVIL"; echo "$PWD/b" > .git/commondir; mkdir -p .git/worktrees/x; git config core.worktree "$OUT"',
  'an alternate and a replaced object store':
    'echo "$OUT/other/.git/objects" > .git/objects/info/alternates; mv .git/objects .git/o; ln -s "$OUT/other/.git/objects" .git/objects',
  'links in the git folder':
    'rm -rf .git/logs; ln -s "$OUT" .git/logs; rm -rf .git/refs/heads/x; ln -s "$OUT" .git/refs/heads/x; rm -f .git/ORIG_HEAD .git/FETCH_HEAD; ln -s "$OUT/kept/letter" .git/ORIG_HEAD; ln -s "$OUT/kept/letter" .git/FETCH_HEAD; ln -s "$OUT/kept/letter" .git/MERGE_MSG',
  'a nested repository that is added':
    'git init -q n && git -C n commit -q --allow-empty -m x && git add n && git commit -qm n && git -C n config core.fsmonitor "$EVIL"',
  'a filter of the index':
    'printf "* filter=evil\\n" > .gitattributes; git config filter.evil.clean "$EVIL"; git config --worktree filter.evil.clean "$EVIL"; printf "[filter \\"evil\\"]\\n\\tclean = $EVIL\\n" > .git/config.worktree',
}

function layOut(t: TestContext, user: WallUser) {
  const grounds = gitGrounds(t, user, (at, git) => {
    git('commit', '-q', '--allow-empty', '-m', 'second')
    const out = join(at, '../outside')
    mkdirSync(join(out, 'kept'), { recursive: true })
    mkdirSync(join(out, 'sub'))
    writeFileSync(join(out, 'kept/letter'), 'a letter\n')
    git('init', '-q', join(out, 'other'))
    symlinkSync(join(out, 'sub'), join(at, 'link'))
  })
  const { base, root, home, canaries, laterOutside } = grounds
  const outside = join(base, 'outside')
  const script = (attack: string) =>
    `export OUT=${outside} EVIL='touch ${canaries}/ran' GIT_CONFIG_SYSTEM=${home}/system\n${attack}`
  const found = () => ({ canaries: readdirSync(canaries), outside: allOf(outside) })
  /** Runs the person's git in the project and in everything that the attack made there. */
  const later = () => {
    const names = readdirSync(root).filter((one) => !['.git', 'link'].includes(one))
    for (const folder of ['.', ...names]) laterOutside(join(root, folder))
    return found()
  }
  return { root, home, script, found, later }
}

const able = wallUsers.filter(({ skip }) => !skip)
const users = able.length > 0 ? able : wallUsers

for (const [index, [name, attack]] of Object.entries(attacks).entries())
  // Each attack is tried by one of the users, the next one by the other; with FULL=1 by both.
  for (const user of sized([users[index % users.length]!], [...wallUsers]))
    test(
      `${user.name}: at edit, ${name} changes nothing outside and leaves nothing that runs later`,
      { skip: user.skip, timeout: 120_000 },
      async (t) => {
        const { root, home, script, found, later } = layOut(t, user)
        const before = found()
        await runBehindWall(user, { root, home }, [script(attack)])
        assert.deepEqual(found(), before, 'while the command ran')
        assert.deepEqual(later(), before, 'when git ran outside afterwards')
      },
    )

test('without a wall every one of these attacks has an effect', { timeout: 120_000 }, (t) => {
  const harmless = Object.entries(attacks).filter(([, attack]) => {
    const { root, home, script, found, later } = layOut(t, { name: 'anybody', skip: false })
    const before = JSON.stringify(found())
    spawnSync('bash', ['-c', script(attack)], { cwd: root, env: { PATH: process.env.PATH, HOME: home, ...who } })
    return JSON.stringify(found()) === before && JSON.stringify(later()) === before
  })
  assert.deepEqual(
    harmless.map(([name]) => name),
    [],
  )
})

/** All files of a folder, with their content. */
function allOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')]),
  )
}
