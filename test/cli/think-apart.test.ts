import type { Answer, Asked } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alive, labelled } from '../base/alive.ts'
import { modelServer } from '../real/model-server.ts'
import { ended, Machine, nativeOn } from './program.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

const leaf = (name: string) => ({
  id: name,
  task: `write ${name}.txt`,
  touches: [`${name}.txt`, `pwd-${name}.txt`],
  check: { kind: 'command', command: `test -s ${name}.txt` },
})

const tasks = [leaf('a'), leaf('b')]

/** A person's repository in the middle of their work, with a hook that tells when it is run. */
function repository(machine: Machine) {
  const { project } = machine
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], { cwd: project, encoding: 'utf8' })
  git('init', '-q', '-b', 'main')
  writeFileSync(join(project, '.gitignore'), 'node_modules/\n')
  writeFileSync(join(project, 'kept.txt'), 'committed\n')
  git('add', '-A')
  git('commit', '-qm', 'one')
  writeFileSync(join(project, 'kept.txt'), 'not committed\n')
  writeFileSync(join(project, 'new.txt'), 'untracked\n')
  mkdirSync(join(project, 'node_modules'))
  writeFileSync(join(project, 'node_modules/dep.js'), '')
  writeFileSync(join(project, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${machine.folder}/hooked\n`, {
    mode: 0o755,
  })
  return () => ({
    index: readFileSync(join(project, '.git/index'), 'base64'),
    config: readFileSync(join(project, '.git/config'), 'utf8'),
    refs: git('for-each-ref') + git('stash', 'list') + git('reflog'),
    inGit: readdirSync(join(project, '.git')).sort(),
    objects: git('count-objects'),
    hooked: existsSync(join(machine.folder, 'hooked')),
    ours: existsSync(join(machine.home, 'worktrees')),
  })
}

const story = (machine: Machine) =>
  machine.history().flatMap((entry): string[] => {
    if (entry.type === 'note' || entry.type === 'reply') return [`${entry.by}: ${entry.text}`]
    if (entry.type === 'call') return [`$ ${(entry.input as { command: string }).command}`]
    return entry.type === 'verdict' ? [`${entry.by}, passed: ${entry.passed}, ${entry.calls} asked`] : []
  })

const nameIn = (prompt: string) => /<approach>\\nwrite (\w)\.txt/.exec(prompt)?.[1]

/** The last request, and how many tools were used since. */
function lastOf({ body }: Asked) {
  const { messages } = body as { messages: { role: string; content: unknown }[] }
  const isResult = ({ content }: { content: unknown }) => JSON.stringify(content).includes('"tool_result"')
  const at = messages.findLastIndex((message) => message.role === 'user' && !isResult(message))
  return { prompt: JSON.stringify(messages[at]!.content), used: messages.slice(at).filter(isResult).length }
}

test(
  'our own agent does two tasks at once, each in a copy of the project as it is, and nothing of it stays',
  options,
  async (t) => {
    const machine = new Machine(t)
    const state = repository(machine)
    const before = state()
    const both = Promise.withResolvers<void>()
    const at = new Set<string>()
    const server = await modelServer(async (asked): Promise<Answer> => {
      const { prompt, used } = lastOf(asked)
      if (prompt.includes('You plan a piece of work'))
        return { text: `\`\`\`json\n${JSON.stringify({ tasks })}\n\`\`\`` }
      const name = nameIn(prompt)
      if (name === undefined) return { text: 'Both are written.' }
      if (used > 0) return { text: `wrote ${name}` }
      // Neither agent goes on before both are at work.
      at.add(name)
      if (at.size === 2) both.resolve()
      await both.promise
      const command = `cat kept.txt new.txt > ${name}.txt; ls -d node_modules >> ${name}.txt || pwd > pwd-${name}.txt`
      return { call: { tool: 'bash', input: { command } } }
    })
    t.after(() => server.close())
    const agent = nativeOn(server)
    machine.settings({ metaInstruction: false, agents: [agent] })
    const { code, out, err } = await machine.run(['-p', 'write a and b', '--think', 'decompose', '--leash', 'all'], {
      env: { ANTHROPIC_API_KEY: 'made-up-key' },
    })
    assert.deepEqual({ code, out }, { code: 0, out: 'Both are written.\n' }, err)
    golden(t, story(machine))
    const read = (name: string) => readFileSync(join(machine.project, name), 'utf8')
    for (const name of ['a', 'b']) {
      assert.equal(read(`${name}.txt`), 'not committed\nuntracked\n')
      assert.match(read(`pwd-${name}.txt`), /\/termaite\/worktrees\/.*\/apart-\w+\n$/)
    }
    assert.notEqual(read('pwd-a.txt'), read('pwd-b.txt'))
    assert.deepEqual(state(), before)
    assert.equal(
      machine.history().filter(({ type }) => type === 'usage').length,
      server.turns().length,
      'all is counted',
    )
  },
)

/** A reader that plans, and a command that begins both tasks and stays; once `go` is there it does what it is told. */
function staying(t: TestContext) {
  const machine = new Machine(t)
  const state = repository(machine)
  const plan = join(machine.folder, 'plan')
  writeFileSync(plan, JSON.stringify({ tasks }))
  const go = join(machine.folder, 'go')
  // The prompt repeats earlier approaches: the last one counts.
  const doer = `told=$(cat); case "\${told##*<approach>}" in
    *'Every task of the tree is done'*) echo 'Both are written.'; exit;;
    *'write a.txt'*) n=a;;
    *) n=b;;
  esac
  touch ${machine.folder}/at-$n; [ -e ${go} ] || sleep 1000; echo $n > $n.txt; echo wrote $n`
  const agents = [
    { name: 'doer', command: doer, leash: 'all', contextWindowTokens: 100_000 },
    {
      name: 'planner',
      command: `cat >/dev/null; cat ${plan}`,
      leash: 'read',
      wall: false,
      contextWindowTokens: 100_000,
    },
  ]
  machine.settings({ metaInstruction: false, agents, permissions: { mode: 'bypass' } })
  const { label } = labelled()
  const start = () =>
    machine.start(['-p', 'write a and b', '--think', 'decompose', '--leash', 'all'], { env: { TEST_LABEL: label } })
  const atWork = () => until(() => ['a', 'b'].every((name) => existsSync(join(machine.folder, `at-${name}`))))
  const rooms = () => {
    const admin = join(machine.project, '.git/worktrees')
    return existsSync(admin) ? readdirSync(admin).length : 0
  }
  return { machine, state, start, atWork, rooms, go: () => writeFileSync(go, ''), left: () => alive(label) }
}

test('a cancel ends both and takes their copies away', options, async (t) => {
  const { machine, state, start, atWork, rooms, left } = staying(t)
  const before = state()
  const child = start()
  child.stdin!.end()
  const ran = ended(child)
  await atWork()
  assert.equal(rooms(), 2)
  child.kill('SIGINT')
  const { code } = await ran
  assert.deepEqual([code, await left(), state()], [130, [], before])
  assert.deepEqual(readdirSync(machine.project).sort(), ['.git', '.gitignore', 'kept.txt', 'new.txt', 'node_modules'])
})

test(
  'after a kill the tree says which were at work, the next start sweeps their copies and does them',
  options,
  async (t) => {
    const { machine, state, start, atWork, rooms, left, go } = staying(t)
    const before = state()
    const child = start()
    child.stdin!.end()
    await atWork()
    child.kill('SIGKILL')
    await once(child, 'exit')
    await until(async () => (await left()).length === 0)
    assert.equal(rooms(), 2)
    const [tree] = JSON.parse(readFileSync(machine.file('trees.json'), 'utf8')) as { tasks: { state: string }[] }[]
    assert.deepEqual(
      tree!.tasks.map(({ state }) => state),
      ['running', 'running'],
    )
    go()
    const again = start()
    again.stdin!.end()
    const { code, out, err } = await ended(again)
    assert.deepEqual({ code, out }, { code: 0, out: 'Both are written.\n' }, err)
    assert.deepEqual(
      ['a', 'b'].map((name) => readFileSync(join(machine.project, `${name}.txt`), 'utf8')),
      ['a\n', 'b\n'],
    )
    assert.deepEqual(state(), before)
  },
)
