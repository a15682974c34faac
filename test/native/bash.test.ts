import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { alive, labelled, turning } from '../base/alive.ts'
import { folder, seat } from './seat.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('output and errors come in the order they were written, with the exit code', async (t) => {
  const { whole } = seat(t)
  const run = (command: string) => whole('bash', { command })
  const shuffled = 'for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3'
  assert.deepEqual(await run(shuffled), {
    text: 'out1\nerr1\nout2\nerr2\nout3\nerr3\n[exit code 3]',
    data: { exit: 3 },
  })
  assert.deepEqual(await run('true'), { text: '[no output]', data: { exit: 0 } })
  assert.deepEqual(await run('kill -9 $$'), { text: '[killed by SIGKILL]', data: { exit: 'SIGKILL' } })
  assert.deepEqual(await run("printf '\\033[31mred\\033[0m'; cat"), { text: 'red', data: { exit: 0 } })
  assert.match((await run('echo )')).text, /^bash: -c: line 1: syntax error .*\n.*echo \)'\n\[exit code 2\]$/s)
})

test('a description, which other shell tools take, is ignored; another unknown field is refused', async (t) => {
  const { whole, say } = seat(t)
  const described = { command: 'echo hi', description: 'Greets' }
  assert.deepEqual(await whole('bash', described), { text: 'hi', data: { exit: 0 } })
  golden(t, await say('bash', { ...described, dir: '/' }))
})

test('bash runs in the working directory, by the shell it is given', async (t) => {
  const { root, say } = seat(t)
  assert.equal(await say('bash', { command: 'cd / && pwd && cd - >/dev/null && pwd' }), `/\n${root}`)
  const settled: string[] = []
  const other = seat(t, {
    shell: async (command) => ({
      argv: ['bash', '-c', `echo in the box with $KEY; ${command}`],
      env: { ...process.env, KEY: 'none' },
      settle: async () => (settled.push(command), ['The file x was removed.']),
    }),
  })
  assert.equal(await other.say('bash', { command: 'echo hi' }), 'in the box with none\nhi\n[The file x was removed.]')
  assert.deepEqual(settled, ['echo hi'])
})

test('a command that cannot be started says what to do', async (t) => {
  const { say, at } = seat(t)
  golden(t, await say('bash', { command: 'true' }, { cwd: at('gone') }), { [at('.')]: '<folder>' })
  golden(t, await say('bash', { command: `: ${'x'.repeat(3_000_000)}` }))
})

test('output is shown as it comes, and masked wherever it is kept', async (t) => {
  const { say } = seat(t, { mask: (text) => text.replaceAll('s3cret', '***') })
  let shown = ''
  const progress = (delta: string) => void (shown += delta)
  const text = await say('bash', { command: 'echo one; echo s3cret' }, { progress })
  assert.deepEqual([text, shown], ['one\n***', 'one\n***\n'])
  const long = await say('bash', { command: 'for i in $(seq 9000); do echo s3cret; done' })
  const [, place] = /\[… \d+ characters cut; the whole is in (\S+) …\]/.exec(long)!
  assert.equal(readFileSync(place!, 'utf8'), '***\n'.repeat(9000))
})

test('long output is cut in the middle, with the place of the whole', async (t) => {
  const { say } = seat(t)
  const text = await say('bash', { command: 'seq 20000; exit 1' })
  const whole = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('')
  const [head, tail] = [10 * 1024, 22 * 1024]
  const [, place] = /the whole is in (\S+) …/.exec(text)!
  const missing = whole.length - head - tail
  const cut = `[… ${missing} characters cut; the whole is in ${place} …]`
  assert.equal(text, `${whole.slice(0, head)}\n${cut}\n${whole.slice(-tail).trimEnd()}\n[exit code 1]`)
  assert.equal(readFileSync(place!, 'utf8'), whole)
  const whole2 = await say('bash', { command: `head -c ${head + tail} /dev/zero | tr '\\0' x` })
  assert.equal(whole2, 'x'.repeat(head + tail))
})

test('output without end takes bounded memory, and all of it is kept', async (t) => {
  const { say } = seat(t)
  const before = process.memoryUsage().rss
  let most = before
  const progress = () => void (most = Math.max(most, process.memoryUsage.rss()))
  const text = await say('bash', { command: 'yes 0123456789abcde | head -c 134217728' }, { progress })
  const [, place] = /the whole is in (\S+) …/.exec(text)!
  assert.equal(statSync(place!).size, 2 ** 27)
  assert.ok(text.length < 40_000)
  assert.ok(most - before < 96 * 1024 * 1024, `${(most - before) / 1024 / 1024} MB`)
})

test('a command that takes too long is ended with all its processes, and the result says what to do', async (t) => {
  const { label, env } = labelled()
  const clock = new HandClock()
  const { say } = seat(t, { env, clock })
  const running = say('bash', { command: 'echo begun; sleep 77 & sleep 78', timeout_seconds: 5 })
  await until(async () => (await alive(label)).includes('sleep 77'))
  golden(t, await turning(clock, running))
  assert.deepEqual(await alive(label), [])
})

test('a cancelled command is ended with all it started', async (t) => {
  const { label, env } = labelled()
  const { say } = seat(t, { env })
  const stop = new AbortController()
  const running = say('bash', { command: 'echo begun; setsid sleep 77 & sleep 78' }, { signal: stop.signal })
  await until(async () => (await alive(label)).includes('sleep 77'))
  stop.abort()
  assert.equal(await running, 'begun\n[cancelled]')
  assert.deepEqual(await alive(label), [])
  assert.equal(await say('bash', { command: 'true' }, { signal: AbortSignal.abort() }), '! cancelled before it ran.')
})

test('a background command runs on, is listed, read and ended by its number', async (t) => {
  const { label, env } = labelled()
  const { say, news } = seat(t, { env })
  golden(t, await say('jobs', {}))
  golden(t, await say('jobs', { job: 1 }))
  const command = 'echo ready; setsid sleep 77 & sleep 78'
  const text = await say('bash', { command, background: true })
  const [whole, pid, log] =
    /^Job 1 runs in the background with pid (\d+); its output goes to (\S+)\. Use jobs to read it or to end it\.$/.exec(
      text,
    )!
  assert.equal(whole, text)
  await until(async () => (await say('file_reader', { file_path: log })) === 'ready')
  assert.equal(await say('jobs', { job: 1 }), 'ready\n[it still runs]')
  assert.equal(await say('jobs', { job: 1 }), '[no new output]\n[it still runs]')
  assert.match(await say('jobs', {}), new RegExp(`^1 \\(runs for \\d+ s, pid ${pid}\\): echo ready; setsid`))
  assert.match(await say('jobs', { job: 2 }), /^! there is no job 2\. The jobs are:\n1 /)
  golden(t, await say('jobs', { end: true }))
  golden(t, await say('jobs', { job: 1, end: true }), { [log!]: '<log>' })
  assert.deepEqual(await alive(label), [])
  assert.equal(await say('jobs', {}), `1 (ended: [killed by SIGTERM]): ${command}`)
  // The model ended it, so the end is no news.
  assert.equal(await news(), undefined)
})

test('a background command is also ended by a kill of its pid, and only while it runs', async (t) => {
  const { label, env } = labelled()
  const { say } = seat(t, { env })
  const [, pid] = /with pid (\d+);/.exec(await say('bash', { command: 'sleep 77', background: true }))!
  assert.match(await say('bash', { command: `kill ${pid}` }), /^Job 1 \(sleep 77\) was stopped\./)
  assert.deepEqual(await alive(label), [])
  assert.match(await say('bash', { command: `kill ${pid}` }), /No such process/)
})

test('a background command that fails at once says so', async (t) => {
  const { say, news } = seat(t)
  assert.equal(
    await say('bash', { command: 'echo no such port; exit 4', background: true }),
    'Job 1 has already exited.\nno such port\n[exit code 4]',
  )
  assert.equal(await news(), undefined)
})

test('the end of a background command is told once, with its last words', async (t) => {
  const { say, news, at } = seat(t)
  const command = 'seq 1 3000; until [ -e stop ]; do sleep 0.05; done; echo over; exit 3'
  await say('bash', { command, background: true })
  assert.equal(await news(), undefined)
  writeFileSync(at('stop'), '')
  let told: string | undefined
  await until(async () => (told = await news()) !== undefined)
  assert.match(
    told!,
    /^Background job 1 \(seq 1 3000; .*\) has exited\.\n\[\d+ bytes before this are in \S+1\.log\]\n[\d\n]+\n3000\nover\n\[exit code 3\]$/,
  )
  assert.equal(await news(), undefined)
})

test('close ends what runs in the background, and leaves no file of it', async (t) => {
  const { label, env } = labelled()
  const { say, close } = seat(t, { env })
  const text = await say('bash', { command: 'sleep 77 & sleep 78', background: true })
  const [, log] = /goes to (\S+\.log)/.exec(text)!
  await close()
  assert.deepEqual([await alive(label), existsSync(log!)], [[], false])
})

test('a running command is sent to the background: its call returns, and it goes on as a job', async (t) => {
  const { label, env } = labelled()
  const settled: string[] = []
  const clock = new HandClock()
  const { say, news, jobs, at } = seat(t, {
    env,
    clock,
    mask: (text) => text.replaceAll('s3cret', '***'),
    shell: async (command) => ({
      argv: ['bash', '-c', command],
      settle: async () => (settled.push(command), ['The file x was removed.']),
    }),
  })
  const command = 'echo s3cret one; until [ -e go ]; do sleep 0.05; done; echo s3cret two; exit 3'
  let shown = ''
  const stop = new AbortController()
  const running = say(
    'bash',
    { command, timeout_seconds: 1 },
    { progress: (delta) => void (shown += delta), signal: stop.signal },
  )
  await until(() => shown === '*** one\n')
  const { front } = jobs
  assert.equal(front!.move(), true)
  assert.equal(front!.move(), false)
  const text = await running
  const [whole, pid, log] =
    /^\*\*\* one\n\[The person sent this command to the background while it ran\. It goes on as job 1 with pid (\d+), and its output goes to (\S+)\. Continue without its result: a message comes when it ends\. Use jobs to read it or to end it\.\]$/.exec(
      text,
    )!
  assert.equal(whole, text)
  assert.equal(jobs.front === front, false)
  // Neither the cancelled turn nor the time limit of the call ends a job.
  stop.abort()
  await clock.turn(2_000)
  assert.match(await say('jobs', {}), new RegExp(`^1 \\(runs for 2 s, pid ${pid}\\): echo s3cret one`))
  assert.equal(await say('jobs', { job: 1 }), '[no new output]\n[it still runs]')
  assert.deepEqual([settled, await news()], [[], undefined])
  writeFileSync(at('go'), '')
  let told: string | undefined
  await until(async () => (told = await news()) !== undefined)
  assert.equal(told, `Background job 1 (${command}) has exited.\n*** two\n[exit code 3]\n[The file x was removed.]`)
  assert.deepEqual(settled, [command])
  assert.equal(readFileSync(log!, 'utf8'), '*** one\n*** two\n[exit code 3]\n[The file x was removed.]\n')
  assert.deepEqual(await alive(label), [])
})

test('the newest of several running commands is sent to the background, and close ends it', async (t) => {
  const { label, env } = labelled()
  const { say, jobs, close } = seat(t, { env })
  const stop = new AbortController()
  const first = say('bash', { command: 'sleep 77' }, { signal: stop.signal })
  await until(() => jobs.front !== undefined)
  const { front } = jobs
  const second = say('bash', { command: 'sleep 78 & sleep 79' })
  await until(() => jobs.front !== front)
  assert.equal(jobs.front!.move(), true)
  assert.match(await second, /^\[The person sent this command to the background while it ran\. It goes on as job 1 /)
  assert.equal(jobs.front, front)
  stop.abort()
  assert.equal(await first, '[cancelled]')
  await close()
  assert.deepEqual(await alive(label), [])
})

for (const how of ['background', 'moved'])
  test(`our own SIGKILL leaves nothing of the background running, ${how}`, { timeout: 20_000 }, async (t) => {
    const { label, env: own } = labelled()
    const env = { ...own, TMPDIR: folder(t) }
    const args = [join(import.meta.dirname, 'doomed.ts'), 'setsid sleep 77 & sleep 78', how]
    const child = spawn(process.execPath, args, { env })
    await once(child.stdout, 'data')
    const asleep = async () => (await alive(label)).filter((command) => command.startsWith('sleep')).sort()
    await until(async () => (await asleep()).length === 2)
    assert.deepEqual(await asleep(), ['sleep 77', 'sleep 78'])
    child.kill('SIGKILL')
    await until(async () => (await alive(label)).length === 0)
  })
