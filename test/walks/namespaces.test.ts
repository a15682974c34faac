import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { wantedWorkspace } from '../../src/hub/server/merge/own-workspaces.ts'
import { approve } from '../../src/cli/task/review-commands.ts'
import { fileHubLedger } from '../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { hubAt } from '../hub/engine/seat.ts'
import { TlsFiles } from '../../src/wire/http/tls-files.ts'
import { authorityIn, folderFor, git, machineIo, repositoryAt } from '../machines-rig.ts'
import { until } from '../until.ts'
import { servedHub } from '../hub/http/hub-house.ts'

const run = (...words: string[]) => spawnSync(words[0]!, words.slice(1), { encoding: 'utf8' })

/** Why no machines can be made here; undefined where they can. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces are made by root'
  const name = `tm-${process.pid}-try`
  const made = run('ip', 'netns', 'add', name)
  run('ip', 'netns', 'del', name)
  if (made.status !== 0) return `ip netns cannot be used here: ${made.stderr || made.error?.message}`
  return run('tc', '-V').status === 0 ? undefined : 'tc is missing (iproute2)'
}

/** Another machine: a network of its own, joined with this one by a line with delay and loss. */
function machine(t: TestContext, number: number, delay: string, loss: string) {
  const [name, near, far] = [
    `tm-${process.pid}-${number}`,
    `tm${process.pid % 100_000}n${number}`,
    `tm${process.pid % 100_000}f${number}`,
  ]
  const net = `10.${200 + number}.${process.pid % 250}`
  const does = (...words: string[]) => {
    const { status, stderr } = run(...words)
    assert.equal(status, 0, `${words.join(' ')}: ${stderr}`)
  }
  t.after(() => {
    run('ip', 'link', 'del', near)
    run('ip', 'netns', 'del', name)
  })
  does('ip', 'netns', 'add', name)
  does('ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', far)
  does('ip', 'link', 'set', far, 'netns', name)
  does('ip', 'addr', 'add', `${net}.1/24`, 'dev', near)
  does('ip', 'link', 'set', near, 'up')
  const inside = ['ip', 'netns', 'exec', name]
  does(...inside, 'ip', 'addr', 'add', `${net}.2/24`, 'dev', far)
  does(...inside, 'ip', 'link', 'set', 'lo', 'up')
  does(...inside, 'ip', 'link', 'set', far, 'up')
  does(...inside, 'ip', 'route', 'add', 'default', 'via', `${net}.1`)
  const netem = run('tc', 'qdisc', 'add', 'dev', near, 'root', 'netem', 'delay', delay, 'loss', loss)
  return {
    here: `${net}.1`,
    there: `${net}.2`,
    slow: netem.status === 0,
    /** Starts a program on that machine, in a process group: git starts its daemon as a process of its own. */
    start(words: string[], env: Record<string, string> = {}) {
      const child = spawn(inside[0]!, [...inside.slice(1), ...words], {
        env: { PATH: process.env.PATH, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      t.after(() => process.kill(-child.pid!, 'SIGKILL'))
      let said = ''
      child.stdout.on('data', (chunk) => (said += chunk))
      child.stderr.on('data', (chunk) => (said += chunk))
      return { child, said: () => said }
    },
    cut: () => does('ip', 'link', 'set', near, 'down'),
    join: () => does('ip', 'link', 'set', near, 'up'),
  }
}

test(
  'machines: a clone, a task, a cut that is longer than the lease, a late try, a bundle, and a merge elsewhere',
  { skip: obstacle() ?? false, timeout: 100_000 },
  async (t) => {
    const at = folderFor(t)
    const store = machine(t, 1, '5ms', '0%')
    const build = machine(t, 2, '60ms', '1%')
    t.diagnostic(
      build.slow ? '60 ms of delay and 1 % of loss' : 'tc netem is missing in this kernel: the line has no delay',
    )
    run('sysctl', '-qw', 'net.ipv4.ip_forward=1')

    // The person's clone is on the machine of the hub; the agent's machine has none, and gets it from the third one.
    const remote = `git://${store.there}/shop.git`
    const desk = repositoryAt(join(at, 'desk'), remote)
    mkdirSync(join(at, 'served'))
    git(at, 'clone', '-q', '--bare', `file://${desk}`, join(at, 'served', 'shop.git'))
    store.start(['git', 'daemon', '--export-all', `--base-path=${join(at, 'served')}`, '--reuseaddr'], { HOME: at })

    const clock = new HandClock()
    const ledger = fileHubLedger(join(at, 'hub.db'), { clock })
    const { hub, close } = hubAt(t, ledger, clock)
    mkdirSync(join(at, 'tls'))
    const { ca } = authorityIn(join(at, 'tls'), `IP:${build.here}`)
    chmodSync(join(at, 'tls', 'key.pem'), 0o600)
    const tls = new TlsFiles({ cert: join(at, 'tls', 'cert.pem'), key: join(at, 'tls', 'key.pem') })
    const house = { tls, publicOrigin: `https://${build.here}`, host: build.here }
    const { at: served, keys } = await servedHub({ hub, ledger, clock }, house)
    t.after(async () => {
      await served.close()
      await close()
      await ledger.close()
    })
    const port = new URL(served.url).port
    const url = `https://${build.here}:${port}`
    const { secret } = await keys.lend('far', { id: 'own', name: 'user', role: 'admin' })
    const far = join(at, 'far')
    const script = join(import.meta.dirname, '..', 'fixtures', 'far-agent.ts')
    const agent = build.start([
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      script,
      url,
      secret,
      far,
      `git://${store.there}/*`,
      ca,
    ])
    const says = (words: string) => until(() => agent.said().includes(words) || agent.child.exitCode !== null)

    const me = machineIo(join(at, 'home'), desk)
    const mine = new HubClient({ url, key: 'the-key', env: { TERMAITE_HUB_CA: ca } })
    const { id } = await mine.add({ prompt: 'Sell pears.', ...(await wantedWorkspace(me, undefined, url)) })
    await says(`works ${id}.1`)
    assert.match(agent.said(), new RegExp(`works ${id}\\.1`), agent.said())

    build.cut()
    await clock.turn(31 * 60_000)
    await until(async () => (await hub.task(id)).state === 'QUEUED')
    build.join()
    await says(`lost ${id}.1`)
    const late = (await hub.task(id)).tries![0]!
    assert.deepEqual(
      [late.late, late.machine, late.diff?.added, late.bundle !== undefined],
      [true, 'far', 1, true],
      agent.said(),
    )

    // The same agent gets the task again, with its work so far, and ends it.
    writeFileSync(join(far, 'gate'), '')
    await says(`done ${id}.2`)
    const done = await mine.task(id)
    assert.deepEqual(
      [done.state, done.tries!.map(({ end, late = false }) => [end, late])],
      [
        'IN_REVIEW',
        [
          ['QUEUED', true],
          ['IN_REVIEW', false],
        ],
      ],
      agent.said(),
    )
    const { merged } = await approve(me, mine, done, { merge: true, yes: true })
    assert.equal(merged?.commit, git(desk, 'rev-parse', 'HEAD'))
    assert.equal(readFileSync(join(desk, 'shop.txt'), 'utf8'), 'apples\npears\n')
  },
)
