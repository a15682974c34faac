// The programs that run in the terminals of the tests: `node program.mjs <name> …`.
import { spawn } from 'node:child_process'

const out = (text) => process.stdout.write(text)
const visible = (text) => text.replaceAll('\u001b', '^[').replaceAll(/[\x00-\x08\x0b-\x1f\x7f]/g, '?')

/** Reads keys in raw mode, and pastes as one. */
function keys(take) {
  process.stdin.setRawMode(true)
  process.stdin.setEncoding('utf8')
  let held = ''
  process.stdin.on('data', (chunk) => {
    held += chunk
    for (;;) {
      const open = held.indexOf('\u001b[200~')
      const close = held.indexOf('\u001b[201~')
      if (open > 0 || (open < 0 && held)) {
        const typed = open > 0 ? held.slice(0, open) : held
        held = held.slice(typed.length)
        take(typed, false)
      } else if (open === 0 && close > 0) {
        take(held.slice(6, close), true)
        held = held.slice(close + 6)
      } else return
    }
  })
}

const programs = {
  /** `got: <line>` for each line; a paste is part of its line. */
  echo() {
    let line = ''
    keys((text, pasted) => {
      if (pasted) return void (line += text)
      for (const char of text) {
        if (char === '\r') out(`got: ${visible(line)}\r\n`)
        line = char === '\r' ? '' : line + char
      }
    })
    out('\u001b[?2004hready\r\n')
  },
  /** Prints the length and a checksum of each paste. */
  sums() {
    keys((text, pasted) => {
      let sum = 0
      for (const char of text) sum = (sum * 31 + char.codePointAt(0)) % 1_000_003
      if (pasted) out(`paste ${text.length} ${sum}\r\n`)
      else out(`typed ${JSON.stringify(text)}\r\n`)
    })
    out('\u001b[?2004hready\r\n')
  },
  lines(count) {
    for (let i = 1; i <= Number(count); i++) out(`line ${i}\r\n`)
    out('ready')
    process.stdin.resume()
  },
  flood(bytes) {
    const line = 'x'.repeat(79) + '\n'
    for (let left = Number(bytes); left > 0; left -= line.length * 1000) process.stdout.write(line.repeat(1000))
    out('the last line\n')
  },
  /** Says how big its terminal is, whenever that changes. */
  size() {
    process.on('SIGWINCH', () => {})
    process.stdout.on('resize', () => out(`\u001b[2J\u001b[Hsize ${process.stdout.columns}x${process.stdout.rows}\r\n`))
    process.stdin.resume()
    out(`size ${process.stdout.columns}x${process.stdout.rows}\r\n`)
    setInterval(() => out('\u001b[10;1Hdrawing \u001b[K'), 1)
  },
  /** Children that do not listen to those who would end them, in a session of their own too. */
  stubborn() {
    const deaf = "trap '' HUP TERM INT; echo $$; while :; do sleep 1; done"
    for (const detached of [false, true]) {
      const child = spawn('/bin/sh', ['-c', deaf], { detached, stdio: ['ignore', 'pipe', 'ignore'] })
      child.stdout.once('data', (pid) => out(`child ${String(pid).trim()}\r\n`))
    }
    for (const signal of ['SIGHUP', 'SIGTERM', 'SIGINT']) process.on(signal, () => {})
    setInterval(() => {}, 1e6)
  },
}

programs[process.argv[2]](...process.argv.slice(3))
