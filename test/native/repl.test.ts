import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolContract } from '../contract/tool.ts'
import { noPython, plain, ran, repl } from './repl-seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

toolContract('repl', {
  make() {
    const { tool, root } = repl({ after() {} })
    return { tool, cwd: root }
  },
  good: { language: 'node', code: 'process.exit()' },
  bad: [{}, { language: 'ruby', code: '1' }, { language: 'node', code: '' }, { language: 'node', code: '1', cwd: '/' }],
})

test(
  'python: definitions of one script are there for the next; output, value and errors come back',
  { skip: noPython },
  async (t) => {
    const { python, root } = repl(t)
    writeFileSync(join(root, 'data.json'), '[1, 2, 3]')
    writeFileSync(join(root, 'random.py'), 'raise Exception("a file of the project in place of a module")')
    writeFileSync(join(root, 'ours.py'), 'name = "ours"')
    const load =
      'import json, random, sys\nprint("loads", file=sys.stderr)\nnumbers = json.load(open("data.json"))\nsum(numbers)'
    assert.deepEqual(await python(load), ran('loads\n6'))
    assert.deepEqual(await python('[n * 2 for n in numbers]'), ran('[2, 4, 6]'))
    assert.deepEqual(await python('x = 1'), ran('[no output]'))
    assert.deepEqual(await python('def half(n):\n    return n / 0\n\nprint("so", end="")\nhalf(4)').then(plain), {
      text: [
        'so',
        'Traceback (most recent call last):',
        '  File "<script 4>", line 5, in <module>',
        '    half(4)',
        '  File "<script 4>", line 2, in half',
        '    return n / 0',
        'ZeroDivisionError: division by zero',
      ].join('\n'),
      data: { exit: 1 },
    })
    const wrong = '  File "<script 5>", line 2\n    def f(:\nSyntaxError: invalid syntax'
    assert.deepEqual(await python('y = 1\ndef f(:').then(plain), ran(wrong, 1))
    assert.deepEqual(await python('import ours; print(ours.name, __name__, x)'), ran('ours __main__ 1'))
    assert.deepEqual(readdirSync(root).sort(), ['data.json', 'ours.py', 'random.py'])
  },
)

test('node: definitions of one script are there for the next, also declared again; await stands at the top', async (t) => {
  const { node, root } = repl(t)
  writeFileSync(join(root, 'data.json'), '[1, 2, 3]')
  const load =
    "const { readFileSync } = require('node:fs')\nconst numbers = JSON.parse(readFileSync('data.json'))\nconsole.error('loads')\nnumbers"
  assert.deepEqual(await node(load), ran('loads\n[ 1, 2, 3 ]'))
  assert.deepEqual(await node('const numbers = [await 7, 8]; console.log(numbers.length)'), ran('2'))
  assert.deepEqual(await node('numbers.map(String)'), ran("[ '7', '8' ]"))
  assert.deepEqual(await node('let session = 1'), ran('[no output]'))
  assert.deepEqual(
    await node("process.stdout.write('so')\nconst f = () => null.x\nf()"),
    ran(
      "so\nTypeError: Cannot read properties of null (reading 'x')\n    at f (script-5.js:2:22)\n    at script-5.js:3:1",
      1,
    ),
  )
  assert.deepEqual(
    await node('let y = 1\nlet = ='),
    ran("script-6.js:2\nlet = =\nSyntaxError: Unexpected token '='", 1),
  )
  assert.deepEqual(await node('throw "a word"'), ran("Uncaught 'a word'", 1))
  assert.deepEqual(
    await node('throw new Error("outer", { cause: "inner" })'),
    ran("Error: outer\n    at script-8.js:1:7 {\n  [cause]: 'inner'\n}", 1),
  )
})

test('a script is over when all that it began is: promises, timers and threads', async (t) => {
  const { node, python } = repl(t)
  const later =
    "async function main() {\n  await new Promise((resolve) => setTimeout(resolve, 20))\n  console.log('later')\n}\nmain()\nconsole.log('first')"
  assert.deepEqual(await node(later), ran('first\nlater'))
  assert.deepEqual(await node('(async () => 7)()'), ran('7'))
  assert.deepEqual(await node('Promise.reject(new Error("no"))'), ran('Error: no\n    at script-3.js:1:16', 1))
  assert.deepEqual(
    await node('void (async () => { throw new Error("no") })()'),
    ran('Error: no\n    at script-4.js:1:27\n    at script-4.js:1:45', 1),
  )
  assert.deepEqual(await node('await new Promise(() => {})'), ran('Error: it waits for something that never comes', 1))
  if (noPython) return t.diagnostic(noPython)
  const thread = 'import threading\nthreading.Timer(0.02, lambda: print("later")).start()\nprint("first")'
  assert.deepEqual(await python(thread), ran('first\nlater'))
})

test('an exit is reported, and whether the definitions are still there', async (t) => {
  const { node, python } = repl(t)
  assert.deepEqual(await node('var x = 1; process.exitCode = 4; x'), ran('1', 4))
  assert.deepEqual(await node('x'), ran('1'))
  const ended = '[The interpreter exited with code 3: all definitions are lost.]'
  assert.deepEqual(await node('console.log("bye"); process.exit(3)'), ran(`bye\n${ended}`, 3))
  golden(t, await node('typeof x'))
  assert.deepEqual(await node('typeof x'), ran("'undefined'"))
  assert.deepEqual(await node('var x = 1'), ran('[no output]'))
  assert.deepEqual(await node('typeof x', { fresh: true }), ran("'undefined'"))
  if (noPython) return t.diagnostic(noPython)
  assert.deepEqual(await python('import sys\nx = 1\nsys.exit(3)'), ran('[no output]', 3))
  assert.deepEqual(await python('sys.exit("not so")'), ran('not so', 1))
  assert.deepEqual(await python('print(x)\nsys.exit()'), ran('1'))
})

test('unicode goes both ways, and invalid characters are shown as escapes', async (t) => {
  const { node, python } = repl(t, { env: { PATH: process.env.PATH, LC_ALL: 'C' } })
  assert.deepEqual(await node('console.log("é😀".length, "日本")'), ran('3 日本'))
  if (noPython) return t.diagnostic(noPython)
  assert.deepEqual(await python('print(len("é😀"), "日本", "\\ud800")'), ran('2 日本 \\ud800'))
})

test('stdin of the code is empty, and a child process does not read the code’s own channel', async (t) => {
  const { node, python } = repl(t)
  const descriptors = 'for fd in 3 4; do [ -e /proc/self/fd/$fd ] && readlink /proc/self/fd/$fd; done; cat; echo done'
  const sh = `require('node:child_process').spawnSync('sh', ['-c', ${JSON.stringify(descriptors)}], { stdio: 'inherit' }).status`
  assert.deepEqual(await node(sh), ran('done\n0'))
  assert.deepEqual(await node('require("node:fs").readFileSync(0, "utf8")'), ran("''"))
  if (noPython) return t.diagnostic(noPython)
  assert.deepEqual(
    await python(`import subprocess\nsubprocess.call(['sh', '-c', ${JSON.stringify(descriptors)}])`),
    ran('done\n0'),
  )
  const eof =
    'Traceback (most recent call last):\n  File "<script 2>", line 1, in <module>\n    input()\nEOFError: EOF when reading a line'
  assert.deepEqual(await python('input()').then(plain), ran(eof, 1))
})

test('output of code is shown as it comes, and masked wherever it is kept', async (t) => {
  const { node } = repl(t, { mask: (text) => text.replaceAll('s3cret', '***') })
  let shown = ''
  const progress = (delta: string) => void (shown += delta)
  assert.deepEqual(await node('console.log("one\\ns3cret"); "s3cret"', {}, { progress }), ran("one\n***\n'***'"))
  assert.equal(shown, "one\n***\n'***'\n")
})

test('100 MB take bounded memory, and all of it is kept', async (t) => {
  const { node } = repl(t)
  const before = process.memoryUsage.rss()
  let most = before
  const progress = () => void (most = Math.max(most, process.memoryUsage.rss()))
  const code =
    "const line = 'x'.repeat(99_999) + '\\n'\nfor (let i = 0; i < 1_000; i++) process.stdout.write(line)\nundefined"
  const { text } = (await node(code, {}, { progress })) as { text: string }
  const [, place] = /the whole is in (\S+) …/.exec(text)!
  assert.equal(readFileSync(place!).length, 100_000_000)
  assert.ok(text.length < 40_000)
  assert.ok(most - before < 96 * 1024 * 1024, `${(most - before) / 1024 / 1024} MB`)
  assert.deepEqual(await node('line.length'), ran('100000'))
})
