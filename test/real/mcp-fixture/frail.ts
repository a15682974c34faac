// Runs a server that dies in the middle of its first long call: `node frail.ts <mark> <script> [arguments]`. Once the mark is
// there, the server stays.
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'

const [mark, ...args] = process.argv.slice(2) as [string, ...string[]]
const child = spawn(process.execPath, args, { stdio: ['pipe', 'inherit', 'inherit'] })
const stays = existsSync(mark)
process.stdin.on('data', (chunk: Buffer) => {
  child.stdin.write(chunk)
  if (stays || !chunk.includes('trigger-long-running-operation')) return
  writeFileSync(mark, '')
  child.kill('SIGKILL')
  process.exit(3)
})
process.stdin.on('end', () => child.stdin.end())
child.on('exit', (code) => process.exit(code ?? 1))
