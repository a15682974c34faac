import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isWithin } from '../../src/base/files/real-path.ts'
import { temporary } from '../../src/safety/wall/hidden-places.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'

/** Why commands cannot be run in a sandbox on this machine; false where they can. */
export const noSandbox = (await wallOf({ platform: process.platform, env: process.env }).none()) ?? false

/** Why programs of this clone cannot run in a sandbox, which has a temporary folder of its own; false where they can. */
export const hiddenClone =
  noSandbox === false && isWithin(temporary, import.meta.dirname)
    ? `this clone lies in ${temporary}, which programs in a sandbox do not see`
    : false

/** The output of a setup without the line about the sandbox, which is another one on machines without a sandbox. */
export const withoutSandboxLine = (out: string): string => {
  const lines = out.split('\n').filter((line) => !/^(?:This machine has a|There is no) sandbox/.test(line))
  return lines.join('\n')
}

/** The PATH of a machine whose bubblewrap is there and forbidden, as in many containers; its program is put into this folder. */
export function forbiddenSandbox(folder: string): { PATH: string } {
  const bin = join(folder, 'forbidden')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho bwrap: no namespaces >&2\nexit 1\n', { mode: 0o755 })
  return { PATH: `${bin}${delimiter}${process.env.PATH}` }
}
