import { collect } from './collect.ts'

/** Runs git in a folder and returns its output; rejects with the last line of its errors. */
export type Git = (cwd: string, ...args: string[]) => Promise<string>

export function gitWith(env: Readonly<Record<string, string | undefined>>): Git {
  return async (cwd, ...args) => {
    const { code, out, err, error } = await collect('git', args, { cwd, env })
    if (code === 0) return out.toString().trim()
    throw new Error(error ? error.message : err.trim().split('\n').at(-1) || `git ${args[0]} failed`)
  }
}
