import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import type { ModelServer, Script } from '../real/model-server.ts'
import { modelServer } from '../real/model-server.ts'
import { alive, labelled } from '../base/alive.ts'
import { until } from '../until.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looks } from './looks.ts'
import { Sitting, rested } from './sitting.ts'

const options = { timeout: 120_000 }

/** Our own agent in the chat, on a scripted model; on the leash all, every command is allowed without a sandbox, too. */
async function chatting(t: TestContext, script: Script, more: object = {}, leash: 'all' | 'edit' = 'all') {
  const machine = new Machine(t)
  const server = await modelServer(script)
  t.after(() => server.close())
  machine.settings({
    metaInstruction: false,
    thinking: 'off',
    ...more,
    agents: [
      {
        name: 'alpha',
        kind: 'native',
        model: 'anthropic/claude-sonnet-4-5',
        baseURL: `${server.url}/v1`,
        contextWindowTokens: 200_000,
      },
    ],
  })
  const shown = looks.dark!
  const window = new ProgramWindow(machine, {
    ...shown,
    args: ['--leash', leash],
    // The outputs of its commands lie in the folder of the machine, which the test takes away after the program was killed.
    env: { ...shown.env, ANTHROPIC_API_KEY: 'made-up', SHELL: '/bin/sh', TMPDIR: machine.folder },
  })
  t.after(() => window.end())
  if (leash === 'all') {
    await window.shows(/Leash all:[^]*Enter answers/)
    window.type('1')
  }
  await window.shows(rested('0 tokens'))
  return { machine, server, window }
}

const lastMessage = ({ body }: ReturnType<ModelServer['turns']>[number]) => JSON.stringify(body.messages.at(-1))

/** Asks for the list of jobs until it says this. */
async function listed(window: ProgramWindow, sign: RegExp): Promise<void> {
  await until(async () => {
    const seen = window.raw.length
    window.type('/jobs\r')
    await until(() => window.raw.length > seen)
    return sign.test(window.frame().rows.join('\n'))
  })
}

describe('commands in the background', { concurrency: 2 }, () => {
  test('Ctrl+B sends a running command to the background, and the turn goes on', options, async (t) => {
    const { machine, server, window } = await chatting(t, ({ count }) => {
      const command = 'echo begun; touch begun; until [ -e go ]; do sleep 0.05; done; echo all done; exit 3'
      if (count === 1) return { call: { tool: 'bash', input: { command, timeout_seconds: 600 } } }
      if (count === 2) return { text: 'Meanwhile I answer.' }
      return { text: 'I know that it ended.' }
    })
    window.type(keys.ctrlB)
    await window.shows('No running command can go to the background')
    window.type('build it\r')
    await window.shows('Ctrl+B: to the background')
    await until(() => existsSync(join(machine.project, 'begun')))
    window.type(keys.ctrlB)
    await window.shows('Meanwhile I answer.')
    const moved = lastMessage(server.turns()[1]!)
    assert.match(
      moved,
      /begun\\n\[The person sent this command to the background while it ran\. It goes on as job 1 with/,
    )
    window.type('/jobs\r')
    await window.shows(/of alpha, job 1 \(runs for \d+ s, pid \d+\): echo begun/)
    writeFileSync(join(machine.project, 'go'), '')
    await listed(window, /of alpha, job 1 \(ended: \[exit code 3\]\)/)
    window.type('and now?\r')
    await window.shows('I know that it ended.')
    assert.match(
      JSON.stringify(server.turns()[2]!.body.messages.slice(-2)),
      /Background job 1 \(echo begun; [^]*\) has exited\.\\nall done\\n\[exit code 3\]/,
    )
  })

  for (const end of ['leaving', 'kill -9'])
    test(`a command that was sent to the background ends with termaite: ${end}`, options, async (t) => {
      const { label } = labelled()
      const command = `export TEST_LABEL=${label}; setsid sleep 1000 & touch begun; sleep 1001`
      const { machine, window } = await chatting(t, ({ count }) =>
        count === 1 ? { call: { tool: 'bash', input: { command } } } : { text: 'Meanwhile I answer.' },
      )
      window.type('serve it\r')
      await until(() => existsSync(join(machine.project, 'begun')))
      window.type(keys.ctrlB)
      await window.shows('Meanwhile I answer.')
      const asleep = async () => (await alive(label)).filter((one) => one.startsWith('sleep '))
      // The shell starts them after it has made the file.
      await until(async () => (await asleep()).length === 2)
      assert.deepEqual(await asleep(), ['sleep 1000', 'sleep 1001'])
      if (end === 'leaving') window.type(keys.ctrlD)
      else process.kill(window.pty.pid, 'SIGKILL')
      await window.exited
      await until(async () => (await alive(label)).length === 0)
    })

  test(
    'a job is started in the background, listed, read and ended by the model, and its end is told',
    options,
    async (t) => {
      const { machine, server, window } = await chatting(t, ({ count }) => {
        const job = (input: object) => ({ call: { tool: 'more_tools', input: { name: 'jobs', input } } })
        if (count === 1)
          return { call: { tool: 'bash', input: { command: 'echo ready; sleep 1000', background: true } } }
        if (count === 2)
          return {
            call: {
              tool: 'bash',
              input: { command: 'until [ -e go ]; do sleep 0.05; done; exit 4', background: true },
            },
          }
        if (count === 3) return job({})
        if (count === 4) return job({ job: 1 })
        if (count === 5) return job({ job: 1, end: true })
        if (count === 6) return { text: 'One is ended, one still runs.' }
        return { text: 'The other one failed.' }
      })
      window.type('serve it\r')
      await window.shows('One is ended, one still runs.')
      const said = server.turns().map(lastMessage)
      assert.match(said[1]!, /Job 1 runs in the background with pid \d+; its output goes to \S+1\.log\. Use jobs/)
      assert.match(
        said[3]!,
        /1 \(runs for \d+ s, pid \d+\): echo ready; sleep 1000\\n2 \(runs for \d+ s, pid \d+\): until/,
      )
      assert.match(said[4]!, /ready\\n\[it still runs\]/)
      assert.match(said[5]!, /Job 1 \(echo ready; sleep 1000\) was stopped\. All its output is in \S+1\.log\./)
      writeFileSync(join(machine.project, 'go'), '')
      await listed(window, /job 2 \(ended: \[exit code 4\]\)/)
      window.type('and the other?\r')
      await window.shows('The other one failed.')
      assert.match(
        JSON.stringify(server.turns()[6]!.body.messages.slice(-2)),
        /Background job 2 \(until [^]*\) has exited\.\\n\[exit code 4\]/,
      )
    },
  )

  test('the person’s own !command goes to the background too, and its end is told', options, async (t) => {
    const { machine, window } = await chatting(t, () => ({ text: 'I heard it.' }))
    window.type('!echo begun; until [ -e go ]; do sleep 0.05; done; echo over; exit 3\r')
    await window.shows((screen) => /^ +begun$/m.test(screen) && screen.includes('your command'))
    window.type(keys.ctrlB)
    await window.shows(rested('0 tokens'))
    await window.shows(/went on in the background as job 1[^]*✓ in the background · /)
    window.type('/jobs\r')
    await window.shows(/yours, job 1 \(runs for \d+ s, pid \d+\): echo begun/)
    writeFileSync(join(machine.project, 'go'), '')
    await window.shows('Your command in the background has ended')
    const [, log] = /its output goes to (\S+)\]/.exec(
      machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))[0]!,
    )!
    assert.equal(readFileSync(log!, 'utf8'), 'begun\nover\n[exit code 3]\n')
  })

  test('/jobs end ends the chosen command, and /background does what the key does', options, async (t) => {
    const { machine, window } = await chatting(t, () => ({ text: 'I heard it.' }))
    window.type('/jobs\r')
    await window.shows('No command is in the background.')
    window.type('!echo begun; echo $$ > pid; sleep 1000\r')
    await window.shows(/^ +begun$/m)
    window.type('/background\r')
    await window.shows('went on in the background as job 1')
    const pid = readFileSync(join(machine.project, 'pid'), 'utf8').trim()
    window.type('/jobs end\r')
    await window.shows(/Which command do you want to end\?[^]*your job 1 [^]*Enter answers/)
    window.type(keys.enter)
    await window.shows(/Job 1 \(echo begun; [^]* was stopped\./)
    assert.equal(existsSync(`/proc/${pid}`), false)
  })

  test('the line of a long command names the key', options, async (t) => {
    const command = 'echo begun; sleep 1000'
    // A machine without a sandbox would be told so on the screen, and the question about the leash names the folder.
    const { window } = await chatting(
      t,
      () => ({ call: { tool: 'bash', input: { command } } }),
      { sandbox: { enabled: false }, permissions: { allow: [`bash(${command})`] } },
      'edit',
    )
    const sitting = new Sitting(window, 'dark', (row) => row.replaceAll(/[⠋⠙⠸⠴⠦⠇]/g, '*').replaceAll(/\d+ s\b/g, '9 s'))
    await sitting.begun()
    window.type('build it\r')
    const at = [
      { cols: 80, rows: 24 },
      { cols: 200, rows: 50 },
    ]
    await sitting.framed('to-background', ['Ctrl+B: to the background · Esc cancels'], at)
    window.type(keys.escape)
    await window.shows('cancelled')
  })
})
