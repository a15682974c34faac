import type { Border } from '../safety/border.ts'
import type { Io } from '../core/io.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { providers } from '../models/provider.ts'
import { keysInFile } from '../safety/api-keys.ts'
import { openBorder } from '../safety/border.ts'

/** Opens the border for this process. termaite's own keys are the stored ones, and those of model providers and the hub. */
export function borderOf(env: Io['env'], home: string): Border {
  return openBorder({
    env,
    ownVariables: [
      ...Object.values(providers).flatMap(({ keys }) => keys),
      'TERMAITE_HUB_KEY',
      'TERMAITE_LEDGER_PASSWORD',
    ],
    kept: () => ({ ...keysInFile(home), ...keyFiles(home) }),
  })
}

/** The keys of our own servers, each in its own file. A file that cannot be read contains no key that could leak from here. */
function keyFiles(home: string): Record<string, string> {
  try {
    const names = readdirSync(home).filter((name) => name.endsWith('.key'))
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(home, name), 'utf8').trim()]))
  } catch {
    return {}
  }
}
