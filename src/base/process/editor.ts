import type { Env } from '../env.ts'
import { spawn } from 'node:child_process'
import { resolve as absolute } from 'node:path'
import { withoutProject } from './program-path.ts'

/** Opens a file in the person's $EDITOR and waits. Returns why that failed, or undefined. It runs in a shell, because people put options into $EDITOR. */
export function editFile(file: string, env: Env): Promise<string | undefined> {
  const editor = env.EDITOR || 'vi'
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', absolute(file)], {
      env: withoutProject(env),
      stdio: 'inherit',
    })
    child.once('error', ({ message }) => resolve(`${editor} could not be started: ${message}`))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `${editor} ended with ${code ?? signal}`))
  })
}
