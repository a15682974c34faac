import type { TestContext } from 'node:test'
import type { EntryOf } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { healthDoc } from '../../src/turn/rotation/health.ts'
import { Seat, plain } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const command = (script: string) => `cat >/dev/null; ${script}`
const mends = command('sed -i.bak s/wrong/right/ sum.txt; rm sum.txt.bak; echo mended')

/** A repository with a failing check and an uncommitted file, and these commands as agents. */
async function desk(context: TestContext, agents: Record<string, string>) {
  const seat = new Seat(context, plain(agents, { leash: 'ask' }))
  seat.io.env.TYPED = join(seat.project, 'typed.txt')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], {
      cwd: seat.project,
      env: { PATH: process.env.PATH, HOME: seat.folder },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const write = (path: string, text: string) => writeFileSync(join(seat.project, path), text)
  const read = (path: string) => readFileSync(join(seat.project, path), 'utf8')
  git('init', '-q', '-b', 'main')
  write('sum.txt', 'wrong\n')
  git('add', '-A')
  git('commit', '-qm', 'one')
  write('check.sh', 'grep -q right sum.txt\n')
  await seat.open()
  const last = async () =>
    (await seat.app.conversation.read()).entries.findLast((entry): entry is EntryOf<'race'> => entry.type === 'race')!
  return { seat, git, write, read, last }
}

const check = '--check "sh check.sh"'

test('/race brings the chosen result in as one turn, and /undo takes back that result and nothing else', async (t) => {
  // The person goes on typing in the project while the agents work.
  const { seat, git, read, last } = await desk(t, {
    amber: `${mends}; echo typed > "$TYPED"`,
    birch: command('sed -i.bak s/wrong/worse/ sum.txt; rm sum.txt.bak; echo tried'),
  })
  seat.answers.push(['1'])
  await seat.type(`/race make it right -a amber,birch ${check}`)
  assert.equal(read('sum.txt'), 'right\n')
  golden(t, seat.asked[0]!.text)
  const race = await last()
  assert.deepEqual(
    race.racers.map(({ agent, state, checks }) => [agent, state, checks.map(({ passed }) => passed)]),
    [
      ['amber', 'done', [true]],
      ['birch', 'done', [false]],
    ],
  )
  assert.deepEqual([race.before.map(({ passed }) => passed), race.winner, race.chosen], [[false], 1, 1])
  assert.deepEqual(
    [existsSync(race.racers[0]!.folder!), readFileSync(join(race.racers[1]!.folder!, 'sum.txt'), 'utf8')],
    [false, 'worse\n'],
    'the copy of the chosen result is gone, and the other one is kept',
  )
  assert.equal(git('worktree', 'list').trim().split('\n').length, 2)

  seat.answers.push(['undo'])
  await seat.type('/undo')
  assert.deepEqual(
    [read('sum.txt'), read('typed.txt'), read('check.sh')],
    ['wrong\n', 'typed\n', 'grep -q right sum.txt\n'],
  )
})

test('a race changes no agent’s health and not the position, but a spent quota is remembered', async (t) => {
  const { seat, last } = await desk(t, {
    amber: command('echo answered'),
    birch: command('echo broken >&2; exit 3'),
    cedar: command('echo "You have reached your usage limit" >&2; exit 1'),
    dogwood: mends,
  })
  await seat.turn('who is there?')
  const before = await healthDoc(seat.app.store).read()
  assert.deepEqual(before, { position: 'amber', agents: {} })
  await seat.type(`/race make it right -a birch,cedar,dogwood ${check}`)
  const after = await healthDoc(seat.app.store).read()
  assert.deepEqual([after.position, Object.keys(after.agents)], ['amber', ['cedar']])
  assert.deepEqual(
    (await last()).racers.map(({ agent, state, why }) => [agent, state, why]),
    [
      ['birch', 'failed', 'birch failed with exit code 3: broken'],
      ['cedar', 'failed', 'You have reached your usage limit'],
      ['dogwood', 'done', undefined],
    ],
  )
  await seat.type(`/race make it right -a cedar,dogwood ${check}`)
  const again = (await last()).racers[0]!
  assert.deepEqual([again.state, again.tokens], ['failed', undefined], 'an agent without quota is not started')
  golden(t, again.why!)
})

test('a result is shown and brought in later, and a file that changed since is replaced only after a yes', async (t) => {
  const { seat, write, read, last } = await desk(t, { amber: mends, birch: command('echo fine') })
  await seat.type(`/race make it right -a amber,birch ${check}`)
  assert.equal(read('sum.txt'), 'wrong\n')
  const race = await last()
  assert.deepEqual([race.winner, race.chosen], [1, undefined])
  const [[, shown] = ['', '']] = await seat.type('/race show amber')
  assert.match(
    shown,
    /^1 amber: 1 file \+1 −1\n\nIts copy of the project: .+\n\nsh check\.sh passes\n\nmended\n\ndiff --git [^]*-wrong\n\+right$/,
  )
  golden(t, await seat.type('/race choose birch'))

  write('sum.txt', 'typed since\n')
  seat.answers.push(['no'])
  await seat.type('/race choose 1')
  golden(t, [seat.asked.at(-1)!.text, read('sum.txt')])
  seat.answers.push(['over'])
  await seat.type('/race choose 1')
  assert.deepEqual([read('sum.txt'), (await last()).chosen], ['right\n', 1])

  await seat.clock.turn(25 * 3_600_000)
  golden(t, await seat.type('/race show'))
})

test('a result with a file from which programs could start by themselves is not brought in without the person’s choice', async (t) => {
  const plants = `${mends}; mkdir .vscode; echo {} > .vscode/tasks.json`
  const { seat, read, last } = await desk(t, { amber: plants, birch: plants })
  seat.answers.push(undefined)
  await seat.type(`/race make it right -a amber,birch ${check}`)
  assert.deepEqual([read('sum.txt'), existsSync(join(seat.project, '.vscode'))], ['wrong\n', false])
  const { winner, racers } = await last()
  assert.deepEqual([winner, racers[0]!.strays!.map(({ path }) => path)], [undefined, ['.vscode/tasks.json']])
  seat.answers.push(['1'])
  await seat.type(`/race make it right -a amber,birch ${check}`)
  assert.deepEqual([read('sum.txt'), read('.vscode/tasks.json')], ['right\n', '{}\n'])
})

test('a race that cannot begin says why before any agent is asked', async (t) => {
  const { seat } = await desk(t, { amber: mends, birch: mends })
  const said = async (line: string) => (await seat.type(line)).map(([, text]) => text).join('\n')
  golden(t, await said('/race -a amber,birch'))
  golden(t, await said('/race fix it -a amber'))
  assert.match(await said('/race fix it -a amber,brich'), /^there is no agent "brich"; did you mean "birch"\?/)
  assert.match(await said('/race fix it --check'), /^--check needs a value/)
  golden(t, await said('/race fix it --first'))
  golden(t, await said('/race show'))
  assert.equal((await seat.app.conversation.read()).entries.length, 0)
  seat.configure({
    agents: [
      { name: 'amber', command: mends, leash: 'read', contextWindowTokens: 100_000 },
      { name: 'birch', command: mends, contextWindowTokens: 100_000 },
    ],
  })
  await seat.open()
  golden(t, await said('/race fix it -a amber,birch'))
  assert.deepEqual(await seat.complete('race', 'fix it -a amber,b'), ['fix it -a amber,birch'])
})
