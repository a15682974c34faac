import type { TestContext } from 'node:test'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import type { HubRefused } from '../../src/hub/engine/remote-hub.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { shortHash } from '../../src/base/hash.ts'
import { diffText } from '../hub/engine/diff-text.ts'
import { killed } from '../base/alive.ts'
import { until } from '../until.ts'
import { mcpClient, startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

/** A project with one commit, a running hub at a port of its own, and an agent that brings its work on a branch. */
async function shop(t: TestContext) {
  const machine = new Machine(t)
  const env = { PATH: process.env.PATH!, HOME: join(machine.folder, 'home') }
  const at = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd, env })
      .toString()
      .trim()
  const git = (...args: string[]) => at(machine.project, ...args)
  git('init', '-q', '-b', 'main')
  const write = (name: string, text: string) => writeFileSync(join(machine.project, name), text)
  write('a.txt', 'one\ntwo\nthree\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
  const serving = await startedHub(t, machine)
  const orc = await serving.agent('orc')
  await orc.register({ id: 'orc', role: 'dev', capabilities: [], workspace: machine.project, source: 'CLI' })
  const termaite = (...args: string[]) => machine.run(args)
  /** A task whose agent put these files on the task's branch. */
  const review = async (files: Record<string, string>, message = 'Did it.', hub = orc) => {
    const { out } = await termaite('task', 'add', 'change', 'the', 'shop')
    const short = out.split(' ')[0]!
    const given = await hub.wait('orc', 30, new AbortController().signal)
    assert.ok(given.type === 'task')
    const branch = `termaite/task-${short}`
    const tree = join(machine.folder, `tree-${short}`)
    git('worktree', 'add', '-q', '-b', branch, tree)
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(tree, name, '..'), { recursive: true })
      writeFileSync(join(tree, name), text)
    }
    at(tree, 'add', '.')
    at(tree, 'commit', '-q', '-m', message)
    git('worktree', 'remove', tree)
    const commit = git('rev-parse', branch)
    await hub.respond(given.ticket, 'orc', { status: 'IN_REVIEW', message, place: { branch, commit } })
    return { short, branch, commit, id: given.task.id }
  }
  const state = async (short: string) => {
    const { out } = await termaite('task', 'list', '--all', '--json')
    return (JSON.parse(out) as { id: string; state: string }[]).find(({ id }) => id.endsWith(short))!.state
  }
  const branches = () => git('branch', '--format=%(refname:short)').split('\n')
  /** The state of the person's work tree, to compare it with the one before. */
  const tree = () => ({ head: git('rev-parse', 'HEAD'), status: git('status', '--porcelain'), a: read('a.txt') })
  const read = (name: string) => readFileSync(join(machine.project, name), 'utf8')
  return { machine, git, write, read, termaite, review, state, branches, tree, serving }
}

test(
  'a task names its branch, its files and the commands; approve --merge moves the branch forward and sweeps',
  options,
  async (t) => {
    const { machine, git, read, termaite, review, state, branches } = await shop(t)
    const { short, branch } = await review({ 'a.txt': 'one\n2\nthree\n', 'lib/new.txt': 'n\n' })
    const shown = (await termaite('task', 'show', short)).out
    golden(t, shown.slice(shown.indexOf('Changes:')).split('\n'), { [machine.folder]: '<machine>', [short]: '<short>' })
    assert.match(
      (await termaite('report')).out,
      new RegExp(`\\(orc\\)\n +Did it\\.\n +git -C ${machine.project} diff HEAD\\.\\.\\.${branch}\n`),
    )
    const asked = await termaite('task', 'approve', short, '--merge')
    assert.equal(asked.code, 2)
    golden(t, asked.err, { [machine.folder]: '<machine>', [short]: '<short>' })
    assert.equal(await state(short), 'IN_REVIEW')
    assert.deepEqual(await termaite('task', 'approve', short, '--merge', '--yes'), {
      code: 0,
      signal: null,
      out: `${short} APPROVED orc\n`,
      err: `Merged 2 files +2 −1 into main (fast-forward).\nRemoved the branch ${branch}.\n`,
    })
    assert.deepEqual(
      [read('a.txt'), read('lib/new.txt'), git('log', '--format=%s')],
      ['one\n2\nthree\n', 'n\n', 'Did it.\nfirst'],
    )
    assert.deepEqual([branches(), git('status', '--porcelain')], [['main'], ''])
  },
)

test('approve alone says where the work is, and --merge later makes a real merge', options, async (t) => {
  const { git, write, read, termaite, review, branches } = await shop(t)
  const { short, branch } = await review({ 'a.txt': 'one\ntwo\n3\n' })
  write('mine.txt', 'm\n')
  git('add', '.')
  git('commit', '-q', '-m', 'mine')
  const { out, err } = await termaite('task', 'approve', short)
  assert.equal(out, `${short} APPROVED orc\n`)
  assert.match(
    err,
    new RegExp(
      `The work is on the branch ${branch} \\(1 file \\+1 −1\\) and is not merged yet\\. .* Merge it: termaite task approve ${short} --merge`,
    ),
  )
  write('untracked.txt', 'stays\n')
  const merged = await termaite('task', 'approve', short, '--merge', '--yes', '--json')
  const { merged: how } = JSON.parse(merged.out) as { merged: object }
  assert.deepEqual(how, { machine: hostname(), into: 'main', commit: git('rev-parse', 'HEAD'), branch })
  assert.deepEqual(git('log', '--format=%s', '--first-parent').split('\n'), [
    `Merge ${branch}: change the shop`,
    'mine',
    'first',
  ])
  assert.deepEqual([read('a.txt'), read('untracked.txt'), branches()], ['one\ntwo\n3\n', 'stays\n', ['main']])
})

test('neither the command line nor the hub merges a branch that has moved since its review', options, async (t) => {
  const { machine, git, read, termaite, review, state, tree, serving } = await shop(t)
  const { short, branch, commit, id } = await review({ 'a.txt': 'one\n2\nthree\n' })
  const before = tree()
  const moved = `${machine.folder}/moved`
  git('worktree', 'add', '-q', moved, branch)
  writeFileSync(join(moved, 'a.txt'), 'one\nevil\nthree\n')
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qam', 'later'], { cwd: moved })
  git('worktree', 'remove', moved)
  const tip = git('rev-parse', branch)
  const masks = { [machine.folder]: '<machine>', [short]: '<short>', [commit]: '<reviewed>' }
  for (const most of [12, 8])
    Object.assign(masks, { [commit.slice(0, most)]: '<reviewed>', [tip.slice(0, most)]: '<tip>' })
  const refused = await termaite('task', 'approve', short, '--merge', '--yes')
  golden(t, [refused.code, refused.out, ...refused.err.split('\n')], masks)
  await golden.rejects(t, serving.hub.tell(id, 'approve', { try: 1, merge: true }), masks)
  assert.deepEqual([tree(), await state(short)], [before, 'IN_REVIEW'])
  git('branch', '--force', branch, commit)
  writeFileSync(join(machine.project, 'mine.txt'), 'not committed\n')
  git('add', 'mine.txt')
  assert.equal((await termaite('task', 'approve', short, '--merge', '--yes')).code, 0)
  assert.deepEqual(
    [read('a.txt'), git('rev-parse', 'HEAD'), git('status', '--porcelain')],
    ['one\n2\nthree\n', commit, 'A  mine.txt'],
  )
})

test(
  'an MCP client names the commit of its work: its diff is read from the branch, and only that commit is merged',
  options,
  async (t) => {
    const { machine, git, read, state, serving } = await shop(t)
    const { call } = await mcpClient(t, serving.url, serving.key)
    const who = { agentId: 'coder' }
    const workspaceContext = machine.project
    await call('register_agent', { ...who, role: 'dev', capabilities: [], workspaceContext, source: 'CLI' })
    const { data: added } = await call('assign_task', {
      prompt: 'change two',
      workspaceId: workspaceContext,
      targetAgentId: 'coder',
    })
    const { data: given } = await call('wait_for_prompt', { ...who, timeout: 20 })
    const { taskId } = given
    await call('ack_task', { ...who, taskId })
    const [id, short] = [added.taskId, added.taskId.slice(-8)]
    const branch = `termaite/task-${short}`
    const committed = (text: string) => {
      git('checkout', '-q', '-B', branch)
      writeFileSync(join(machine.project, 'a.txt'), text)
      git('commit', '-q', '-am', 'work')
      git('checkout', '-q', 'main')
      return git('rev-parse', branch)
    }
    const [base, first] = [git('rev-parse', 'main'), committed('one\n2\nthree\n')]
    const answer = { ...who, taskId, status: 'IN_REVIEW', message: 'changed' }
    const blanks = { [base]: '<base>', [first]: '<first>', [short]: '<short>' }
    golden(
      t,
      [
        await call('send_response', { ...answer, commit: base }),
        await call('send_response', { ...answer, commit: 'HEAD' }),
      ],
      blanks,
    )
    await call('send_response', { ...answer, commit: first, diff: '+a lie' })
    const [last] = (await serving.hub.task(id)).tries!
    const { machine: host, branch: on, commit, base: from } = last!
    assert.deepEqual([host, on, commit, from], [hostname(), branch, first, base])
    assert.equal(await diffText(serving.hub, await serving.hub.task(id)), `${git('diff', base, first)}\n`)
    const second = committed('one\n2\nthree\nmore\n')
    const approve = () => serving.hub.tell(id, 'approve', { try: 1, merge: true })
    const ids = { [first]: '<first>', [first.slice(0, 12)]: '<first>', [second.slice(0, 12)]: '<second>' }
    const cut = { [first.slice(0, 8)]: '<first>', [second.slice(0, 8)]: '<second>' }
    await golden.rejects(t, approve(), { ...ids, ...cut, [short]: '<short>', [machine.folder]: '<machine>' })
    assert.deepEqual([await state(short), read('a.txt')], ['IN_REVIEW', 'one\ntwo\nthree\n'])
    git('branch', '--force', branch, first)
    assert.equal((await approve()).state, 'APPROVED')
    assert.deepEqual([read('a.txt'), git('rev-parse', 'HEAD')], ['one\n2\nthree\n', first])
  },
)

test('a merge that cannot be made is told by file, and the work tree is as before', options, async (t) => {
  const { git, write, termaite, review, state, branches, tree } = await shop(t)
  const { short, branch } = await review({ 'a.txt': 'one\nTHEIRS\nthree\n' })
  write('a.txt', 'one\nOURS\nthree\n')
  const dirty = tree()
  const refused = await termaite('task', 'approve', short, '--merge', '--yes')
  assert.deepEqual([refused.code, tree()], [1, dirty])
  assert.match(
    refused.err,
    /Nothing was merged: .* has changes that are not committed \(a\.txt\)\. Commit or stash them first\. The task stays IN_REVIEW\.$/m,
  )
  git('commit', '-q', '-am', 'ours')
  const before = tree()
  const conflict = await termaite('task', 'approve', short, '--merge', '--yes')
  assert.deepEqual([conflict.code, tree(), await state(short)], [1, before, 'IN_REVIEW'])
  golden(t, conflict.err.split('\n').slice(0, 2), { [short]: '<short>' })
  assert.match(conflict.err, /termaite task reject \w+ "Merge main into your branch and solve the conflicts in a\.txt"/)
  git('checkout', '-q', '--detach')
  assert.match(
    (await termaite('task', 'approve', short, '--merge', '--yes')).err,
    /no branch is checked out in .*git switch/,
  )
  git('checkout', '-q', 'main')
  const other = await review({ 'new.txt': 'theirs\n' })
  write('new.txt', 'mine, not committed\n')
  const there = await termaite('task', 'approve', other.short, '--merge', '--yes')
  assert.equal(there.code, 1)
  assert.match(there.err, /untracked working tree files would be overwritten by merge: new\.txt/)
  assert.deepEqual(branches(), ['main', branch, other.branch].sort())
})

test(
  'the merge goes into the branch that the person has checked out; a cancelled task names its leftovers',
  options,
  async (t) => {
    const { machine, git, termaite, review, branches } = await shop(t)
    const { short, branch } = await review({ 'b.txt': 'b\n' })
    const side = `${machine.project}-side`
    git('worktree', 'add', '-q', '-b', 'side', side)
    const { code, err } = await machine.run(['task', 'approve', short, '--merge', '--yes'], { cwd: side })
    assert.deepEqual(
      [code, existsSync(join(side, 'b.txt')), existsSync(join(machine.project, 'b.txt'))],
      [0, true, false],
    )
    assert.match(err, /^Merged 1 file \+1 −0 into side/)
    const second = await review({ 'c.txt': 'c\n' })
    await termaite('task', 'cancel', second.short)
    const left = await termaite('task', 'show', second.short)
    assert.match(left.out, new RegExp(`Changes: 1 file \\+1 −0 on the branch ${second.branch}`))
    assert.equal(branches().includes(branch), false)
    assert.equal(branches().includes(second.branch), true)
    golden(t, (await termaite('task', 'approve', second.short, '--merge', '--yes')).err, { [second.short]: '<short>' })
  },
)

test(
  'work from which programs could start by themselves is merged only by a person who is asked, whatever was said beforehand',
  { ...options, ...inTerminal },
  async (t) => {
    const { machine, git, termaite, review, state, tree, serving } = await shop(t)
    const { short, id } = await review({ '.vscode/tasks.json': '{}\n', 'b.txt': 'b\n' })
    const before = tree()
    const asked = await termaite('task', 'approve', short, '--merge', '--yes')
    const masks = { [machine.folder]: '<machine>', [short]: '<short>' }
    golden(t, [asked.code, asked.err], masks)
    await golden.rejects(t, serving.hub.tell(id, 'approve', { try: 1, merge: true }), masks)
    assert.deepEqual([tree(), await state(short)], [before, 'IN_REVIEW'])
    const words = ['task', 'approve', short, '--merge', '--yes']
    const declined = await typed(machine, words, [[/\[y\/N\]/, 'n\r']])
    assert.deepEqual([declined.code, tree(), await state(short)], [1, before, 'IN_REVIEW'])
    const agreed = await typed(machine, words, [[/\[y\/N\]/, 'y\r']])
    assert.deepEqual(
      [agreed.code, await state(short), git('ls-files')],
      [0, 'APPROVED', '.vscode/tasks.json\na.txt\nb.txt'],
    )
  },
)

test(
  'the machine of the hub merges work that is approved on the page, and is named; work that cannot be merged stays in review',
  options,
  async (t) => {
    const { machine, git, write, read, review, state, branches, tree, serving } = await shop(t)
    const approve = (id: string, merge = true) => serving.hub.tell(id, 'approve', { try: 1, merge })
    const { id, branch } = await review({ 'b.txt': 'b\n' })
    const done = (await approve(id)) as Task & { merged: object }
    const merged = { machine: hostname(), branch, into: 'main', commit: git('rev-parse', 'HEAD') }
    assert.deepEqual([done.state, done.merged, done.history.at(-1)!.merged], ['APPROVED', merged, merged])
    assert.deepEqual([read('b.txt'), branches(), git('status', '--porcelain')], ['b\n', ['main'], ''])
    assert.deepEqual(((await approve(id)) as Task & { merged: object }).merged, merged)
    const other = await review({ 'a.txt': 'one\nTHEIRS\nthree\n' })
    const refused = async (wanted: RegExp) => {
      const before = tree()
      await assert.rejects(approve(other.id), (error: HubRefused) => error.status === 409 && wanted.test(error.message))
      assert.deepEqual([tree(), await state(other.short)], [before, 'IN_REVIEW'])
    }
    write('a.txt', 'one\nOURS\nthree\n')
    await refused(
      /^Nothing was merged: .* has changes that are not committed \(a\.txt\)\. Commit or stash them first\. /,
    )
    git('commit', '-q', '-am', 'ours')
    await refused(/changed the same lines in 1 file\. Nothing was merged, and the task stays IN_REVIEW:\n {2}a\.txt\n/)
    git('branch', '-D', other.branch)
    await refused(
      /has no branch in .* on the machine .*: it was deleted, or is elsewhere\. Merge it on the machine that has/,
    )
    const gone = `${machine.project}-gone`
    renameSync(machine.project, gone)
    await golden.rejects(t, approve(other.id), {
      [machine.folder]: '<machine>',
      [other.short]: '<short>',
      [`The machine ${hostname()} `]: 'The machine <host> ',
    })
    renameSync(gone, machine.project)
  },
)

test(
  'a hub that is killed while it merges has approved the merge when it runs again, or merges it when it is asked again',
  options,
  async (t) => {
    const { machine, git, read, review, serving } = await shop(t)
    // A filter of the person's own git configuration holds the merge until its gate is open.
    const [started, gate] = [join(machine.folder, 'started'), join(machine.folder, 'gate')]
    const smudge = `sh -c 'touch ${started}; while [ ! -e ${gate} ]; do sleep 0.02; done; cat'`
    git('config', '--global', 'filter.slow.smudge', smudge)
    git('config', '--global', 'filter.slow.clean', 'cat')
    let hub = serving
    for (const opens of ['before', 'after'] as const) {
      const name = `${opens}.slow`
      writeFileSync(gate, '')
      const { id, branch } = await review(
        { [name]: 'x\n', '.gitattributes': '*.slow filter=slow\n' },
        undefined,
        await hub.agent('orc'),
      )
      rmSync(gate)
      rmSync(started, { force: true })
      const merging = hub.hub.tell(id, 'approve', { try: 1, merge: true })
      await until(() => existsSync(started))
      const over = once(hub.child, 'exit')
      hub.child.kill('SIGKILL')
      await Promise.all([over, assert.rejects(merging)])
      const isMerged = () =>
        spawnSync('git', ['merge-base', '--is-ancestor', branch, 'HEAD'], { cwd: machine.project }).status === 0
      const open = async () => {
        writeFileSync(gate, '')
        await until(() => isMerged() && git('status', '--porcelain') === '')
      }
      if (opens === 'before') await open()
      hub = await startedHub(t, machine)
      const found = await hub.hub.task(id)
      if (opens === 'before') {
        assert.deepEqual([found.state, found.history.at(-1)!.merged?.branch], ['APPROVED', branch])
        continue
      }
      assert.deepEqual([found.state, found.merging], ['IN_REVIEW', undefined])
      await open()
      const done = await hub.hub.tell(id, 'approve', { try: 1, merge: true })
      assert.deepEqual([done.state, read(name)], ['APPROVED', 'x\n'])
    }
  },
)

for (const host of ['pty', 'tmux'] as const)
  test(
    `the worktree of a killed agent in ${host} is swept with the next merge, once its CLI is gone`,
    { ...options, skip: host === 'tmux' && spawnSync('tmux', ['-V']).error ? 'tmux is not installed' : false },
    async (t) => {
      const { machine, termaite, review, branches } = await shop(t)
      t.after(() => spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server']))
      const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
      const command = [process.execPath, fake, join(machine.folder, 'gate'), 'scroll'].join(' ')
      const agents = { fake: { command, idle_pattern: '^> ?$', response_fence: true } }
      machine.settings({ leash: 'edit', agents })
      const agent = machine.start(['agent', '--start=fake', ...(host === 'tmux' ? ['--tmux'] : [])])
      t.after(() => agent.kill('SIGKILL'))
      let lines = ''
      agent.stderr!.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
      await until(() => /waiting for a task/.test(lines))
      const [, tree] = /works in the worktree (\S+) on the branch termaite\/agent-fake/.exec(lines)!
      const over = once(agent, 'exit')
      agent.kill('SIGKILL')
      await over
      const cli = () => spawnSync('pgrep', ['-f', join(machine.folder, 'gate')], { encoding: 'utf8' }).stdout.trim()
      if (host === 'pty') await until(() => cli() === '')
      const merged = async (name: string) => {
        const { short } = await review({ [name]: 'n\n' })
        return (await termaite('task', 'approve', short, '--merge', '--yes')).err
      }
      if (host === 'tmux') {
        assert.doesNotMatch(await merged('one.txt'), /worktree/)
        assert.deepEqual([existsSync(tree!), cli() === ''], [true, false], 'the CLI goes on, and so does its folder')
        for (const pid of cli().split('\n')) killed(Number(pid))
        await until(() => cli() === '')
      }
      assert.match(await merged('two.txt'), new RegExp(`^Removed the worktree ${tree}\\.$`, 'm'))
      assert.deepEqual([existsSync(tree!), branches()], [false, ['main']])
    },
  )
