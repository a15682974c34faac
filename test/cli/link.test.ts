import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { killed } from '../base/alive.ts'
import { ProgramWindow } from '../screen/program-window.ts'
import { until } from '../until.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')

/** The words that a program has said so far. */
function heard(child: ReturnType<Machine['start']>): () => string {
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text))
  return () => said
}

test(
  'a crew of another machine is attached to through the hub alone, and goes on when its hub is started again',
  { timeout: 120_000 },
  async (t) => {
    const [desk, build, laptop] = [new Machine(t), new Machine(t), new Machine(t)]
    let { url, key, child } = await startedHub(t, desk)
    const { port } = new URL(url)
    build.settings({
      terminals: { host: 'pty' },
      leash: 'edit',
      agents: {
        quick: { command: [process.execPath, fake, join(build.folder, 'gate')].join(' '), idle_pattern: '^> ?$' },
      },
    })
    t.after(() => {
      const { stdout } = spawnSync('pgrep', ['-f', build.folder], { encoding: 'utf8' })
      for (const pid of stdout.split('\n').filter((each) => each !== '')) killed(Number(pid))
    })
    assert.equal((await build.run(['crew', 'spawn', 'quick', 'Say', 'hello'])).code, 0)
    const made = await desk.run(['hub', 'keys', 'add', 'build-7', '--role', 'agent'])
    const env = { TERMAITE_HUB_KEY: made.out.trim() }
    const wrong = await build.run(['link', '--server', url, '--offer', 'everything'], { env })
    assert.match(
      wrong.err,
      /--offer: found "everything", allowed: turns, answers, terminals, typing, prompts, conversations/,
    )
    const args = ['link', '--server', url, '--machine-name', 'build-7', '--offer', 'typing']
    const link = build.start(args, { env })
    const said = heard(link)
    await until(() => said().includes(`build-7 is linked to the hub at ${url}.`))
    golden(t, said(), { [url]: '<url>' })
    // A second process of the same machine and home waits, and takes over when the first one ends.
    const second = build.start(args, { env })
    const secondSaid = heard(second)
    await until(() => secondSaid().includes('People who are admins'))
    link.kill('SIGTERM')
    assert.deepEqual(await once(link, 'exit'), [143, null])
    await until(() => secondSaid().includes('build-7 is linked'))

    const mine = { TERMAITE_HUB_KEY: key }
    const none = await laptop.run(['crew', 'attach', '--server', url, 'build-7/9'], { env: mine })
    assert.equal(none.code, 1)
    assert.match(
      none.err,
      /^termaite: crew attach: there is no terminal build-7\/9\. There are:\n {2}build-7\/1 {2}quick · \S+\n$/,
    )
    const refused = await laptop.run(['crew', 'attach', '--server', url, 'build-7/1'], { env })
    golden(t, refused.err)
    const window = new ProgramWindow(laptop, { args: ['crew', 'attach', '--server', url, 'build-7/1'], env: mine })
    t.after(() => window.close())
    await window.shows(/Say hello[^]*leaves it running/)
    window.type('typed far away')
    await window.shows(/> typed far away/)
    // The hub is killed and started again while the machine is asleep: the person is told that nothing can be typed.
    second.kill('SIGSTOP')
    child.kill('SIGKILL')
    await window.shows(/The connection to the hub is lost; it is made again\./)
    ;({ url, child } = await startedHub(t, desk, port))
    await window.shows(/^build-7 cannot be reached now\. The terminal is shown again when it can\.$/m)
    window.type('?')
    await window.shows(/^Nothing was typed: build-7 is not linked to this hub\.$/m)
    // The machine links anew, and the viewer gets a new picture.
    second.kill('SIGCONT')
    await until(() => secondSaid().split('build-7 is linked').length === 3)
    window.type('!')
    await window.shows((screen) => /> typed far away!/.test(screen) && !/lost|reached|Nothing/.test(screen))
    window.type('\u001d')
    assert.equal((await window.exited).exitCode, 0)
    second.kill('SIGTERM')
    await once(second, 'exit')
    const headers = { authorization: `Bearer ${key}` }
    const machines = async () =>
      (await (await fetch(`${url}/api/machines`, { headers })).json()) as { machine: string; online: boolean }[]
    await until(async () => (await machines()).some(({ machine, online }) => machine === 'build-7' && !online))
    await build.run(['crew', 'close', '--yes'])
  },
)
