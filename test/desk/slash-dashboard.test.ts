import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { Seat } from '../app/seat.ts'
import { plain, seated } from '../app/seat.ts'
import { packageFolder } from '../cli/program.ts'
import { goldenOf } from '../golden.ts'
import { pathOf } from '../system-path.ts'
import { until } from '../until.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { runningHub, runningProcesses } from '../../src/border/running-processes.ts'
import { dashboardCommand } from '../../src/desk/slash/dashboard.ts'

const golden = goldenOf(import.meta.filename)

const fine = plain({ amber: 'cat >/dev/null; echo fine' })

/** A port on which nothing listens, and a server that takes it when asked to. */
async function aPort(t: TestContext) {
  const server = createServer()
  const listen = async (port: number) => {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)
  await new Promise((resolve) => server.close(resolve))
  t.after(() => server.close())
  return { port, take: () => listen(port) }
}

async function at(t: TestContext, env: Record<string, string> = {}): Promise<Seat> {
  // The hub is started from the installed package, as everywhere.
  process.argv[1] = join(packageFolder, '..', '.bin', 'termaite')
  const seat = await seated(t, fine, env, realClock)
  t.after(() => {
    for (const { process: kind, pid } of runningProcesses(seat.home, Date.now()))
      if (kind === 'hub' && pid !== undefined) process.kill(pid, 'SIGKILL')
  })
  return seat
}

/** What is said to a line, without what differs from run to run. */
async function said(seat: Seat, command: ReturnType<typeof dashboardCommand>, args = '') {
  const before = seat.said.length
  await command.run(args, seat.world)
  return seat.said.slice(before).map(([how, text]) => [
    how,
    text
      .replaceAll(/tmk_[\w-]+/g, '<secret>')
      .replaceAll(/(127\.0\.0\.1:|listens on )\d+/g, '$1<port>')
      .replaceAll(/until \d\d:\d\d/g, 'until <time>'),
  ])
}

test('/dashboard starts the hub if none runs, a second chat finds it, and it ends with the chat', async (t) => {
  const seat = await at(t)
  const { port } = await aPort(t)
  golden(t, await said(seat, dashboardCommand(seat.controls, port)))
  const url = runningHub(seat.home)?.url
  assert.equal(url, `http://127.0.0.1:${port}`)
  assert.equal((await fetch(url)).status, 200)
  golden(t, await said(seat, dashboardCommand(seat.controls, port)))
  assert.equal(seat.ends.length, 1)
  await Promise.all(seat.ends.map((end) => end()))
  assert.equal(runningHub(seat.home), undefined)
})

test('/dashboard keep lets the hub go on after the chat', async (t) => {
  const seat = await at(t)
  const { port } = await aPort(t)
  const command = dashboardCommand(seat.controls, port)
  await said(seat, command)
  golden(t, await said(seat, command, 'keep'))
  await Promise.all(seat.ends.map((end) => end()))
  const [{ pid } = {}] = runningProcesses(seat.home, Date.now())
  process.kill(pid!, 'SIGTERM')
  await until(() => runningHub(seat.home) === undefined)
})

test('/dashboard says that the usual port is taken, and opens a browser only if there is one', async (t) => {
  const { port, take } = await aPort(t)
  await take()
  const seat = await at(t)
  const bin = join(seat.folder, 'bin')
  const opened = join(seat.folder, 'opened')
  mkdirSync(bin)
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`, {
    mode: 0o755,
  })
  seat.io.env.PATH = pathOf(bin)
  const command = dashboardCommand(seat.controls, port)
  golden(t, await said(seat, command))
  assert.equal(existsSync(opened), false)
  seat.io.env.DISPLAY = ':0'
  golden(t, await said(seat, command))
  await until(() => existsSync(opened))
  assert.equal(readFileSync(opened, 'utf8'), runningHub(seat.home)!.url)
  await Promise.all(seat.ends.map((end) => end()))
})

test('/dashboard starts no hub if the settings name one, and takes no other word', async (t) => {
  const seat = await seated(t, { ...fine, hub: { url: 'http://127.0.0.1:9' } })
  golden(t, [await seat.type('/dashboard'), await seat.type('/dashboard now')])
})
