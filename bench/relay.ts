import pty from '@lydell/node-pty'

/** The least that can stand between a person and a program: `relay.ts <command>`. */
const { stdin, stdout } = process
const child = pty.spawn('/bin/sh', ['-c', process.argv[2]!], { cols: 120, rows: 40, encoding: null })
stdin.setRawMode(true)
stdin.on('data', (chunk: Buffer) => {
  if (chunk.includes(0x1d)) process.exit(0)
  child.write(chunk.toString('latin1'))
})
child.onData((chunk) => stdout.write(chunk))
