// Runs pieces of JavaScript, one after another, in one global scope, as the console of a browser does: with await at the
// top, and names that may be declared again. Descriptor 3 brings {"nonce", "code"} as a line of JSON; what the code
// prints goes out as it is, among marks that begin with the nonce, which no code is shown: see marks.ts.

// A block: its names are not those of the code.
{
  const { readSync, writeSync } = require('node:fs')
  const { Session } = require('node:inspector')
  const { Writable } = require('node:stream')
  const { inspect } = require('node:util')

  const write = (text) => {
    let left = Buffer.from(text)
    while (left.length > 0)
      try {
        left = left.subarray(writeSync(1, left))
      } catch (error) {
        // A child that shares the pipe may have made it one that does not wait.
        if (error.code !== 'EAGAIN') process.exit(1)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
      }
  }

  // Both streams write at once and in their order, and everything before the mark.
  const stream = () => new Writable({ write: (chunk, _encoding, done) => (write(chunk), done()) })
  for (const name of ['stdout', 'stderr']) Object.defineProperty(process, name, { value: stream(), configurable: true })

  let unread = Buffer.alloc(0)
  const request = () => {
    for (;;) {
      const end = unread.indexOf('\n')
      if (end >= 0) {
        const line = unread.subarray(0, end)
        unread = unread.subarray(end + 1)
        return JSON.parse(line)
      }
      const more = Buffer.alloc(1 << 16)
      const bytes = readSync(3, more)
      if (bytes === 0) process.exit(0)
      unread = Buffer.concat([unread, more.subarray(0, bytes)])
    }
  }

  const session = new Session()
  session.connect()

  let count = 0
  let now
  const freshLine = () => write(`${now.nonce}line;`)
  const failed = (error, where = '') => {
    const told = inspect(error).replaceAll(/\n +at [^\n]*(?:node:|\[eval\])[^\n]*?( \{)?(?=\n|$)/g, '$1')
    freshLine()
    write(`${where}${error instanceof Error ? '' : 'Uncaught '}${told.trimEnd()}\n`)
    now.failed = true
  }
  const settled = (value) => {
    try {
      if (value === undefined) return
      freshLine()
      write(`${inspect(value, { depth: 8, maxArrayLength: 1000, maxStringLength: 1e6 })}\n`)
    } catch (error) {
      failed(error)
    }
  }
  const came = (value) => {
    if (!(value instanceof Promise)) return settled(value)
    const mine = now
    mine.waits = true
    const done = (how) => (result) => ((mine.waits = false), how(result))
    value.then(done(settled), done(failed))
  }

  // The only way from what was evaluated to the thing itself.
  let shower
  globalThis.shower = { came, failed }
  session.post('Runtime.evaluate', { expression: 'shower' }, (_error, { result }) => (shower = result.objectId))
  delete globalThis.shower
  const show = (how, { objectId, value, unserializableValue }, where) =>
    session.post('Runtime.callFunctionOn', {
      objectId: shower,
      functionDeclaration: 'function (how, value, where) { this[how](value, where) }',
      arguments: [
        { value: how },
        objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value },
        { value: where },
      ],
    })

  const evaluated = (mine, code, name) => (error, answer) => {
    if (mine !== now) return
    now.waits = false
    if (error) return failed(error)
    const { result, exceptionDetails: thrown } = answer
    if (!thrown) return show('came', result)
    // Only what could not be read at all has no place in its own words.
    const unread = thrown.exception?.className === 'SyntaxError' && !thrown.exception.description.includes(name)
    const line = code.split('\n')[thrown.lineNumber]
    show('failed', thrown.exception, unread ? `${name}:${thrown.lineNumber + 1}\n${line ?? ''}\n` : '')
  }

  process.on('uncaughtException', (error) => failed(error))

  // The loop is empty: all that the last piece began has come to its end.
  process.on('beforeExit', () => {
    if (now) {
      if (now.waits) failed(new Error('it waits for something that never comes'))
      write(`${now.nonce}${process.exitCode ?? (now.failed ? 1 : 0)};`)
      process.exitCode = undefined
    }
    const { nonce, code } = request()
    now = { nonce, failed: false, waits: true }
    write(`${nonce}begin;`)
    const name = `script-${++count}.js`
    session.post(
      'Runtime.evaluate',
      { expression: `${code}\n//# sourceURL=${name}`, replMode: true, awaitPromise: true, userGesture: false },
      evaluated(now, code, name),
    )
    setImmediate(() => {})
  })
}
