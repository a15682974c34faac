import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { modelServer } from '../real/model-server.ts'
import { machineWithHub } from './agent-machine.ts'

const options = { timeout: 110_000 }

test(
  'the checks of the project run on the work of a task before its review, and leave nothing behind',
  options,
  async (t) => {
    const server = await modelServer(({ body }) => {
      const said = JSON.stringify(body.messages)
      if (!said.includes('Do it.')) return { text: 'ready' }
      if (said.includes('file_creator')) return { text: 'It is made.' }
      return { call: { tool: 'file_creator', input: { file_path: 'made.txt', content: 'made\n' } } }
    })
    t.after(() => server.close())
    const own = { retrySeconds: 0, kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    const agents = [{ name: 'own', ...own, contextWindowTokens: 200_000 }]
    const at = await machineWithHub(t, { leash: 'edit', agents, permissions: { allow: ['Bash(npm test)'] } })
    // The check reads the work of the task, writes a file of its own, and prints more than is shown.
    const check =
      "const fs = require('fs'); fs.writeFileSync('left.txt', 'x'); console.log('line\\n'.repeat(9000) + 'found ' + fs.readFileSync('made.txt', 'utf8')); process.exit(3)"
    writeFileSync(join(at.machine.project, 'check.cjs'), check)
    writeFileSync(join(at.machine.project, 'package.json'), JSON.stringify({ scripts: { test: 'node check.cjs' } }))
    at.git('add', '-A')
    at.git('-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '-m', 'a check')
    const env = { ANTHROPIC_API_KEY: 'made-up' }
    const agent = at.start(['agent', '--start=own', '--machine-name', 'build-7'], env)
    const [task] = await at.settled([await at.add('Do it.')])
    agent.child.kill('SIGTERM')
    await once(agent.child, 'exit')
    const [one] = task!.tries!
    assert.equal(task!.state, 'IN_REVIEW', agent.said())
    const { output, ms, whole, ...ran } = one!.checks![0]!
    assert.deepEqual([ran, one!.checks!.length], [{ command: 'npm test', exit: 3, ranBy: 'termaite' }, 1], agent.said())
    assert.deepEqual(
      [one!.diff!.files, one!.branch, one!.machine, existsSync(one!.worktree!)],
      [1, `termaite/task-${task!.id.slice(-8)}`, 'build-7', false],
    )
    assert.match(output, /found made/)
    assert.equal(ms > 0 && whole!.bytes > 45_000, true)
  },
)
