import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'
import { MarkReader } from '../../src/native/tools/repl/repl-interpreter.ts'
import { alive, killLabelled, labelled, turning } from '../base/alive.ts'
import { noPython, ran, repl } from './repl-seat.ts'
import { folder } from './seat.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const sleeping = (label: string) => alive(label).then((all) => all.filter((command) => command.startsWith('sleep')))

test('marks are found wherever a stream is cut, and nothing else is taken for one', () => {
  const nonce = 'abcabd'
  const stream = Buffer.from(`ab${nonce}begin;abcabcabd${nonce}0x;abcab`)
  const whole = ['ab', '<begin>', 'abc', '<>', '<0x>', 'abcab']
  const read = (sizes: number[]) => {
    const marks = new MarkReader(nonce)
    const found: string[] = []
    const add = (text: string) => {
      if (found.length === 0 || text.startsWith('<') || found.at(-1)!.startsWith('<')) found.push(text)
      else found[found.length - 1] += text
    }
    let at = 0
    for (const size of [...sizes, stream.length]) {
      marks.push(stream.subarray(at, at + size))
      at += size
      for (let piece = marks.next(); piece; piece = marks.next())
        add(piece.mark === undefined ? Buffer.from(piece.bytes).toString() : `<${piece.mark}>`)
    }
    add(Buffer.from(marks.rest()).toString())
    return found
  }
  // The nonce in the middle is one that code was lucky to guess: its word is what stands before the next end of a mark.
  const lucky = ['ab', '<begin>', 'abc', `<${nonce}0x>`, 'abcab']
  assert.notDeepEqual(lucky, whole)
  for (let cut = 1; cut < stream.length; cut++) assert.deepEqual(read([cut]), lucky, `cut at ${cut}`)
  assert.deepEqual(read(Array.from(stream, () => 1)), lucky)
})

test('output of code is never taken for a mark, however it looks', async (t) => {
  const { node } = repl(t)
  const forged =
    "const guess = 'f'.repeat(32)\nconsole.log(`${guess}begin;${guess}0;`)\nconsole.log(JSON.stringify({ nonce: guess, code: '1' }))\nthrow 1"
  const line = 'f'.repeat(32)
  assert.deepEqual(await node(forged), ran(`${line}begin;${line}0;\n{"nonce":"${line}","code":"1"}\nUncaught 1`, 1))
  assert.deepEqual(await node('guess.length'), ran('32'))
})

for (const { language, endless } of [
  {
    language: 'node' as const,
    endless:
      "require('node:child_process').spawn('sleep', ['77'], { detached: true })\nconsole.log('begun')\nfor (;;);",
  },
  {
    language: 'python' as const,
    endless:
      'import subprocess\nsubprocess.Popen(["sleep", "77"], start_new_session=True)\nprint("begun")\nwhile True: pass',
  },
]) {
  const skip = language === 'python' && noPython
  test(
    `${language}: code that takes too long is ended with all its processes, and its definitions are gone`,
    { skip },
    async (t) => {
      const { label, env } = labelled()
      const clock = new HandClock()
      const { [language]: send } = repl(t, { env, clock })
      let shown = ''
      const progress = (delta: string) => void (shown += delta)
      const running = send(endless, { timeout_seconds: 5 }, { progress })
      await until(async () => shown === 'begun\n' && (await sleeping(label)).length === 1)
      golden(t, await turning(clock, running))
      assert.deepEqual(await alive(label), [])
      golden(t, await send('1'))
    },
  )

  test(`${language}: a cancel ends it with all it started`, { skip }, async (t) => {
    const { label, env } = labelled()
    const { [language]: send } = repl(t, { env })
    const stop = new AbortController()
    const running = send(endless, {}, { signal: stop.signal })
    const waiting = send('1', {}, { signal: stop.signal })
    await until(async () => (await sleeping(label)).length === 1)
    stop.abort()
    assert.match(((await running) as { text: string }).text, /^(?:begun\n)?\[cancelled\]$/)
    await assert.rejects(waiting, { message: 'cancelled before it ran.' })
    assert.deepEqual(await alive(label), [])
  })

  test(`${language}: a child that is left behind is ended with the interpreter, at close`, { skip }, async (t) => {
    const { label, env } = labelled()
    const { [language]: send, close } = repl(t, { env })
    const child = {
      node: "void require('node:child_process').spawn('sleep', ['77'], { detached: true, stdio: 'inherit' }).unref()",
      python: 'import subprocess\nchild = subprocess.Popen(["sleep", "77"], start_new_session=True)',
    }
    assert.deepEqual(await send(child[language]), ran('[no output]'))
    await until(async () => (await sleeping(label)).length === 1)
    await close()
    assert.deepEqual(await alive(label), [])
  })
}

test('an interpreter that was killed meanwhile is started anew, and the code is run there', async (t) => {
  const { label, env } = labelled()
  const { node } = repl(t, { env })
  assert.deepEqual(await node('var x = 1'), ran('[no output]'))
  await killLabelled(label)
  golden(t, await node('typeof x'))
})

test('an interpreter that is killed at work says so', async (t) => {
  const { node } = repl(t)
  const gone = '[The interpreter was killed by SIGKILL: all definitions are lost.]'
  assert.deepEqual(
    await node("console.log('so'); process.kill(process.pid, 'SIGKILL'); for (;;);"),
    ran(`so\n${gone}`, 'SIGKILL'),
  )
})

test('a child of a fork is not the interpreter', { skip: noPython }, async (t) => {
  const { python } = repl(t)
  const fork = 'import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint("parent" if pid else "child", flush=True)'
  assert.deepEqual(await python(fork), ran('child\nparent'))
  assert.deepEqual(await python('pid > 0'), ran('True'))
})

test('two calls at once wait for each other; another folder has an interpreter of its own', async (t) => {
  const { node, root } = repl(t)
  const both = [node('var x = await new Promise((r) => setTimeout(r, 20, 1)); x'), node('x + 1')]
  assert.deepEqual(await Promise.all(both), [ran('1'), ran('2')])
  const cwd = join(root, 'elsewhere')
  mkdirSync(cwd)
  assert.deepEqual(await node('[typeof x, process.cwd()]', {}, { cwd }), ran(`[ 'undefined', '${cwd}' ]`))
  assert.deepEqual(await node('x'), ran('1'))
})

test('the interpreter is started by the shell it is given, and anew where that gives other walls', async (t) => {
  let box = 'a'
  const settled: string[] = []
  const { node } = repl(t, {
    interpreter: async (command) => {
      const own = box
      const settle = async () => (settled.push(own), [])
      return { argv: ['bash', '-c', `export BOX=${own}; ${command}`], walls: own, settle }
    },
  })
  assert.deepEqual(await node('var x = 1; process.env.BOX'), ran("'a'"))
  box = 'b'
  golden(t, await node('[process.env.BOX, typeof x]'))
  assert.deepEqual(settled, ['a'])
})

test('behind walls: the project alone can be written to, there is no network, and the end is the end of all', async (t) => {
  const walls = wallOf({ platform: process.platform, env: process.env })
  const none = await walls.none()
  if (none !== undefined) return t.skip(none)
  const { label, env } = labelled()
  const place = folder(t)
  const root = join(place, 'project')
  mkdirSync(root)
  const interpreter = async (command: string) => {
    const inside = await walls.wrap(['bash', '-c', command], {
      root,
      ...{ project: 'write', git: 'write', sockets: true, network: false, home: place },
    })
    return 'none' in inside ? assert.fail(inside.none) : inside
  }
  const { node, close } = repl(t, { env, interpreter })
  const send = (code: string) => node(code, {}, { cwd: root })
  const write = (path: string) => `require('node:fs').writeFileSync(${JSON.stringify(path)}, 'x')`
  assert.deepEqual(await send(`var x = 1; ${write(join(root, 'in'))}`), ran('[no output]'))
  const outside = join(import.meta.dirname, '../tools/out')
  const still = await send(`try { ${write(outside)} } catch {}\nx`)
  assert.deepEqual([readFileSync(join(root, 'in'), 'utf8'), existsSync(outside), still], ['x', false, ran('1')])
  const reach = "require('node:os').networkInterfaces()"
  assert.match(
    ((await send(`Object.keys(${reach}).filter((name) => name !== 'lo')`)) as { text: string }).text,
    /^\[\]$/,
  )
  const child = "void require('node:child_process').spawn('sleep', ['77'], { detached: true, stdio: 'ignore' }).unref()"
  assert.deepEqual(await send(child), ran('[no output]'))
  await until(async () => (await sleeping(label)).length === 1)
  await close()
  assert.deepEqual(await alive(label), [])
})

test('an interpreter that cannot be started says why', async (t) => {
  const { python, node, root } = repl(t, {
    interpreter: async () => ({ argv: ['bash', '-c', 'echo no such thing; exit 127'] }),
  })
  await assert.rejects(python('1'), { message: 'python could not be started: no such thing' })
  const cwd = join(root, 'gone')
  await golden.rejects(t, node('1', {}, { cwd }), { [root]: '<root>' })
})

test('our own SIGKILL leaves no interpreter running', { timeout: 20_000 }, async (t) => {
  const { label, env: own } = labelled()
  const env = { ...own, TMPDIR: folder(t) }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'repl-doomed.ts')], { env })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  await until(async () => (await sleeping(label)).length === 1)
  child.kill('SIGKILL')
  await until(async () => (await alive(label)).length === 0)
})
