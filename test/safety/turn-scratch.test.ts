import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTurnScratch } from '../../src/safety/wall/turn-scratch.ts'
import { groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'
import { noSandbox } from './no-sandbox.ts'

const host = { platform: process.platform, env: process.env }

const server = `&exec node -e "require('node:http').createServer((_, answer) => answer.end('from the first')).listen(8123, '127.0.0.1', () => { require('node:fs').writeFileSync('/tmp/told', 'kept'); console.log('up') })"`
const client = `cat /tmp/told; exec node -e "fetch('http://127.0.0.1:8123').then((answer) => answer.text()).then(console.log, (error) => console.log(error.cause.code))"`

for (const user of wallUsers)
  for (const sockets of [false, true])
    test(
      `commands of a turn share /tmp and the network, as ${user.name}, ${sockets ? 'with' : 'without'} unix sockets`,
      { skip: user.skip },
      async (t) => {
        const { root, home } = groundsOf(t, user)
        const [answer] = await runBehindWall(user, { root, home, sockets }, [server, client], { turn: true })
        assert.deepEqual(answer, { code: 0, out: 'keptfrom the first\n', err: '', settled: [] })
        assert.deepEqual(readdirSync(join(home, '.termaite', 'scratch')), [], 'the folder was removed')
        const [alone] = await runBehindWall(user, { root, home, sockets }, [
          server.replace("'/tmp/told'", "'told'"),
          client,
        ])
        assert.equal(alone!.out, 'ECONNREFUSED\n', 'without a turn each command is alone')
      },
    )

test('the folder of a process that was killed is removed at the next turn', { skip: noSandbox }, async (t) => {
  const own = mkdtempSync(join(tmpdir(), 'termaite-own-'))
  t.after(() => rmSync(own, { recursive: true, force: true }))
  const module = join(import.meta.dirname, '../../src/safety/wall/turn-scratch.ts')
  const code = `const { openTurnScratch } = await import(${JSON.stringify(module)}); await openTurnScratch(${JSON.stringify(own)}, { platform: process.platform, env: process.env }); console.log('open'); setInterval(() => {}, 1e6)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child.stdout, 'data')
  const all = join(own, 'scratch')
  const [left] = readdirSync(all)
  // A folder that even its owner may not change.
  mkdirSync(join(all, left!, 'tmp', 'locked', 'inner'), { recursive: true, mode: 0o500 })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const scratch = await openTurnScratch(own, host)
  assert.deepEqual([existsSync(join(all, left!)), existsSync(scratch.folder)], [false, true])
  await scratch.close()
  assert.deepEqual(readdirSync(all), [])
})

test('without nsenter the commands of a turn share the folder alone', { skip: noSandbox }, async (t) => {
  const own = mkdtempSync(join(tmpdir(), 'termaite-own-'))
  t.after(() => rmSync(own, { recursive: true, force: true }))
  const scratch = await openTurnScratch(own, { platform: 'linux', env: { PATH: '/nowhere' } })
  assert.equal(scratch.network, undefined)
  await scratch.close()
})
